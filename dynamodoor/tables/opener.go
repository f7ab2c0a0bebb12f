// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/registry"
)

// opener reads a table's entry in the catalogue and the description of its physical table, and makes an
// Entry of both. If a door has left an operation half done, the opener finishes it or takes it back. The
// opener does not know which tables the door uses. It needs no lock.
type opener struct {
	backend backend.Store
	catalog *catalog.Catalog
	log     *slog.Logger
	now     func() time.Time
	lease   *registry.Lease   // of what was read of the catalogue; its length is 0 if there are no other doors
	watched *registry.Watched // entries that other doors may be working on, or that must be a certain time old
}

// Shared reports whether other doors are on the store.
func (o *opener) Shared() bool { return o.lease.Length() > 0 }

// Grace returns the time after which all doors know of a change: a lease, plus half a lease for
// requests under way and for clocks that do not go at the same rate.
func (o *opener) Grace() time.Duration { return o.lease.Length() * 3 / 2 }

// Physical describes a physical table. It returns nil if there is none.
func (o *opener) Physical(ctx context.Context, name string) (table *schema.Table, err error) {
	ctx = principal.With(ctx, principal.Principal{}) // the door needs the description, whatever the client's rights are
	err = o.backend.Answer(ctx, &api.DescribeTable{Table: name}, func(a api.Response) error {
		described, err := Kept(a)
		if err != nil {
			return err
		}
		table = described.Table
		table.ID = identity(table)
		return nil
	})
	var e *exception.Error
	if errors.As(err, &e) && e.Kind == exception.ResourceNotFound {
		return nil, nil
	}
	return table, err
}

// use makes an entry in use from an entry of the catalogue, and settles an unfinished operation. was is
// the table's entry in use until now, or nil. use returns nil if the table is gone. If the entry does not
// fit its physical table, another door may have replaced both since the entry was read. So use reads the
// entry again before it reports damage.
func (o *opener) use(ctx context.Context, e *catalog.Entry, was *Entry) (*Entry, error) {
	for {
		in, err := o.useOnce(ctx, e, was)
		if err != nil || in == nil || in.Wrong == nil || in.State != registry.Active {
			return in, err
		}
		if o.Shared() {
			now, err := o.catalog.Get(ctx, e.Table)
			if err != nil || now == nil {
				return nil, err
			}
			if !equalEntries(now, in.Entry) {
				e = now
				continue
			}
		}
		if was == nil || was.Wrong == nil || was.Wrong.Error() != in.Wrong.Error() {
			o.log.Error("dynamodb: a sharded table cannot be served", "table", e.Table, "error", in.Wrong)
		}
		return in, nil
	}
}

func (o *opener) useOnce(ctx context.Context, e *catalog.Entry, was *Entry) (*Entry, error) {
	o.unchanged(e) // from now on
	t, err := o.Physical(ctx, e.Physical)
	if err != nil {
		return nil, err
	}
	switch {
	case e.State == registry.Active && abandoned(e, t):
		return nil, o.forget(ctx, e)
	case e.State == registry.Active:
		return o.open(e, t, was), nil
	}
	late := o.late(e)
	is := registry.Judge(e.State, t != nil && (t.ID == e.ID || e.State == registry.Creating && IsPhysical(t)), late)
	unfinished := e.State == registry.Creating && !late || e.State == registry.Dropping && is == registry.Verdict{} // another door is working on it
	if e.State == registry.Dropping && is.Write == registry.Remove {
		if err := o.DropSecond(ctx, e); err != nil {
			o.log.Warn("dynamodb: the second physical table of a deleted table cannot be deleted yet; the door tries again", "table", e.Table, "second", e.Change.Second, "error", err)
			unfinished = true
		}
	}
	switch {
	case unfinished:
		return &Entry{Entry: e, Wrong: NotThere(e.Table), described: o.now()}, nil
	case is.Write != registry.Keep:
		before, id := e.State, ""
		if t != nil {
			id = t.ID
		}
		if e, err = o.catalog.Settle(ctx, e, is.Write, id); err != nil || e == nil {
			return nil, err
		}
		o.log.Info("dynamodb: this door ends an operation on a sharded table that was left half-way", "table", e.Table, "was", before, "is", e.State)
	case !is.Applies:
		return nil, nil
	}
	return o.open(e, t, was), nil
}

