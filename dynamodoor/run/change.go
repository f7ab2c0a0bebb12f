// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A change of a table's layout begins with the step looking in the table's entry. From
// then on a door's mover (mover.go) carries it on.

// reshard answers what is asked about a change of a table's layout, or does it.
func (r *Router) reshard(ctx context.Context, q *api.Reshard, use func(api.Response) error) error {
	if r.lease > 0 && q.Action != "status" {
		if err := r.renew(ctx, 0); err != nil {
			return err
		}
	}
	e, err := r.sharded(q.Table)
	switch {
	case err != nil:
		return err
	case e == nil:
		return r.reshardPlain(ctx, q, use)
	case e.wrong != nil:
		return r.toldOf(ctx, q.Table, e.wrong)
	}
	w := wish{shards: q.Shards}
	if q.Key != nil {
		if w.key, err = e.keyText(*q.Key); err != nil {
			return err
		}
	}
	switch q.Action {
	case "plan":
		o, err := r.outlook(ctx, e, w)
		if err != nil {
			return err
		}
		return use(&api.ReshardResponse{Value: o})
	case "start":
		if err = r.checkChange(ctx, e, w); err == nil && w.key == "" {
			err = r.tagged(ctx, e, w.shards)
		}
		if err == nil {
			err = r.startChange(ctx, e, w)
		}
	case "pause", "resume", "finish":
		err = r.amend(ctx, e, func(c *catalog.Change) {
			switch q.Action {
			case "finish":
				c.Hurry = true
			default:
				c.Paused = q.Action == "pause"
			}
		})
	case "rollback":
		err = r.rollback(ctx, e)
	}
	if err != nil {
		return err
	}
	s, err := r.changeStatus(ctx, e.Table)
	if err != nil {
		return err
	}
	return use(&api.ReshardResponse{Value: s})
}

// reshardPlain answers of a plain table.
func (r *Router) reshardPlain(ctx context.Context, q *api.Reshard, use func(api.Response) error) error {
	t, err := r.physical(ctx, q.Table)
	switch {
	case err != nil:
		return err
	case t == nil:
		return notThere(q.Table)
	case q.Action == "status":
		return use(&api.ReshardResponse{Value: reshard.Status{Table: t.Name, Phase: reshard.NoPhase}})
	}
	return exception.Invalid("table %s is a plain one: a plain table is not made a sharded one while it is in use yet, since its items have no shard in their key; "+
		"create a table with the tag %s, and copy the items", t.Name, plan.Tag)
}

// keyText is a partition key, as a user writes it, as the catalogue has it.
func (e *entry) keyText(key string) (string, error) {
	if kind, _ := attribute.KindOf(e.HashType); kind == attribute.B {
		raw, err := base64.StdEncoding.DecodeString(key)
		if err != nil || len(raw) == 0 {
			return "", exception.Invalid("the key %q is not base64, which binary keys are written in", key)
		}
		return attribute.KeyText(attribute.Binary(string(raw))), nil
	}
	v, err := e.keyOf(key)
	if err == nil && key == "" {
		err = exception.Invalid("the key is empty, which no partition key is")
	}
	return strings.Clone(attribute.KeyText(v)), err
}

// tagged sets the tag that declares the shards, or removes it, as the client, who needs
// the right to.
func (r *Router) tagged(ctx context.Context, e *entry, shards int) error {
	t, err := r.physical(ctx, e.Physical)
	if err != nil || t == nil {
		return errors.Join(err, notThere(e.Table))
	}
	var q api.Request = &api.UntagResource{ARN: t.ARN, Keys: []string{plan.Tag}}
	if shards > 0 {
		q = &api.TagResource{ARN: t.ARN, Tags: []schema.Tag{{Key: plan.Tag, Value: fmt.Sprintf("strategy=calculated shards=%d", shards)}}}
	}
	err = r.backend.Answer(ctx, q, ignore)
	if is(err, exception.UnknownOperation) {
		return nil // not every endpoint has tags
	}
	return err
}

// underWay describes a change that is under way.
func underWay(e *entry) string {
	of := ""
	if e.Change.Key != "" {
		of = fmt.Sprintf("key %q of ", e.Change.Key)
	}
	return fmt.Sprintf("%stable %s is on the way from %s to %s", of, e.Table, shardsText(from(e.Entry, e.Change.Key)), shardsText(towards(e.Change)))
}

