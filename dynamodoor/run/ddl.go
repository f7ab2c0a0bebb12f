// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

func exists(name string) error {
	return exception.New(exception.ResourceInUse, "Table already exists: %s", name)
}

func beingChanged(name string) error {
	return exception.New(exception.ResourceInUse, "table %s is being changed by another request, or was deleted a moment ago; try again", name)
}

// createTable makes a table: a plain one, or the physical table of a sharded one,
// with its entry in the catalogue before and after.
func (r *Router) createTable(ctx context.Context, q *api.CreateTable, use func(api.Response) error) error {
	if q.Name == catalog.Table {
		return reservedTable()
	}
	d, rule, err := r.rules.declaration(ctx, &q.Declaration)
	if err != nil && rule != "" {
		if t, _ := r.physical(ctx, q.Name); t != nil {
			return exists(q.Name) // which is what a client asks who creates a table at each start
		}
	}
	if err != nil {
		return err
	}
	r.defining.Lock()
	defer r.defining.Unlock()
	if r.lease > 0 {
		err = r.vacate(ctx, q.Name)
	} else if (*r.tables.Load())[q.Name] != nil {
		err = exists(q.Name)
	}
	if err != nil {
		return err
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
	indexes, single := make(map[string]*shard.Layout, len(d.Indexes)), make(map[string]bool)
	for name, layout := range d.Indexes {
		name = strings.Clone(name)
		indexes[name], single[name] = layout, d.Single[name]
	}
	e, err := r.catalog.Begin(ctx, catalog.Entry{
		Table: string([]byte(q.Name)), Physical: string([]byte(q.Name)), Layout: d.Layout, Indexes: indexes, Single: single, Hash: string([]byte(d.Hash.Name)), HashType: d.Hash.Type.String(), Rule: rule,
	})
	switch {
	case errors.Is(err, catalog.ErrExists):
		return exists(q.Name)
	case is(err, exception.Validation) && strings.Contains(err.Error(), "reserved for the catalogue"):
		return exception.Invalid("table %s cannot be write-sharded here: the endpoint is an evenkeel that shards tables itself; "+
			"use it directly, or start it with --dynamodb-sharding off", q.Name)
	case err != nil:
		return doorError(err)
	}
	if d.Layout == nil {
		// A door that still took the name for that of a plain table could put items
		// that are in no sharded index, and nobody would notice.
		err = r.wait(ctx, r.grace())
	}
	var created *api.TableResponse
	if err == nil {
		err = r.backend.Answer(ctx, &api.CreateTable{Declaration: *d.Physical}, func(a api.Response) (err error) {
			created, err = kept(a)
			return err
		})
	}
	if err != nil {
		if gone := r.catalog.Remove(context.WithoutCancel(ctx), e); gone != nil {
			r.log.Error("dynamodb: the entry of a table that could not be created remains, until a door starts", "table", e.Table, "error", gone)
		}
		return singleKeys(d, err)
	}
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if e, err = r.catalog.Activate(context.WithoutCancel(ctx), e, identity(created.Table)); err != nil {
		return fmt.Errorf("note that table %s is created: %w", q.Name, err)
	}
	in := r.open(e, created.Table)
	r.plain.Delete(e.Table)
	r.publish(func(tables map[string]*entry) { tables[e.Table] = in })
	if in.wrong != nil {
		return in.wrong
	}
	if rule != "" {
		r.log.Info("dynamodb: a table was created that a shard rule declares sharded", "table", e.Table, "rule", rule)
	}
	r.warnOfIndexes(in.table, in.table.Unspread())
	return r.show(in.table, created, use)
}

func reservedTable() error {
	return exception.InvalidParameters("table name %s is reserved for the catalogue of sharded tables; choose another name", catalog.Table)
}

// singleKeys is the error of a CreateTable; where a store does not take what a
// sharded index needs, with the way out.
func singleKeys(d *plan.Declaration, err error) error {
	e := exception.Of(err)
	if len(d.Indexes) == 0 || e.Kind != exception.Validation {
		return err
	}
	return exception.Invalid("%s (A sharded index has two partition key attributes, which not every endpoint takes: "+
		"if this one does not, add keys=single to the tag %s<IndexName>, or leave the tag out.)", e.Message, plan.IndexTagPrefix)
}

// show gives a physical table's description as that of the logical one.
func (r *Router) show(t *plan.Table, p *api.TableResponse, use func(api.Response) error) error {
	shown := *p
	if len(p.Table.Key.Hash) == 0 { // of a table that is being deleted AWS tells little more than that
		last := *p.Table
		last.Name, last.Definitions, last.Local, last.Global = t.Logical.Name, nil, nil, nil
		shown.Table = &last
		return use(&shown)
	}
	now, err := t.WithSchema(p.Table)
	if err != nil {
		return err
	}
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

// usable returns the entry of a sharded table that is in order. Where it returns nil
// the request is done with: the backend has answered it, or the error says why not.
func (r *Router) usable(ctx context.Context, table string, q api.Request, use func(api.Response) error) (*entry, error) {
	e, err := r.sharded(table)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return nil, r.backend.Answer(ctx, q, use)
	case e.wrong != nil:
		return nil, e.wrong
	}
	return e, nil
}

func (r *Router) describeTable(ctx context.Context, q *api.DescribeTable, use func(api.Response) error) error {
	e, err := r.usable(ctx, q.Table, q, use)
	if e == nil {
		return err
	}
	return r.backend.Answer(ctx, &api.DescribeTable{Table: e.Physical}, func(a api.Response) error {
		return r.show(e.table, a.(*api.TableResponse), use)
	})
}

func (r *Router) updateTable(ctx context.Context, q *api.UpdateTable, use func(api.Response) error) error {
	if err := plan.CheckDefinitions(simpleName(q.Table), q.Definitions); err != nil {
		return err
	}
	r.defining.Lock()
	defer r.defining.Unlock()
	e, err := r.usable(ctx, q.Table, q, use)
	if e == nil {
		return err
	}
	// An index that was being filled may be ready by now, or another door's.
	if e, err = r.anew(ctx, e.Table); err != nil {
		return err
	}
	if e.Change != nil {
		return exception.New(exception.ResourceInUse, "table %s is getting another layout (step %s); change it when that is done", e.Table, e.Change.Step)
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
	in, err := r.anew(ctx, e.Table)
	if err != nil {
		return err
	}
	before := e.table.Unspread()
	r.warnOfIndexes(in.table, slices.DeleteFunc(in.table.Unspread(), func(name string) bool { return slices.Contains(before, name) }))
	return r.show(e.table, changed, use)
}

// warnOfIndexes warns of new indexes that are as hot as the hottest value of their
// key.
func (r *Router) warnOfIndexes(t *plan.Table, names []string) {
	for _, name := range names {
		r.log.Warn("dynamodb: a global index of a sharded table is not sharded: if one value of its partition key is in many items, writes to the table "+
			"are throttled by the index's one partition for it; the tag "+plan.IndexTagPrefix+name+" spreads it", "table", t.Logical.Name, "index", name)
	}
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
	case e.State == catalog.Creating:
		return e.wrong
	case e.State == catalog.Dropped: // which the backend tells, as it has it
		return r.backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, func(a api.Response) error {
			return r.show(e.table, a.(*api.TableResponse), use)
		})
	case t != nil && (t.ID != e.ID || e.table == nil):
		return e.wrong
	case t != nil && t.DeletionProtection:
		// Told by the backend, before anything is noted.
		return r.backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, use)
	}
	if t != nil {
		r.keepStreams(ctx, e, t)
	}
	dropping, err := r.catalog.Drop(ctx, e.Entry)
	switch {
	case is(err, exception.ConditionalCheckFailed):
		return beingChanged(e.Table)
	case err != nil:
		return doorError(err)
	}
	var deleted *api.TableResponse
	if t != nil {
		err = r.backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, func(a api.Response) error {
			deleted = a.(*api.TableResponse)
			return nil
		})
		if err != nil {
			if kept := r.catalog.Keep(context.WithoutCancel(ctx), dropping); kept != nil {
				r.log.Error("dynamodb: the entry of a table that could not be deleted says that it is being deleted, until it is settled", "table", e.Table, "error", kept)
			}
			return err
		}
	}
	if err := r.unlist(context.WithoutCancel(ctx), dropping); err != nil {
		return err
	}
	if deleted == nil {
		return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", e.Table)
	}
	return r.show(e.table, deleted, use)
}

