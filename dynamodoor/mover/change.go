// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
)

// Mover changes the layouts of tables. It is safe for concurrent use. Its maker sets the exported
// fields.
type Mover struct {
	Backend backend.Store
	Catalog *catalog.Catalog
	Tables  *tables.Registry
	Items   *items.Runner
	Log     *slog.Logger
	Now     func() time.Time
	Caution time.Duration // time for which the stubs of a table stay after its layout was changed
	Rights  bool          // clients have rights of their own at the endpoint

	problems sync.Map // the error that stops a change, by table
	kept     sync.Map // catalog.Progress of each change that this mover works on, by table
}

// Do carries out a request about a change of a table's layout.
func (r *Mover) Do(ctx context.Context, q *api.Reshard, use func(api.Response) error) error {
	if r.Tables.Shared() && q.Action != "status" {
		if err := r.Tables.Renew(ctx, 0); err != nil {
			return err
		}
	}
	e, err := r.Tables.Sharded(q.Table)
	switch {
	case err != nil:
		return err
	case e == nil:
		return r.reshardPlain(ctx, q, use)
	case e.Wrong != nil:
		return r.Items.ToldOf(ctx, q.Table, e.Wrong)
	}
	var w Wish
	if w.Shape, err = r.asked(e, q); err != nil {
		return refusedPlan(q, err, use)
	}
	if q.Key != nil {
		if w.key, err = e.KeyText(*q.Key); err != nil {
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
		err = r.StartChange(ctx, e, w, func() error {
			if w.key != "" {
				return nil
			}
			return r.tagged(ctx, e, w.Shape)
		})
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

// asked returns the shape that a request asks for. Its errors are for the client.
func (r *Mover) asked(e *tables.Entry, q *api.Reshard) (plan.Shape, error) {
	switch {
	case q.Layout != "":
		return plan.Declared(e.Plan.Logical, e.Layout, q.Layout)
	case q.Shards > 0 && q.Key == nil && (e.Plan.Timed() || e.Plan.Rolls()): // it does not say of what
		return plan.Declared(e.Plan.Logical, e.Layout, fmt.Sprintf("shards=%d", q.Shards))
	}
	return plan.Shape{Shards: q.Shards}, nil
}

// refusedPlan answers a request whose layout is no such table's.
func refusedPlan(q *api.Reshard, err error, use func(api.Response) error) error {
	if q.Action != "plan" {
		return err
	}
	return use(&api.ReshardResponse{Value: reshard.Outlook{Table: api.TableName(q.Table), ToLayout: q.Layout, Refused: []string{exception.Of(err).Message}, Notes: []string{}}})
}

// reshardPlain answers a request about a plain table.
func (r *Mover) reshardPlain(ctx context.Context, q *api.Reshard, use func(api.Response) error) error {
	t, err := r.Tables.Physical(ctx, q.Table)
	switch {
	case err != nil:
		return err
	case t == nil:
		return tables.NotThere(q.Table)
	case q.Action == "status":
		return use(&api.ReshardResponse{Value: reshard.Status{Table: t.Name, Phase: reshard.NoPhase}})
	}
	shape := plan.Shape{Shards: q.Shards}
	if q.Layout != "" {
		if shape, err = plan.Declared(t, nil, q.Layout); err != nil {
			return refusedPlan(q, err, use)
		}
	}
	switch {
	case q.Action == "plan" && q.Key == nil:
		o, err := r.outlookPlain(ctx, t.Name, shape)
		if err != nil {
			return err
		}
		return use(&api.ReshardResponse{Value: o})
	case q.Action == "start" && q.Key == nil:
		if _, err := r.StartPlain(ctx, t.Name, shape); err != nil {
			return r.Items.ToldOf(ctx, t.Name, err)
		}
		s, err := r.changeStatus(ctx, t.Name)
		if err != nil {
			return err
		}
		return use(&api.ReshardResponse{Value: s})
	case q.Key != nil:
		return exception.Invalid("table %s is a plain one, whose keys have no shards; shard all of it first, by start --shards 1", t.Name)
	}
	return exception.Invalid("no change of the layout of table %s is under way", t.Name)
}

// tagged sets or removes the tag that declares the layout. It does so with the client's
// rights: the client needs the right to do that.
func (r *Mover) tagged(ctx context.Context, e *tables.Entry, shape plan.Shape) error {
	t, err := r.Tables.Physical(ctx, e.Physical)
	if err != nil || t == nil {
		return errors.Join(err, tables.NotThere(e.Table))
	}
	if c := e.Change; c != nil && c.Second != "" {
		second, err := r.Tables.Physical(ctx, c.Second)
		if err == nil && second != nil {
			err = r.tag(ctx, second.ARN, shape)
		}
		if err != nil {
			return err
		}
	}
	return r.tag(ctx, t.ARN, shape)
}

// tag sets or removes the tag of a physical table.
func (r *Mover) tag(ctx context.Context, arn string, shape plan.Shape) error {
	var q api.Request = &api.UntagResource{ARN: arn, Keys: []string{plan.Tag}}
	if value := shape.Tag(); value != "" {
		q = &api.TagResource{ARN: arn, Tags: []schema.Tag{{Key: plan.Tag, Value: value}}}
	}
	err := r.Backend.Answer(ctx, q, backend.Ignore)
	if exception.Is(err, exception.UnknownOperation) {
		return nil // some endpoints have no tags
	}
	return err
}

// underWay describes the change that is under way.
func underWay(e *tables.Entry) string {
	of := ""
	if e.Change.Key != "" {
		of = fmt.Sprintf("key %q of ", e.Change.Key)
	}
	return fmt.Sprintf("%stable %s is on the way from %s to %s", of, e.Table, From(e.Entry, e.Change.Key), Towards(e.Change))
}

// CheckChange returns an error if a change cannot begin.
func (r *Mover) CheckChange(ctx context.Context, e *tables.Entry, w Wish) error {
	if e.Change != nil {
		return exception.New(exception.ResourceInUse, "%s; wait until that is done (evenkeel reshard status)", underWay(e))
	}
	e, err := r.Tables.Anew(ctx, e.Table) // another door may have changed the table
	if err != nil {
		return err
	}
	if err := e.Plan.CheckChange(w.Shape); err != nil {
		return err
	}
	switch is := From(e.Entry, w.key); {
	case w.key != "" && e.Plan.Timed():
		return exception.Invalid("the partitions of table %s are buckets of time, which are the same for all keys; change those of the table", e.Table)
	case w.key != "" && e.Plan.Rolls():
		return exception.Invalid("the shards of table %s are ranges of the sort key, as many as a key has items for; change the layout of the table", e.Table)
	case w.key != "" && w.Shards == 0:
		return exception.Invalid("a key has 1 shard or more; give --shards 1 to have it in one partition")
	case is == w.Shape && w.key != "":
		return exception.Invalid("key %q of table %s has %s already", w.key, e.Table, is)
	case is == w.Shape && is.Shards == 0:
		return exception.Invalid("table %s is a plain one already", e.Table)
	case is == w.Shape:
		return exception.Invalid("table %s has %s already", e.Table, is)
	case refilled(is, w.Shape):
		return nil
	case w.aim(e.Entry).Base > plan.MaxBase:
		return exception.Invalid("table %s has had too many layouts: numbers of shards go to %d; copy the items into a new table", e.Table, plan.MaxBase)
	}
	if w.key != "" {
		target, err := e.Target(w.aim(e.Entry))
		if err == nil {
			err = e.Plan.To(target).CheckHash(target.Key)
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
	if err := r.checkExpiry(ctx, e); err != nil {
		return err
	}
	if err := r.checkStream(ctx, e); err != nil {
		return err
	}
	err = r.Backend.Answer(ctx, &api.TransactGetItems{Gets: []api.TransactGet{{Table: e.Physical, Key: items.NoKey()}}}, backend.Ignore)
	if exception.Is(err, exception.UnknownOperation) {
		return exception.Invalid("the layout of table %s cannot be changed while it is in use: the endpoint has no transactions, by which items move", e.Table)
	}
	return nil
}

// checkExpiry returns an error if items expire by an attribute that stubs have, because an index has
// it in its key: the stubs would expire, too, and the items would then be where no door looks.
func (r *Mover) checkExpiry(ctx context.Context, e *tables.Entry) error {
	if len(e.Plan.Logical.Local)+len(e.Plan.Logical.Global) == 0 {
		return nil
	}
	set, err := r.expiry(ctx, e.Physical)
	if err != nil || !set.Enabled {
		return err
	}
	return e.Plan.CheckExpiry(set.Attribute)
}

// expiry returns the attribute by which the items of a physical table expire.
func (r *Mover) expiry(ctx context.Context, table string) (set schema.TimeToLive, err error) {
	err = r.Backend.Answer(principal.With(ctx, principal.Principal{}), &api.DescribeTimeToLive{Table: table}, func(a api.Response) error {
		t, ok := a.(*api.TimeToLiveResponse)
		if !ok {
			return fmt.Errorf("the time to live of table %s: an answer of type %T", table, a)
		}
		set = schema.TimeToLive{Enabled: t.TimeToLive.Enabled, Attribute: strings.Clone(t.TimeToLive.Attribute)}
		return nil
	})
	if exception.Is(err, exception.UnknownOperation) {
		return schema.TimeToLive{}, nil // on such an endpoint nothing expires
	}
	return set, tables.DoorError(err)
}

// checkStream returns an error if the table has a stream that could not tell the changes of an item
// in their order after the item has moved. In DynamoDB, the records of an item's old and of its new
// place can be in different shards of the stream, which are read one without the other. The engine
// keeps one order of all records of a table; it also describes partitions, which DynamoDB does not.
func (r *Mover) checkStream(ctx context.Context, e *tables.Entry) error {
	if !e.Plan.Logical.Stream.Enabled {
		return nil
	}
	err := r.Backend.Answer(principal.With(ctx, principal.Principal{}), &api.DescribePartitions{Table: e.Physical}, backend.Ignore)
	if exception.Is(err, exception.UnknownOperation) {
		return exception.Invalid("table %s has a stream: at this endpoint the stream's shards are read one without the other, and the changes of an item that moves could come in a wrong order; "+
			"disable the stream for the change", e.Table)
	}
	return nil // an error says that the operation is known, which is enough
}

// StartChange begins a change. tag sets the table's tag when nothing is against the change.
func (r *Mover) StartChange(ctx context.Context, e *tables.Entry, w Wish, tag func() error) error {
	if err := r.CheckChange(ctx, e, w); err != nil {
		return err
	}
	e, err := r.Tables.Anew(ctx, e.Table)
	if err != nil {
		return err
	}
	if refilled(From(e.Entry, ""), w.Shape) {
		return r.refill(ctx, e, w, tag)
	}
	change := w.aim(e.Entry)
	found, err := r.survey(ctx, e, change)
	if err != nil {
		return err
	}
	if err := tag(); err != nil {
		return err
	}
	if w.InDirectory() {
		err = r.Catalog.CreateBuckets(ctx)
	}
	if err == nil {
		err = r.Catalog.KeepProgress(ctx, e.Table, catalog.Progress{ID: e.ID, Items: found.items, Moves: found.moves})
	}
	if err != nil {
		return tables.DoorError(err)
	}
	change.Beyond = e.Plan.Beyond()
	_, err = r.Tables.Advance(ctx, e, func(n *catalog.Entry) error {
		n.Layout.Generation++
		begin(n, change)
		return nil
	})
	if err == nil {
		r.Log.Info("dynamodb: the layout of a table is being changed", "table", e.Table, "key", w.key, "from", From(e.Entry, w.key).String(), "to", w.String())
	}
	return err
}

// amend changes the orders of the current change.
func (r *Mover) amend(ctx context.Context, e *tables.Entry, change func(*catalog.Change)) error {
	if e.Change == nil {
		return exception.Invalid("no change of the layout of table %s is under way", e.Table)
	}
	_, err := r.Tables.Advance(ctx, e, func(n *catalog.Entry) error {
		change(n.Change)
		return nil
	})
	return err
}

// rollback takes a change back. If the change has left no stubs, rollback simply ends it. If it has
// left stubs, the change continues to its end, because moved items cannot return to their old
// places: no place is used twice. Then another change gives the keys their earlier number of
// shards.
func (r *Mover) rollback(ctx context.Context, e *tables.Entry) error {
	c := e.Change
	switch {
	case c == nil:
		return exception.Invalid("no change of the layout of table %s is under way", e.Table)
	case c.Step == catalog.Leaving:
		return exception.Invalid("the change of table %s is taken back already", e.Table)
	case c.Second != "" && (c.Step == catalog.Preparing || e.Shift.Step.Revocable()):
		return r.leave(ctx, e)
	case c.Step == catalog.Dropping, c.Step != catalog.Preparing && e.Shift.Step >= protocol.Settled:
		return exception.Invalid("%s and in step %s, in which it is not taken back: let it end, and begin another", underWay(e), c.Step)
	case c.Back:
		return exception.Invalid("%s, and taken back already: a change back follows it", underWay(e))
	}
	was := Wish{From(e.Entry, c.Key), c.Key}
	revocable := c.Step == catalog.Preparing || e.Shift.Step.Revocable()
	if !revocable && c.Second == "" {
		after := *e.Entry
		if err := end(tables.Copied(&after)); err != nil {
			return tables.DoorError(err)
		}
		if _, err := r.survey(ctx, e, was.aim(&after)); err != nil { // checks whether the items have room there
			return err
		}
	}
	if c.Key == "" {
		if err := r.tagged(ctx, e, was.Shape); err != nil {
			return err
		}
	}
	_, err := r.Tables.Advance(ctx, e, func(n *catalog.Entry) error {
		if revocable {
			n.Layout.Generation++
			n.Change = nil
		} else {
			n.Change.Back = true
		}
		return nil
	})
	if err == nil && revocable && c.Rows > 0 {
		r.forgetChosen(ctx, e)
	}
	return err
}
