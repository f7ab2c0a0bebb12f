// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/mover"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/streams"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/registry"
	"github.com/evenkeel/evenkeel/shard"
)

// Definer carries out requests on tables. It is safe for concurrent use. Its maker sets the fields.
type Definer struct {
	Backend backend.Store
	Catalog *catalog.Catalog
	Tables  *tables.Registry
	Items   *items.Runner
	Mover   *mover.Mover
	Streams *streams.Reader
	Rules   *Rules
	Log     *slog.Logger
}

// CreateTable creates a plain table, or the physical table of a sharded one. For a sharded table,
// it writes the catalogue's entry before and again after that.
func (r *Definer) CreateTable(ctx context.Context, q *api.CreateTable, use func(api.Response) error) error {
	if catalog.Owns(q.Name) {
		return ReservedTable(q.Name)
	}
	d, rule, err := r.Rules.declaration(ctx, &q.Declaration)
	if err != nil && rule != "" {
		if t, _ := r.Tables.Physical(ctx, q.Name); t != nil {
			return tables.Exists(q.Name) // a client that creates its table at each start expects this error
		}
	}
	if err != nil {
		return err
	}
	defer r.Tables.Define()()
	if r.Tables.Shared() {
		err = r.Tables.Vacate(ctx, q.Name)
	} else if r.Tables.Entry(q.Name) != nil {
		err = tables.Exists(q.Name)
	}
	if err != nil {
		return err
	}
	if d == nil {
		return r.Backend.Answer(ctx, q, use)
	}
	if t, err := r.Tables.Physical(ctx, q.Name); err != nil || t != nil {
		if err == nil {
			err = tables.Exists(q.Name)
		}
		return err
	}
	// The names belong to the request's memory, which ends with the request.
	indexes, single := make(map[string]*shard.Layout, len(d.Indexes)), make(map[string]bool)
	for name, layout := range d.Indexes {
		name = strings.Clone(name)
		indexes[name], single[name] = layout, d.Single[name]
	}
	if d.Layout != nil && plan.InDirectory(d.Layout) {
		err = r.Catalog.CreateBuckets(ctx)
	}
	var e *catalog.Entry
	if err == nil {
		e, err = r.Catalog.Begin(ctx, catalog.Entry{
			Table: string([]byte(q.Name)), Physical: string([]byte(q.Name)), Layout: d.Layout, Indexes: indexes, Single: single, Hash: string([]byte(d.Hash.Name)), HashType: d.Hash.Type.String(), Rule: rule,
		})
	}
	switch {
	case errors.Is(err, catalog.ErrExists):
		return tables.Exists(q.Name)
	case exception.Is(err, exception.Validation) && strings.Contains(err.Error(), "reserved for the catalogue"):
		return exception.Invalid("table %s cannot be write-sharded here: the endpoint is an evenkeel that shards tables itself; "+
			"use it directly, or start it with --dynamodb-sharding off", q.Name)
	case err != nil:
		return tables.DoorError(err)
	}
	if d.Layout == nil {
		// A door that still took the name for a plain table's could put items that are in no
		// sharded index, and nobody would notice.
		err = tables.Wait(ctx, r.Tables.Grace())
	}
	var created *api.TableResponse
	if err == nil {
		err = r.Backend.Answer(ctx, &api.CreateTable{Declaration: *d.Physical}, func(a api.Response) (err error) {
			created, err = tables.Kept(a)
			return err
		})
	}
	if err != nil {
		if gone := r.Catalog.Remove(context.WithoutCancel(ctx), e); gone != nil {
			r.Log.Error("dynamodb: the entry of a table that could not be created remains, until a door starts", "table", e.Table, "error", gone)
		}
		return singleKeys(d, err)
	}
	in, err := r.Tables.Activate(ctx, e, created.Table)
	if err != nil {
		return err
	}
	if rule != "" {
		r.Log.Info("dynamodb: a table was created that a shard rule declares sharded", "table", in.Table, "rule", rule)
	}
	r.warnOfIndexes(in.Plan, in.Plan.Unspread())
	return r.show(in.Plan, created, use)
}

func ReservedTable(name string) error {
	return exception.InvalidParameters("table name %s is reserved for the catalogue of sharded tables; choose another name", name)
}