// unlist takes a table whose physical table is gone out of the catalogue. Where
// there are other doors its name is kept for a while.
func (r *Router) unlist(ctx context.Context, dropping *catalog.Entry) error {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.publish(func(tables map[string]*entry) { delete(tables, dropping.Table) })
	if r.lease > 0 {
		return r.catalog.MarkDeleted(ctx, dropping)
	}
	return r.catalog.Remove(ctx, dropping)
}

// listTables lists the tables without the catalogue.
func (r *Router) listTables(ctx context.Context, q *api.ListTables, use func(api.Response) error) error {
	more := *q
	l := new(api.TablesResponse)
	for {
		last := ""
		err := r.backend.Answer(ctx, &more, func(a api.Response) error {
			page := a.(*api.TablesResponse)
			last = page.Last
			l.Names = append(l.Names, slices.DeleteFunc(slices.Clone(page.Names), func(n string) bool { return n == catalog.Table })...)
			return nil
		})
		switch {
		case err != nil:
			return err
		case last == "":
			return use(l)
		case len(l.Names) == q.Limit:
			l.Last = last
			return use(l)
		}
		more.Start, more.Limit = last, q.Limit-len(l.Names) // the catalogue was among them
	}
}

// updateTimeToLive passes on which attribute says when items expire: none that is
// hidden.
func (r *Router) updateTimeToLive(ctx context.Context, q *api.UpdateTimeToLive, use func(api.Response) error) error {
	e, err := r.sharded(q.Table)
	if err == nil && e != nil {
		err = plan.CheckName(q.Attribute)
	}
	if err != nil {
		return err
	}
	return r.backend.Answer(ctx, q, use)
}
