package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

func exists(name string) error {
	return exception.New(exception.ResourceInUse, "Table already exists: %s", name)
}

// createTable makes a table: a plain one, or the physical table of a sharded one,
// with its entry in the catalogue before and after.
func (r *Router) createTable(ctx context.Context, q *api.CreateTable, use func(api.Response) error) error {
	if q.Name == catalog.Table {
		return exception.InvalidParameters("table name %s is reserved for the catalogue of sharded tables; choose another name", q.Name)
	}
	d, err := plan.Sharded(&q.Declaration)
	if err != nil {
		return err
	}
	r.defining.Lock()
	defer r.defining.Unlock()
	if (*r.tables.Load())[q.Name] != nil {
		return exists(q.Name)
	}
	if d == nil {
		return r.backend.Answer(ctx, q, use)
	}
	if t, err := r.physical(ctx, q.Name); err != nil || t != nil {
		if err == nil {
			err = exists(q.Name)
		}
		return err
	}
	// Names are the request's memory, which ends with it.
	indexes := make(map[string]*shard.Layout, len(d.Indexes))
	for name, layout := range d.Indexes {
		indexes[string([]byte(name))] = layout
	}
	e, err := r.catalog.Begin(ctx, catalog.Entry{
		Table: string([]byte(q.Name)), Physical: string([]byte(q.Name)), Layout: d.Layout, Indexes: indexes, Hash: string([]byte(d.Hash.Name)), HashType: d.Hash.Type.String(),
	})
	if errors.Is(err, catalog.ErrExists) {
		return exists(q.Name)
	}
	if err != nil {
		return err
	}
	var created *api.TableResponse
	err = r.backend.Answer(ctx, &api.CreateTable{Declaration: *d.Physical}, func(a api.Response) error {
		created = a.(*api.TableResponse)
		return nil
	})
	if err != nil {
		if gone := r.catalog.Remove(context.WithoutCancel(ctx), e); gone != nil {
			r.log.Error("dynamodb: the entry of a table that could not be created remains, until a door starts", "table", e.Table, "error", gone)
		}
		return err
	}
	if e, err = r.catalog.Activate(ctx, e, created.Table.ID); err != nil {
		return fmt.Errorf("note that table %s is created: %w", q.Name, err)
	}
	in, err := r.use(ctx, e)
	if err != nil {
		return err
	}
	r.publish(func(tables map[string]*entry) { tables[e.Table] = in })
	if in.wrong != nil {
		return in.wrong
	}
	return r.show(in.table, created, use)
}

// show gives a physical table's description as that of the logical one.
func (r *Router) show(t *plan.Table, p *api.TableResponse, use func(api.Response) error) error {
	now, err := t.WithSchema(p.Table)
	if err != nil {
		return err
	}
	shown := *p
	shown.Table = now.Logical
	return use(&shown)
}

// sharded returns the entry of a sharded table, nil for others. The catalogue is
// no client's table.
func (r *Router) sharded(name string) (*entry, error) {
	name = simpleName(name)
	if name == catalog.Table {
		return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", name)
	}
	return (*r.tables.Load())[name], nil
}

func (r *Router) describeTable(ctx context.Context, q *api.DescribeTable, use func(api.Response) error) error {
	e, err := r.sharded(q.Table)
	if err != nil {
		return err
	}
	if e == nil {
		return r.backend.Answer(ctx, q, use)
	}
	if e.wrong != nil {
		return e.wrong
	}
	return r.backend.Answer(ctx, &api.DescribeTable{Table: e.Physical}, func(a api.Response) error {
		return r.show(e.table, a.(*api.TableResponse), use)
	})
}

func (r *Router) updateTable(ctx context.Context, q *api.UpdateTable, use func(api.Response) error) error {
	r.defining.Lock()
	defer r.defining.Unlock()
	e, err := r.sharded(q.Table)
	if err != nil {
		return err
	}
	if e == nil {
		return r.backend.Answer(ctx, q, use)
	}
	if e.wrong != nil {
		return e.wrong
	}
	change, err := e.table.Change(&q.Change)
	if err != nil {
		return err
	}
	var changed *api.TableResponse
	err = r.backend.Answer(ctx, &api.UpdateTable{Table: e.Physical, Change: *change}, func(a api.Response) error {
		changed = a.(*api.TableResponse)
		return nil
	})
	if err != nil {
		return err
	}
	in, err := r.use(ctx, e.Entry)
	if err != nil {
		return err
	}
	r.publish(func(tables map[string]*entry) { tables[e.Table] = in })
	return r.show(e.table, changed, use)
}

// deleteTable deletes a table. An entry whose physical table is gone is deleted by
// it too.
func (r *Router) deleteTable(ctx context.Context, q *api.DeleteTable, use func(api.Response) error) error {
	r.defining.Lock()
	defer r.defining.Unlock()
	e, err := r.sharded(q.Table)
	if err != nil {
		return err
	}
	if e == nil {
		return r.backend.Answer(ctx, q, use)
	}
	t, err := r.physical(ctx, e.Physical)
	switch {
	case err != nil:
		return err
	case t != nil && (t.ID != e.ID || e.table == nil):
		return e.wrong
	case t != nil && t.DeletionProtection:
		// Told by the backend, before anything is noted.
		return r.backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, use)
	}
	dropping, err := r.catalog.Drop(ctx, e.Entry)
	if err != nil {
		return err
	}
	var deleted *api.TableResponse
	if t != nil {
		err = r.backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, func(a api.Response) error {
			deleted = a.(*api.TableResponse)
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.publish(func(tables map[string]*entry) { delete(tables, e.Table) })
	if err := r.catalog.Remove(ctx, dropping); err != nil {
		return err
	}
	if deleted == nil {
		return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", e.Table)
	}
	return r.show(e.table, deleted, use)
}

// listTables lists the tables without the catalogue.
func (r *Router) listTables(ctx context.Context, q *api.ListTables, use func(api.Response) error) error {
	more := *q
	more.Limit = q.Limit + 1 // the catalogue may be among them
	return r.backend.Answer(ctx, &more, func(a api.Response) error {
		l := *a.(*api.TablesResponse)
		l.Names = slices.DeleteFunc(slices.Clone(l.Names), func(n string) bool { return n == catalog.Table })
		l.Last = ""
		if len(l.Names) > q.Limit {
			l.Names = l.Names[:q.Limit]
			l.Last = l.Names[q.Limit-1]
		} else if last := a.(*api.TablesResponse).Last; last != "" && len(l.Names) > 0 {
			l.Last = l.Names[len(l.Names)-1]
		}
		return use(&l)
	})
}

// retag passes on a change of tags that declare nothing.
func (r *Router) retag(ctx context.Context, arn string, keys []string, q api.Request, use func(api.Response) error) error {
	if _, err := r.sharded(arn); err != nil {
		return err
	}
	if err := plan.CheckTags(simpleName(arn), keys); err != nil {
		return err
	}
	return r.backend.Answer(ctx, q, use)
}