// singleKeys returns the error of a CreateTable. If the store may not support what a sharded index
// needs, it adds the way out.
func singleKeys(d *plan.Declaration, err error) error {
	e := exception.Of(err)
	if len(d.Indexes) == 0 || e.Kind != exception.Validation {
		return err
	}
	return exception.Invalid("%s (A sharded index has two partition key attributes, which not every endpoint takes: "+
		"if this one does not, add keys=single to the tag %s<IndexName>, or leave the tag out.)", e.Message, plan.IndexTagPrefix)
}

// show passes a physical table's description to use as that of the logical table.
func (r *Definer) show(t *plan.Table, p *api.TableResponse, use func(api.Response) error) error {
	shown := *p
	if len(p.Table.Key.Hash) == 0 { // AWS describes little of a table that is being deleted
		last := *p.Table
		last.Name, last.ARN = t.Logical.Name, t.LogicalARN(last.ARN)
		last.Definitions, last.Local, last.Global = nil, nil, nil
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

// usable returns the entry of a sharded table that is in order. If it returns nil, the request is
// done: either the backend has answered it, or the error is the answer.
func (r *Definer) usable(ctx context.Context, table string, q api.Request, use func(api.Response) error) (*tables.Entry, error) {
	e, err := r.Tables.Sharded(table)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return nil, r.Backend.Answer(ctx, q, use)
	case e.Wrong != nil:
		return nil, e.Wrong
	}
	return e, nil
}

func (r *Definer) DescribeTable(ctx context.Context, q *api.DescribeTable, use func(api.Response) error) error {
	e, err := r.usable(ctx, q.Table, q, use)
	if e == nil {
		return err
	}
	return r.Backend.Answer(ctx, &api.DescribeTable{Table: e.Physical}, func(a api.Response) error {
		return r.show(e.Plan, a.(*api.TableResponse), use)
	})
}

// DescribePartitions describes a sharded table's partitions by its logical keys.
func (r *Definer) DescribePartitions(ctx context.Context, q *api.DescribePartitions, use func(api.Response) error) error {
	e, err := r.usable(ctx, q.Table, q, use)
	if e == nil {
		return err
	}
	return r.Backend.Answer(ctx, &api.DescribePartitions{Table: e.Physical, Index: q.Index}, func(a api.Response) error {
		p, ok := a.(*api.PartitionsResponse)
		if !ok {
			return fmt.Errorf("partitions of table %s: an answer of type %T", e.Table, a)
		}
		if err := e.Plan.Partitions(p); err != nil {
			return fmt.Errorf("partitions of table %s: %w", e.Table, err)
		}
		return use(p)
	})
}

func (r *Definer) UpdateTable(ctx context.Context, q *api.UpdateTable, use func(api.Response) error) error {
	if err := plan.CheckDefinitions(api.TableName(q.Table), q.Definitions); err != nil {
		return err
	}
	defer r.Tables.Define()()
	e, err := r.usable(ctx, q.Table, q, use)
	if e == nil {
		return err
	}
	// An index that was being filled may be ready by now, or another door may have added one.
	if e, err = r.Tables.Anew(ctx, e.Table); err != nil {
		return err
	}
	if e.Change != nil {
		return exception.New(exception.ResourceInUse, "table %s is getting another layout (step %s); change it when that is done", e.Table, e.Change.Step)
	}
	change, err := e.Plan.Change(&q.Change)
	if err != nil {
		return err
	}
	var changed *api.TableResponse
	err = r.Backend.Answer(ctx, &api.UpdateTable{Table: e.Physical, Change: *change}, func(a api.Response) error {
		changed = a.(*api.TableResponse)
		return nil
	})
	if err != nil {
		return err
	}
	in, err := r.Tables.Anew(context.WithoutCancel(ctx), e.Table) // even if the client has gone
	if err != nil {
		return err
	}
	before := e.Plan.Unspread()
	r.warnOfIndexes(in.Plan, slices.DeleteFunc(in.Plan.Unspread(), func(name string) bool { return slices.Contains(before, name) }))
	return r.show(e.Plan, changed, use)
}

// warnOfIndexes logs a warning for new indexes that are not sharded. Such an index is as hot as the
// hottest value of its key.
func (r *Definer) warnOfIndexes(t *plan.Table, names []string) {
	for _, name := range names {
		r.Log.Warn("dynamodb: a global index of a sharded table is not sharded: if one value of its partition key is in many items, writes to the table "+
			"are throttled by the index's one partition for it; the tag "+plan.IndexTagPrefix+name+" spreads it", "table", t.Logical.Name, "index", name)
	}
}

// DeleteTable deletes a table. If its physical table is gone, DeleteTable deletes the entry.
func (r *Definer) DeleteTable(ctx context.Context, q *api.DeleteTable, use func(api.Response) error) error {
	defer r.Tables.Define()()
	e, err := r.Tables.Sharded(q.Table)
	if err != nil {
		return err
	}
	if e == nil {
		return r.Backend.Answer(ctx, q, use)
	}
	t, err := r.Tables.Physical(ctx, e.Physical)
	if err == nil && t != nil && t.ID == e.ID {
		err = r.moving(ctx, e)
	}
	switch {
	case err != nil:
		return err
	case e.State == registry.Creating:
		return e.Wrong
	case e.State == registry.Dropped: // the backend still has it and gives the answer
		return r.Backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, func(a api.Response) error {
			return r.show(e.Plan, a.(*api.TableResponse), use)
		})
	case t != nil && (t.ID != e.ID || e.Plan == nil):
		return e.Wrong
	case t != nil && t.DeletionProtection:
		// The backend refuses the request before the door changes the catalogue.
		return r.Backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, use)
	}
	if t != nil {
		r.Streams.KeepStreams(ctx, e, t)
	}
	dropping, err := r.Catalog.Drop(ctx, e.Entry)
	switch {
	case exception.Is(err, exception.ConditionalCheckFailed):
		return tables.BeingChanged(e.Table)
	case err != nil:
		return tables.DoorError(err)
	}
	if err := r.Tables.DropSecond(ctx, e.Entry); err != nil {
		r.keep(ctx, dropping)
		return tables.DoorError(err)
	}
	var deleted *api.TableResponse
	if t != nil {
		err = r.Backend.Answer(ctx, &api.DeleteTable{Table: e.Physical}, func(a api.Response) error {
			deleted = a.(*api.TableResponse)
			return nil
		})
		if err != nil {
			r.keep(ctx, dropping)
			return err
		}
	}
	if err := r.Tables.Unlist(context.WithoutCancel(ctx), dropping); err != nil {
		return err
	}
	if e.Plan != nil && (e.Plan.InDirectory() || e.Change != nil && mover.Towards(e.Change).InDirectory()) {
		r.forget(ctx, e)
	}
	if deleted == nil {
		return exception.New(exception.ResourceNotFound, "Requested resource not found: Table: %s not found", e.Table)
	}
	return r.show(e.Plan, deleted, use)
}

