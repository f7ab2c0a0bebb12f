// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// publish replaces the map of tables by a changed copy. The caller holds defining.
func (r *Router) publish(change func(tables map[string]*entry)) {
	tables := maps.Clone(*r.tables.Load())
	change(tables)
	r.tables.Store(&tables)
}

// physical describes a physical table; nil where there is none.
func (r *Router) physical(ctx context.Context, name string) (table *schema.Table, err error) {
	ctx = principal.With(ctx, principal.Principal{}) // the door is to know it, whoever asks
	err = r.backend.Answer(ctx, &api.DescribeTable{Table: name}, func(a api.Response) error {
		described, err := kept(a)
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

// kept is the description of a table in memory of its own: an answer's is the
// request's, or the store's, and ends with it.
func kept(a api.Response) (*api.TableResponse, error) {
	own, err := new(api.CreateTable).DecodeResponse(new(api.Decoder), a.AppendJSON(nil))
	if err != nil {
		return nil, fmt.Errorf("read the description of a table: %w", err)
	}
	t := own.(*api.TableResponse)
	t.Describe = a.(*api.TableResponse).Describe
	return t, nil
}

// identity is what tells a table from others that had its name: its TableId, or
// where the store has none the time that it was made.
func identity(t *schema.Table) string {
	if t.ID == "" && !t.Created.IsZero() {
		return fmt.Sprintf("created-%d", t.Created.UnixMilli())
	}
	return t.ID
}

// filling tells whether the table has an index that is not ready to be read: the
// store makes it so without telling.
func (e *entry) filling() bool {
	return e.table != nil && slices.ContainsFunc(e.table.Logical.Global, func(ix schema.Index) bool { return ix.Status != schema.Active })
}

// glance is how often a store is asked about an index that is being filled, or about
// a table of which something was not found.
const glance = time.Second

// stale tells whether to look at the physical table anew.
func (e *entry) stale() bool { return e.filling() || time.Since(e.described) > glance }

// refresh looks at a physical table anew.
func (r *Router) refresh(ctx context.Context, name string) (*entry, error) {
	lock := &r.defining
	if r.lease > 0 {
		lock = &r.renewing // a change of another table may be waiting
	}
	lock.Lock()
	defer lock.Unlock()
	e := (*r.tables.Load())[name]
	if e == nil || !e.stale() {
		return e, nil // somebody else was here
	}
	in, err := r.use(ctx, e.Entry)
	if err != nil || in == nil {
		return nil, err
	}
	r.publish(func(tables map[string]*entry) { tables[in.Table] = in })
	return in, nil
}

// anew looks at the physical table of an entry in use, whatever is known of it: the
// store goes on with what it was told to do, and other doors tell it more. The error is
// also what is wrong with the table.
func (r *Router) anew(ctx context.Context, name string) (*entry, error) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	e := (*r.tables.Load())[name]
	if e == nil {
		return nil, notThere(name)
	}
	in, err := r.use(ctx, e.Entry)
	switch {
	case err != nil:
		return nil, err
	case in == nil:
		r.publish(func(tables map[string]*entry) { delete(tables, name) })
		return nil, notThere(name)
	}
	r.publish(func(tables map[string]*entry) { tables[name] = in })
	return in, in.wrong
}

// use makes an entry of the catalogue one in use, settling what was left half-way;
// nil where it is gone. An entry that does not fit its physical table may be one that
// another door has replaced since it was read, together with the table: it is read
// again before anybody is told that something is damaged.
func (r *Router) use(ctx context.Context, e *catalog.Entry) (*entry, error) {
	for {
		in, err := r.useOnce(ctx, e)
		if err != nil || in == nil || in.wrong == nil || in.State != catalog.Active {
			return in, err
		}
		if r.lease > 0 {
			now, err := r.catalog.Get(ctx, e.Table)
			if err != nil || now == nil {
				return nil, err
			}
			if !equalEntries(now, in.Entry) {
				e = now
				continue
			}
		}
		if was := (*r.tables.Load())[e.Table]; was == nil || was.wrong == nil || was.wrong.Error() != in.wrong.Error() {
			r.log.Error("dynamodb: a sharded table cannot be served", "table", e.Table, "error", in.wrong)
		}
		return in, nil
	}
}

func (r *Router) useOnce(ctx context.Context, e *catalog.Entry) (*entry, error) {
	t, err := r.physical(ctx, e.Physical)
	if err != nil {
		return nil, err
	}
	var p *catalog.Physical
	if t != nil {
		p = &catalog.Physical{ID: t.ID, Sharded: isPhysical(t)}
	}
	if e.State == catalog.Dropped {
		switch {
		case p != nil && p.ID == e.ID:
			return r.open(e, t), nil // a store takes its time
		case r.now().Sub(e.Started) > 2*r.grace():
			return nil, r.catalog.Remove(ctx, e)
		}
		return nil, nil
	}
	if e.State != catalog.Active && r.lease > 0 && r.now().Sub(e.Started) < settleAfter {
		// Another door is at it.
		if e.State == catalog.Creating || p == nil || p.ID != e.ID {
			return &entry{Entry: e, wrong: notThere(e.Table), described: time.Now()}, nil
		}
	} else if e.State != catalog.Active {
		was := e.State
		if e, err = r.catalog.Settle(ctx, e, p); err != nil || e == nil {
			return nil, err
		}
		r.log.Info("dynamodb: an operation on a sharded table was left half-way and is settled", "table", e.Table, "was", was, "is", e.State)
	}
	return r.open(e, t), nil
}

func notThere(name string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
}

// open makes an entry in use of one of the catalogue and a description of its
// physical table, nil where there is none.
func (r *Router) open(e *catalog.Entry, t *schema.Table) *entry {
	in := &entry{Entry: e, described: time.Now()}
	in.pins = r.pinsOf(in)
	switch {
	case t == nil:
		in.wrong = exception.Invalid("table %s is in the catalogue of sharded tables and has no physical table; restore it, or delete the table to forget it", e.Table)
	case identity(t) != e.ID:
		in.wrong = exception.Invalid("the physical table of sharded table %s is another than it was made with (TableId %s, not %s); "+
			"restore that one, or delete the item of table %s in table %s if it is to be a plain table", e.Table, identity(t), e.ID, e.Table, catalog.Table)
	default:
		kind, _ := attribute.KindOf(e.HashType)
		in.table, in.wrong = plan.Open(plan.Spec{
			Name: e.Table, Physical: t, Hash: schema.Definition{Name: e.Hash, Type: kind}, Layout: e.Layout, Suffix: e.Suffix, Indexes: e.Indexes,
			Single: e.Single, Filling: e.Filling,
		})
		if in.wrong == nil {
			in.wrong = in.changing()
		}
	}
	return in
}
