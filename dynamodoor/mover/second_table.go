// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A plain table becomes a sharded one by moving its items to a second physical table, by the steps of
// package dynamodoor/reshard. Three more steps surround these.
//
// In step preparing, doors still read and write the plain table, but know of the change. The mover
// makes the second table. In step looking it reads all items once more: while doors did not know of
// the change, clients could write items that have no room in the second table, or reserved names.
//
// When the change is settled, and no read goes on that began before, the second table takes the
// place of the first one in the entry (step dropping). The mover deletes the first one, with the
// stubs in it. The logical table keeps its name.
//
// A change that is taken back before there are stubs ends in step leaving. The mover deletes the
// second table, which is empty, and removes what doors have added to items of the plain table. Then
// the table has no entry, and doors forward its requests again.

// CheckPlain returns the physical table of a plain table, or an error if it cannot be made a sharded
// one while it is in use. It returns nil if there is no such table.
func (r *Mover) CheckPlain(ctx context.Context, name string, shape plan.Shape) (*schema.Table, error) {
	t, err := r.Tables.Physical(ctx, name)
	switch {
	case err != nil || t == nil:
		return nil, err
	case tables.IsPhysical(t):
		return nil, tables.BeingChanged(name) // another door makes it, or it has lost its entry
	case shape.Shards == 0:
		return nil, exception.Invalid("table %s is a plain one already", name)
	case r.Rights:
		return nil, exception.Invalid("table %s is a plain one, and is not made a sharded one while it is in use: its items move to another physical table, for which the clients of this door, "+
			"who have rights of their own at the endpoint, may have none; create a table with the tag %s, and copy the items", name, plan.Tag)
	}
	if err := plan.CheckPlain(t, shape); err != nil {
		return nil, err
	}
	if err := r.checkReplicas(ctx, t.Name); err != nil {
		return nil, err
	}
	err = r.Backend.Answer(ctx, &api.TransactGetItems{Gets: []api.TransactGet{{Table: name, Key: items.NoKey()}}}, backend.Ignore)
	if exception.Is(err, exception.UnknownOperation) {
		return nil, exception.Invalid("table %s is a plain one, and is not made a sharded one while it is in use: the endpoint has no transactions, by which items move", name)
	}
	return t, nil
}

// checkReplicas returns an error if a table has replicas in other regions.
func (r *Mover) checkReplicas(ctx context.Context, name string) error {
	body := (&api.DescribeTable{Table: name}).AppendJSON(nil)
	out, err := r.Backend.Do(principal.With(ctx, principal.Principal{}), "DescribeTable", body, nil)
	var is struct {
		Table struct{ Replicas []json.RawMessage }
	}
	if err == nil {
		err = json.Unmarshal(out, &is)
	}
	if err == nil && len(is.Table.Replicas) > 0 {
		err = exception.Invalid("table %s is a plain one, and is not made a sharded one while it is in use: it has replicas in other regions, which a second physical table would not have; "+
			"create a table with the tag %s, and copy the items", name, plan.Tag)
	}
	return err
}

// surveyPlain reads all items of a plain table that shall be sharded. It returns an error if one of
// them cannot move.
func (r *Mover) surveyPlain(ctx context.Context, t *shift.Table) (survey, error) {
	return r.surveyAll(ctx, t, func(item attribute.Item) error { return t.Old.CheckReserved(item, false) })
}

// StartPlain begins to make a plain table a sharded one. It returns the table's entry.
func (r *Mover) StartPlain(ctx context.Context, name string, shape plan.Shape) (*tables.Entry, error) {
	t, err := r.CheckPlain(ctx, name, shape)
	if err == nil && t == nil {
		err = tables.NotThere(name)
	}
	if err != nil {
		return nil, err
	}
	name = t.Name
	old, err := plan.Plain(t)
	if err != nil {
		return nil, err
	}
	to := plan.Target{Shape: shape, Places: shape.First()}
	second := catalog.SecondName(name)
	found, err := r.surveyPlain(ctx, &shift.Table{Old: old, New: old.Second(second, "", to)})
	if err != nil {
		return nil, err
	}
	if shape.InDirectory() {
		if err := r.Catalog.CreateBuckets(ctx); err != nil {
			return nil, tables.DoorError(err)
		}
	}
	if err := r.tag(ctx, t.ARN, shape); err != nil {
		return nil, err
	}
	layout := shard.Plain()
	layout.Generation = 1
	hash := old.Hash()
	e, err := r.Tables.Enter(ctx, catalog.Entry{
		Table: name, Physical: name, ID: t.ID, Layout: layout, Plain: true, Hash: hash.Name, HashType: hash.Type.String(),
		Change: &catalog.Change{Step: catalog.Preparing, Shards: shape.Shards, Base: to.Places.Base, Bucket: shape.Width, Numbers: shape.Numbers, Rows: shape.Rows, Max: shape.Max, Began: layout.Generation, Second: second},
	}, t)
	if err != nil && !exception.Is(err, exception.ResourceInUse) { // the other request has set its tag
		err = errors.Join(err, r.tag(context.WithoutCancel(ctx), t.ARN, plan.Shape{}))
	}
	if err != nil {
		return nil, err
	}
	if err := r.Catalog.KeepProgress(ctx, name, catalog.Progress{ID: e.ID, Items: found.items, Moves: found.moves}); err != nil {
		return nil, tables.DoorError(err)
	}
	r.Log.Info("dynamodb: a plain table is being made a sharded one", "table", name, "to", shape.String(), "second", second)
	return e, nil
}