// checkChange says why a change cannot begin.
func (r *Router) checkChange(ctx context.Context, e *entry, w wish) error {
	if e.Change != nil {
		return exception.New(exception.ResourceInUse, "%s; wait until that is done (evenkeel reshard status)", underWay(e))
	}
	if err := e.table.CheckChange(w.shards); err != nil {
		return err
	}
	switch n := from(e.Entry, w.key); {
	case w.key != "" && w.shards == 0:
		return exception.Invalid("a key has 1 shard or more; give --shards 1 to have it in one partition")
	case n == w.shards && w.key != "":
		return exception.Invalid("key %q of table %s has %d shards already", w.key, e.Table, n)
	case n == w.shards && n == 0:
		return exception.Invalid("table %s is a plain one already", e.Table)
	case n == w.shards:
		return exception.Invalid("table %s has %d shards already", e.Table, n)
	case w.aim(e.Entry).Base > shard.MaxBase:
		return exception.Invalid("table %s has had too many layouts: numbers of shards go to %d; copy the items into a new table", e.Table, shard.MaxBase)
	}
	if w.key != "" {
		target, err := e.target(w.aim(e.Entry))
		if err == nil {
			err = e.table.To(target).CheckHash(target.Key)
		}
		if err != nil {
			return err
		}
	}
	if _, has := e.Own[w.key]; w.key != "" && !has {
		bytes := len(w.key)
		for key := range e.Own {
			bytes += len(key)
		}
		if len(e.Own) >= catalog.MaxOwn || bytes > catalog.MaxOwnBytes {
			return exception.Invalid("table %s has %d keys with numbers of shards of their own, and there is no room for more (%d keys, %d bytes); change that of the table",
				e.Table, len(e.Own), catalog.MaxOwn, catalog.MaxOwnBytes)
		}
	}
	err := r.backend.Answer(ctx, &api.TransactGetItems{Gets: []api.TransactGet{{Table: e.Physical, Key: noKey()}}}, ignore)
	if is(err, exception.UnknownOperation) {
		return exception.Invalid("the layout of table %s cannot be changed while it is in use: the endpoint has no transactions, by which items move", e.Table)
	}
	return nil
}

// startChange begins a change.
func (r *Router) startChange(ctx context.Context, e *entry, w wish) error {
	if err := r.checkChange(ctx, e, w); err != nil {
		return err
	}
	change := w.aim(e.Entry)
	found, err := r.survey(ctx, e, change)
	if err != nil {
		return err
	}
	if err := r.catalog.KeepProgress(ctx, e.Table, catalog.Progress{ID: e.ID, Items: found.items, Moves: found.moves}); err != nil {
		return doorError(err)
	}
	_, err = r.advance(ctx, e, func(n *catalog.Entry) error {
		n.Layout.Generation++
		n.Change = change
		return nil
	})
	if err == nil {
		r.log.Info("dynamodb: the layout of a table is being changed", "table", e.Table, "key", w.key, "from", from(e.Entry, w.key), "to", w.shards)
	}
	return err
}

// amend changes what is to be done in the present step.
func (r *Router) amend(ctx context.Context, e *entry, change func(*catalog.Change)) error {
	if e.Change == nil {
		return exception.Invalid("no change of the layout of table %s is under way", e.Table)
	}
	_, err := r.advance(ctx, e, func(n *catalog.Entry) error {
		change(n.Change)
		return nil
	})
	return err
}

// rollback takes a change back. One that has left no stubs is as if it had never been. One
// that has goes on to its end, since what it has moved cannot go where it was: a place is
// never used twice. Then another change gives the keys as many shards as they had.
func (r *Router) rollback(ctx context.Context, e *entry) error {
	c := e.Change
	switch {
	case c == nil:
		return exception.Invalid("no change of the layout of table %s is under way", e.Table)
	case e.shift.Step >= protocol.Settled:
		return exception.Invalid("%s and in step %s, in which it is not taken back: let it end, and begin another", underWay(e), c.Step)
	case c.Back:
		return exception.Invalid("%s, and taken back already: a change back follows it", underWay(e))
	}
	was := wish{from(e.Entry, c.Key), c.Key}
	if !e.shift.Step.Revocable() {
		after := *e.Entry
		if err := end(copied(&after)); err != nil {
			return doorError(err)
		}
		if _, err := r.survey(ctx, e, was.aim(&after)); err != nil { // whether the items have room there
			return err
		}
	}
	if c.Key == "" {
		if err := r.tagged(ctx, e, was.shards); err != nil {
			return err
		}
	}
	_, err := r.advance(ctx, e, func(n *catalog.Entry) error {
		if e.shift.Step.Revocable() {
			n.Layout.Generation++
			n.Change = nil
		} else {
			n.Change.Back = true
		}
		return nil
	})
	return err
}

// copied is an entry that can be changed: what it shares with another is its own.
func copied(e *catalog.Entry) *catalog.Entry {
	layout := *e.Layout
	e.Layout = &layout
	if e.Change != nil {
		c := *e.Change
		e.Change = &c
	}
	return e
}

// advance writes a changed entry, if it is still as it was, and goes by it from now on.
func (r *Router) advance(ctx context.Context, e *entry, change func(*catalog.Entry) error) (*entry, error) {
	r.defining.Lock()
	defer r.defining.Unlock()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	next := *e.Entry
	if err := change(copied(&next)); err != nil {
		return nil, doorError(err)
	}
	t, err := r.physical(ctx, e.Physical)
	if err != nil {
		return nil, doorError(err)
	}
	n, err := r.catalog.Change(context.WithoutCancel(ctx), next)
	switch {
	case errors.Is(err, catalog.ErrChanged):
		return nil, beingChanged(e.Table)
	case err != nil:
		return nil, doorError(err)
	}
	in := r.open(n, t)
	r.publish(func(tables map[string]*entry) { tables[in.Table] = in })
	return in, in.wrong
}

// longest is how long one page of the mover is tried again.
const longest = time.Minute