// keep notes that a table could not be deleted, so that another DeleteTable can try again.
func (r *Definer) keep(ctx context.Context, dropping *catalog.Entry) {
	if err := r.Catalog.Keep(context.WithoutCancel(ctx), dropping); err != nil {
		r.Log.Error("dynamodb: the entry of a table that could not be deleted says that it is being deleted, until it is settled", "table", dropping.Table, "error", err)
	}
}

// forgetting is how long a DeleteTable may clean the directory.
const forgetting = 20 * time.Second

// forget removes what the directory has of a deleted table. Nobody reads what remains.
func (r *Definer) forget(ctx context.Context, e *tables.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetting)
	defer cancel()
	names := []string{e.ID + "/", e.ID + "."}
	if e.Change != nil && e.Change.SecondID != "" {
		names = append(names, e.Change.SecondID+".", e.Change.SecondID+"/")
	}
	if err := r.Catalog.ForgetBuckets(ctx, names...); err != nil {
		r.Log.Warn("dynamodb: the directory keeps entries of a deleted table, which nobody reads", "table", e.Table, "id", e.ID, "error", err)
	}
}

// ChangedPlain returns the answer to an operation that changed plain tables. Another request may
// have made the table sharded just before it was updated or deleted. Then the answer has the
// table's physical form: ChangedPlain rewrites it, and removes the entry of a deleted table.
func (r *Definer) ChangedPlain(ctx context.Context, operation string, names []string, out []byte, from int) ([]byte, error) {
	if operation != "DeleteTable" && operation != "UpdateTable" {
		return out, nil
	}
	name := api.TableName(names[0])
	e, err := r.Catalog.Get(ctx, name)
	if err != nil || e == nil || e.State != registry.Active || !bytes.Contains(out[from:], []byte(strconv.Quote(e.ID))) {
		return out, nil // it is not this table's entry, or there is none; the next request on the table finds it
	}
	if err := r.Tables.Reconsider(ctx, names); err != nil {
		return out[:from], err
	}
	in := r.Tables.Entry(name)
	if operation == "UpdateTable" && in != nil && in.Plan != nil {
		err := r.DescribeTable(ctx, &api.DescribeTable{Table: name}, func(a api.Response) error {
			shown := *a.(*api.TableResponse)
			shown.Describe = false
			out = shown.AppendJSON(out[:from])
			return nil
		})
		return out, err
	}
	if operation == "DeleteTable" {
		dropping, err := r.Catalog.Drop(ctx, e)
		if err == nil {
			if err = r.Tables.DropSecond(ctx, e); err != nil {
				r.keep(ctx, dropping)
			} else {
				err = r.Tables.Unlist(ctx, dropping)
			}
		}
		gone := &schema.Table{Name: name, Status: schema.Deleting}
		return (&api.TableResponse{Table: gone}).AppendJSON(out[:from]), tables.DoorError(err)
	}
	return out, nil
}