// outlookPlain returns the cost of making a plain table a sharded one.
func (r *Mover) outlookPlain(ctx context.Context, name string, shape plan.Shape) (o reshard.Outlook, err error) {
	o = reshard.Outlook{Table: name, To: shape.Shards, ToLayout: layoutText(shape), Refused: []string{}, Notes: []string{}}
	t, err := r.CheckPlain(ctx, name, shape)
	var old *plan.Table
	if err == nil && t == nil {
		return o, tables.NotThere(name)
	}
	if err == nil {
		old, err = plan.Plain(t)
	}
	if err != nil {
		o.Refused = append(o.Refused, exception.Of(err).Message)
		return o, nil
	}
	s, err := r.surveyPlain(ctx, &shift.Table{Old: old, New: old.Second(catalog.SecondName(name), "", plan.Target{Shape: shape, Places: shape.First()})})
	if err != nil {
		if !exception.Is(err, exception.Validation) {
			return o, err
		}
		o.Refused = append(o.Refused, exception.Of(err).Message)
	}
	reads := int64(passes + 1)
	if shape.Rolls() {
		reads += 2
	}
	s.onto(&o, reads)
	o.Notes = append(o.Notes, "all items move to a second physical table, and the plain one is deleted at the end")
	return o, nil
}

// stepSecond does the work of a step that is not one of package dynamodoor/reshard, and publishes the
// next one. ours is false if the change is in another step.
func (r *Mover) stepSecond(ctx context.Context, e *tables.Entry) (ours, more bool, err error) {
	ctx = principal.With(ctx, principal.Principal{})
	switch e.Change.Step {
	case catalog.Preparing:
		id, err := "", error(nil)
		if e.Change.Second != "" {
			if id, err = r.prepare(ctx, e); err != nil {
				return true, false, fmt.Errorf("make the second table of table %s: %w", e.Table, err)
			}
		}
		if e.Change.Rows > 0 {
			if err := r.choose(ctx, e, id); err != nil {
				return true, false, fmt.Errorf("choose the shards of table %s: %w", e.Table, err)
			}
		}
		return r.published(ctx, e, func(n *catalog.Entry) error {
			n.Layout.Generation++
			n.Change.Step, n.Change.SecondID = protocol.Looking.String(), id
			return nil
		})
	case catalog.Dropping:
		if err := r.dropFirst(ctx, e); err != nil {
			return true, false, fmt.Errorf("delete the plain table of table %s: %w", e.Table, err)
		}
		return r.published(ctx, e, func(n *catalog.Entry) error {
			n.Layout.Generation++
			back := n.Change
			n.Change = nil
			if back.Back {
				begin(n, Wish{}.aim(n))
				n.Change.Hurry, n.Change.Paused = back.Hurry, back.Paused
			}
			return nil
		})
	case catalog.Leaving:
		if err := r.deleted(ctx, e.Change.Second, ""); err != nil {
			return true, false, fmt.Errorf("delete the second table of table %s: %w", e.Table, err)
		}
		if Towards(e.Change).InDirectory() && e.Change.SecondID != "" {
			r.forget(ctx, e.Table, e.Change.SecondID+".", e.Change.SecondID+"/")
		}
		if err := r.unstamp(ctx, e); err != nil {
			return true, false, err
		}
		return true, false, r.Tables.Leave(ctx, e)
	}
	return false, false, nil
}

// published publishes the next step of a change, unless something has changed the entry meanwhile.
func (r *Mover) published(ctx context.Context, e *tables.Entry, change func(*catalog.Entry) error) (ours, more bool, err error) {
	now := r.Tables.Entry(e.Table)
	if now == nil || now.Change == nil || !now.IsState(e) || now.Change.Step != e.Change.Step {
		return true, true, nil
	}
	now, err = r.Tables.Advance(ctx, now, change)
	return true, err == nil && now.Change != nil, err
}

