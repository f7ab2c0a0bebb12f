package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/reshard"
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
	switch q.Action {
	case "plan":
		o, err := r.outlook(ctx, e, q.Shards)
		if err != nil {
			return err
		}
		return use(&api.ReshardResponse{Value: o})
	case "start":
		if e.Change == nil && e.Layout != nil && e.Layout.N == q.Shards {
			return exception.Invalid("table %s has %d shards already", e.Table, q.Shards)
		}
		if err = e.table.CheckChange(q.Shards); err == nil {
			err = r.tagged(ctx, e, q.Shards)
		}
		if err == nil {
			err = r.startChange(ctx, e, q.Shards)
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

// tagged sets the tag that declares the shards, as the client, who needs the right to.
func (r *Router) tagged(ctx context.Context, e *entry, shards int) error {
	t, err := r.physical(ctx, e.Physical)
	if err != nil || t == nil {
		return errors.Join(err, notThere(e.Table))
	}
	q := &api.TagResource{ARN: t.ARN, Tags: []schema.Tag{{Key: plan.Tag, Value: fmt.Sprintf("strategy=calculated shards=%d", shards)}}}
	err = r.backend.Answer(ctx, q, ignore)
	if is(err, exception.UnknownOperation) {
		return nil // not every endpoint has tags
	}
	return err
}

// checkChange says why a change cannot begin.
func (r *Router) checkChange(ctx context.Context, e *entry, shards int) error {
	if e.Change != nil {
		return exception.New(exception.ResourceInUse, "table %s is on the way from %d to %d shards; wait until that is done (evenkeel reshard status)", e.Table, e.Layout.N, e.Change.Shards)
	}
	if err := e.table.CheckChange(shards); err != nil {
		return err
	}
	err := r.backend.Answer(ctx, &api.TransactGetItems{Gets: []api.TransactGet{{Table: e.Physical, Key: noKey()}}}, ignore)
	if is(err, exception.UnknownOperation) {
		return exception.Invalid("the layout of table %s cannot be changed while it is in use: the endpoint has no transactions, by which items move", e.Table)
	}
	return nil
}

// startChange begins a change.
func (r *Router) startChange(ctx context.Context, e *entry, shards int) error {
	if err := r.checkChange(ctx, e, shards); err != nil {
		return err
	}
	found, err := r.survey(ctx, e, shards)
	if err != nil {
		return err
	}
	if err := r.catalog.KeepProgress(ctx, e.Table, catalog.Progress{ID: e.ID, Items: found.items, Moves: found.moves}); err != nil {
		return doorError(err)
	}
	_, err = r.advance(ctx, e, func(n *catalog.Entry) {
		n.Layout.Generation++
		n.Change = &catalog.Change{Step: protocol.None.Next().String(), Shards: shards}
	})
	if err == nil {
		r.log.Info("dynamodb: the layout of a table is being changed", "table", e.Table, "from", e.Layout.N, "to", shards)
	}
	return err
}

// amend changes what is to be done in the present step.
func (r *Router) amend(ctx context.Context, e *entry, change func(*catalog.Change)) error {
	if e.Change == nil {
		return exception.Invalid("no change of the layout of table %s is under way", e.Table)
	}
	_, err := r.advance(ctx, e, func(n *catalog.Entry) { change(n.Change) })
	return err
}

// rollback takes a change back that has moved nothing.
func (r *Router) rollback(ctx context.Context, e *entry) error {
	switch {
	case e.Change == nil:
		return exception.Invalid("no change of the layout of table %s is under way", e.Table)
	case !e.shift.Step.Revocable():
		return exception.Invalid("the change of table %s from %d to %d shards is in step %s, and items may have moved: it is not taken back; let it finish", e.Table, e.Layout.N, e.Change.Shards, e.Change.Step)
	}
	if err := r.tagged(ctx, e, e.Layout.N); err != nil {
		return err
	}
	_, err := r.advance(ctx, e, func(n *catalog.Entry) {
		n.Layout.Generation++
		n.Change = nil
	})
	return err
}

// advance writes a changed entry, if it is still as it was, and goes by it from now on.
func (r *Router) advance(ctx context.Context, e *entry, change func(*catalog.Entry)) (*entry, error) {
	r.defining.Lock()
	defer r.defining.Unlock()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	next := *e.Entry
	layout := *e.Layout
	next.Layout = &layout
	if e.Change != nil {
		c := *e.Change
		next.Change = &c
	}
	change(&next)
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