// ListTables lists the tables except the catalogue.
func (r *Definer) ListTables(ctx context.Context, q *api.ListTables, use func(api.Response) error) error {
	more := *q
	if q.Start != "" {
		more.Start = r.atStore(q.Start)
	}
	l := new(api.TablesResponse)
	for {
		last := ""
		err := r.Backend.Answer(ctx, &more, func(a api.Response) error {
			page := a.(*api.TablesResponse)
			last = page.Last
			l.Names = append(l.Names, r.listed(page.Names)...)
			return nil
		})
		switch {
		case err != nil:
			return err
		case last == "":
			return use(l)
		case len(l.Names) == q.Limit:
			l.Last = l.Names[len(l.Names)-1] // the name that clients know
			return use(l)
		}
		more.Start, more.Limit = last, q.Limit-len(l.Names) // the page contained tables of the door's own
	}
}

// UpdateTimeToLive passes on the attribute that says when items expire. It refuses a hidden
// attribute.
func (r *Definer) UpdateTimeToLive(ctx context.Context, q *api.UpdateTimeToLive, use func(api.Response) error) error {
	e, err := r.Tables.Sharded(q.Table)
	if err == nil && e != nil {
		err = plan.CheckName(q.Attribute)
	}
	if err == nil {
		err = r.moving(ctx, e)
	}
	if err == nil && q.Enabled && e != nil && e.Change != nil && e.Plan != nil {
		err = e.Plan.CheckExpiry(q.Attribute)
	}
	if err != nil {
		return err
	}
	return r.Backend.Answer(ctx, &api.UpdateTimeToLive{Table: physicalARN(e, q.Table), TimeToLive: q.TimeToLive}, use)
}

// DescribeTimeToLive passes the request on.
func (r *Definer) DescribeTimeToLive(ctx context.Context, q *api.DescribeTimeToLive, use func(api.Response) error) error {
	e, err := r.Tables.Sharded(q.Table)
	if err != nil {
		return err
	}
	return r.Backend.Answer(ctx, &api.DescribeTimeToLive{Table: physicalARN(e, q.Table)}, use)
}

// ListTags passes the request on.
func (r *Definer) ListTags(ctx context.Context, q *api.ListTagsOfResource, use func(api.Response) error) error {
	e, err := r.Tables.Sharded(q.ARN)
	if err != nil {
		return err
	}
	return r.Backend.Answer(ctx, &api.ListTagsOfResource{ARN: physicalARN(e, q.ARN), Next: q.Next}, use)
}
