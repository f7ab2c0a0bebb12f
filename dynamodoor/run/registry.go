package run

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// publish replaces the map of tables by a changed copy. The caller holds defining.
func (r *Router) publish(change func(tables map[string]*entry)) {
	tables := maps.Clone(*r.tables.Load())
	change(tables)
	r.tables.Store(&tables)
}

// physical describes a physical table; nil where there is none.
func (r *Router) physical(ctx context.Context, name string) (table *schema.Table, err error) {
	err = r.backend.Answer(ctx, &api.DescribeTable{Table: name}, func(a api.Response) error {
		t := *a.(*api.TableResponse).Table
		table = &t
		return nil
	})
	var e *exception.Error
	if errors.As(err, &e) && e.Kind == exception.ResourceNotFound {
		return nil, nil
	}
	return table, err
}

// filling tells whether the table has an index that is not ready to be read: the
// store makes it so without telling.
func (e *entry) filling() bool {
	return e.table != nil && slices.ContainsFunc(e.table.Logical.Global, func(ix schema.Index) bool { return ix.Status != schema.Active })
}

// refresh looks at a physical table anew.
func (r *Router) refresh(ctx context.Context, name string) (*entry, error) {
	r.defining.Lock()
	defer r.defining.Unlock()
	e := (*r.tables.Load())[name]
	if e == nil || !e.filling() {
		return e, nil // somebody else was here
	}
	in, err := r.use(ctx, e.Entry)
	if err != nil || in == nil {
		return nil, err
	}
	r.publish(func(tables map[string]*entry) { tables[in.Table] = in })
	return in, nil
}

// use makes an entry of the catalogue one in use, settling what was left half-way;
// nil where it is gone.
func (r *Router) use(ctx context.Context, e *catalog.Entry) (*entry, error) {
	t, err := r.physical(ctx, e.Physical)
	if err != nil {
		return nil, err
	}
	var p *catalog.Physical
	if t != nil {
		p = &catalog.Physical{ID: t.ID, Sharded: isPhysical(t)}
	}
	if e.State != catalog.Active {
		was := e.State
		if e, err = r.catalog.Settle(ctx, e, p); err != nil || e == nil {
			return nil, err
		}
		r.log.Info("dynamodb: an operation on a sharded table was left half-way and is settled", "table", e.Table, "was", was, "is", e.State)
	}
	in := &entry{Entry: e}
	switch {
	case p == nil:
		in.wrong = exception.Invalid("table %s is in the catalogue of sharded tables and has no physical table; restore it, or delete the table to forget it", e.Table)
	case p.ID != e.ID:
		in.wrong = exception.Invalid("the physical table of sharded table %s is another than it was made with (TableId %s, not %s); "+
			"restore that one, or delete the item of table %s in table %s if it is to be a plain table", e.Table, p.ID, e.ID, e.Table, catalog.Table)
	default:
		kind, _ := attribute.KindOf(e.HashType)
		in.table, in.wrong = plan.Open(plan.Spec{
			Name: e.Table, Physical: t, Hash: schema.Definition{Name: e.Hash, Type: kind}, Layout: e.Layout, Indexes: e.Indexes,
		})
	}
	if in.wrong != nil {
		r.log.Error("dynamodb: a sharded table cannot be served", "table", e.Table, "error", in.wrong)
	}
	return in, nil
}