// prepare makes the second table, with the settings of the first one. It returns its TableId.
func (r *Mover) prepare(ctx context.Context, e *tables.Entry) (id string, err error) {
	first, err := r.Tables.Physical(ctx, e.Physical)
	if err != nil || first == nil {
		return "", errors.Join(err, tables.NotThere(e.Table))
	}
	if err := plan.CheckPlain(first, Towards(e.Change)); err != nil { // something may have changed it meanwhile
		return "", err
	}
	tags, err := r.tagsOf(ctx, first.ARN)
	if err != nil {
		return "", err
	}
	err = r.Backend.Answer(ctx, &api.CreateTable{Declaration: *plan.SecondOf(first, e.Change.Second, tags)}, backend.Ignore)
	if err != nil && !exception.Is(err, exception.ResourceInUse) { // a mover that has died may have made it
		return "", err
	}
	for {
		second, err := r.Tables.Physical(ctx, e.Change.Second)
		if err != nil {
			return "", err
		}
		if second != nil && second.Status == schema.Active {
			return second.ID, r.expire(ctx, e.Physical, e.Change.Second)
		}
		if err := tables.Wait(ctx, time.Second); err != nil {
			return "", err
		}
	}
}

// tagsOf returns the tags of a table that another one can have.
func (r *Mover) tagsOf(ctx context.Context, arn string) (tags []schema.Tag, err error) {
	for q := (&api.ListTagsOfResource{ARN: arn}); ; {
		err := r.Backend.Answer(ctx, q, func(a api.Response) error {
			page := a.(*api.TagsResponse)
			for _, t := range page.Tags {
				if strings.HasPrefix(t.Key, "aws:") {
					continue // only AWS itself may set these
				}
				tags = append(tags, schema.Tag{Key: strings.Clone(t.Key), Value: strings.Clone(t.Value)})
			}
			q.Next = strings.Clone(page.Next)
			return nil
		})
		switch {
		case exception.Is(err, exception.UnknownOperation):
			return nil, nil // some endpoints have no tags
		case err != nil || q.Next == "":
			return tags, err
		}
	}
}

// expire makes the items of a table expire as those of another.
func (r *Mover) expire(ctx context.Context, as, table string) error {
	set, err := r.expiry(ctx, as)
	if err != nil || !set.Enabled {
		return err
	}
	is, err := r.expiry(ctx, table)
	if err != nil || is == set {
		return err
	}
	return r.Backend.Answer(ctx, &api.UpdateTimeToLive{Table: table, TimeToLive: set}, backend.Ignore)
}

// toSecond makes the second table the physical one of an entry whose change is settled. id is its
// TableId.
func toSecond(n *catalog.Entry, id string) {
	c := n.Change
	n.Floor = n.Layout.Generation // the generation in which the change was settled
	shape, places := shapeOf(c), shard.Range{N: c.Shards, Base: c.Base}
	layout := shape.Layout(places, shape.Last(places), n.Layout.Generation+1)
	c.Step, c.Second, c.SecondID, n.Physical = catalog.Dropping, n.Physical, n.ID, c.Second
	n.ID, n.Layout, n.Plain = id, layout, false
}

// dropFirst deletes the plain table of a change that has ended. Another table may have its name by
// now, if this mover was stopped for long and others went on.
func (r *Mover) dropFirst(ctx context.Context, e *tables.Entry) error {
	if r.Tables.Shared() {
		if err := r.Tables.Renew(ctx, 0); err != nil {
			return err
		}
	}
	if now := r.Tables.Entry(e.Table); now == nil || !now.IsState(e) {
		return nil
	}
	return r.deleted(ctx, e.Change.Second, e.Change.SecondID)
}

// deleted deletes a table, and waits until it is gone. If id is not empty, it is the table's TableId.
func (r *Mover) deleted(ctx context.Context, name, id string) error {
	for {
		t, err := r.Tables.Physical(ctx, name)
		if err != nil || t == nil || id != "" && t.ID != id {
			return err
		}
		if t.Status != schema.Deleting {
			brief, cancel := context.WithTimeout(ctx, deletes)
			err := r.Backend.Answer(brief, &api.DeleteTable{Table: name}, backend.Ignore)
			cancel()
			if err != nil && !exception.Is(err, exception.ResourceNotFound) && !exception.Is(err, exception.ResourceInUse) {
				return err
			}
			continue
		}
		if err := tables.Wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// deletes is the longest time for which a request to delete a table may be under way.
const deletes = 5 * time.Second

// unstamp removes what doors have added to the items of a plain table.
func (r *Mover) unstamp(ctx context.Context, e *tables.Entry) error {
	_, err := r.Items.EachItem(ctx, e.Table, "a change of a plain table is taken back", e.Plan.Stamped, func(ctx context.Context, item attribute.Item) error {
		q, err := e.Plan.Unstamped(item)
		if err != nil {
			return err
		}
		err = backend.Retried(ctx, time.Now().Add(items.Patience), func() error { return r.Backend.Answer(ctx, q, backend.Ignore) })
		if exception.Is(err, exception.ConditionalCheckFailed) {
			return nil
		}
		return err
	})
	return err
}

// leave takes a change of a plain table back, before there are stubs.
func (r *Mover) leave(ctx context.Context, e *tables.Entry) error {
	if err := r.tagged(ctx, e, plan.Shape{}); err != nil {
		return err
	}
	_, err := r.Tables.Advance(ctx, e, func(n *catalog.Entry) error {
		n.Layout.Generation++
		n.Change.Step, n.Change.Paused = catalog.Leaving, false
		return nil
	})
	return err
}