// late reports whether the operation on a table has used up its time, as this door has seen it. A table that was dropped has
// until every door knows it.
func (o *opener) late(e *catalog.Entry) bool {
	switch {
	case !o.Shared():
		return true // no other door works on it
	case e.State == registry.Dropped:
		return o.unchanged(e) > 2*o.Grace()
	}
	return o.unchanged(e) >= SettleAfter
}

// unchanged returns for how long this door has seen an entry in its present state. A door that is alone
// waits for no other one, so it does not watch entries.
func (o *opener) unchanged(e *catalog.Entry) time.Duration {
	if !o.Shared() {
		return 0
	}
	return o.watched.Unchanged(e.Table, fmt.Sprintf("%s %s %d %d", e.State, e.ID, e.Version, e.Started.UnixMilli()))
}

// open makes an entry in use from an entry of the catalogue and the description of its physical
// table. t is nil if there is no such table. was is the table's entry in use until now, or nil.
func (o *opener) open(e *catalog.Entry, t *schema.Table, was *Entry) *Entry {
	in := &Entry{Entry: e, described: o.now()}
	in.pins = pinsOf(was, in)
	switch {
	case t == nil:
		in.Wrong = exception.Invalid("table %s is in the catalogue of sharded tables and has no physical table; restore it, or delete the table to forget it", e.Table)
	case identity(t) != e.ID:
		in.Wrong = exception.Invalid("the physical table of sharded table %s is another than it was made with (TableId %s, not %s); "+
			"restore that one, or delete the item of table %s in table %s if it is to be a plain table", e.Table, identity(t), e.ID, e.Table, catalog.Table)
	default:
		kind, _ := attribute.KindOf(e.HashType)
		in.Plan, in.Wrong = plan.Open(plan.Spec{
			Name: e.Table, Physical: t, ID: e.ID, Hash: schema.Definition{Name: e.Hash, Type: kind}, Layout: e.Layout, Affix: e.Affix, Indexes: e.Indexes,
			Single: e.Single, Filling: e.Filling,
		})
		if in.Wrong == nil {
			in.Wrong = in.changing()
		}
	}
	return in
}

// orphans adds the physical tables that have lost their entry. If the door served them as plain
// tables, they would take items that no sharded table finds.
func (o *opener) orphans(ctx context.Context, tables map[string]*Entry) error {
	for q := (&api.ListTables{Limit: 100}); q != nil; {
		var names []string
		var last string
		err := o.backend.Answer(ctx, q, func(a api.Response) error {
			l := a.(*api.TablesResponse)
			names, last = l.Names, l.Last
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			if tables[name] != nil || catalog.Owns(name) {
				continue
			}
			t, err := o.Physical(ctx, name)
			if err != nil {
				return err
			}
			if t != nil && IsPhysical(t) {
				e := &catalog.Entry{Table: name, Physical: name, ID: t.ID, State: registry.Active}
				tables[name] = &Entry{Entry: e, Wrong: Orphan(name)}
				o.log.Error("dynamodb: a sharded table cannot be served", "table", name, "error", tables[name].Wrong)
			}
		}
		if q = nil; last != "" {
			q = &api.ListTables{Limit: 100, Start: last}
		}
	}
	return nil
}

// abandoned reports whether a client has deleted the plain table of an entry that was becoming a sharded
// table. The door that deleted it did not know of the change yet. t is the physical table, or nil if
// there is none.
func abandoned(e *catalog.Entry, t *schema.Table) bool {
	c := e.Change
	return c != nil && (c.Step == catalog.Preparing || c.Step == catalog.Leaving) && (t == nil || identity(t) != e.ID)
}

// forget removes the entry of an abandoned table, and deletes its second table.
func (o *opener) forget(ctx context.Context, e *catalog.Entry) error {
	if err := o.DropSecond(ctx, e); err != nil {
		return DoorError(err)
	}
	return DoorError(o.catalog.Remove(ctx, e))
}

// DropSecond deletes the second physical table of a table that is gone, if it has one.
func (o *opener) DropSecond(ctx context.Context, e *catalog.Entry) error {
	c := e.Change
	if c == nil || c.Second == "" {
		return nil
	}
	t, err := o.Physical(ctx, c.Second)
	if err != nil || t == nil || t.Status == schema.Deleting || c.SecondID != "" && t.ID != c.SecondID { // another table may have its name
		return err
	}
	err = o.backend.Answer(principal.With(ctx, principal.Principal{}), &api.DeleteTable{Table: c.Second}, func(api.Response) error { return nil })
	if exception.Is(err, exception.ResourceNotFound) {
		return nil
	}
	return err
}
