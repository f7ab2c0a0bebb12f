// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// createTable creates a table, which can be used at once. The answer says CREATING, as AWS's
// does.
func (df *definer) createTable(q *api.CreateTable) (api.Response, error) {
	df.tables.Lock()
	defer df.tables.Unlock()
	table, err := schema.Create(&q.Declaration)
	if err != nil {
		return nil, err
	}
	if df.tables.all()[table.Name] != nil {
		return nil, exception.New(exception.ResourceInUse, "Table already exists: %s", table.Name)
	}
	now := df.clock()
	table.ID, table.ARN, table.Created, table.Status = newUUID(), df.options.arn(table.Name), now, schema.Active
	if table.Billing == schema.PayPerRequest {
		table.BillingChanged = now
	}
	for i := range table.Local {
		table.Local[i].ARN = table.ARN + "/index/" + table.Local[i].Name
	}
	for i := range table.Global {
		table.Global[i].ARN = table.ARN + "/index/" + table.Global[i].Name
		table.Global[i].Status = schema.Active
	}
	r := &record{Table: table, ID: df.tables.last + 1, Indexes: map[string]uint16{}}
	if err := r.number(); err != nil {
		return nil, err
	}
	var withStream func(b *pebble.Batch) error
	undo := func() {}
	if table.Stream.Enabled {
		withStream, undo = df.streams.Begin(table)
	}
	if err := df.tables.define(r, withStream); err != nil {
		undo()
		return nil, err
	}
	// The answer may outlive the request, so it uses the table's memory.
	shown := *df.tables.all()[table.Name].shape.Load().Table
	shown.Status, shown.BillingChanged = schema.Creating, time.Time{} // as AWS shows it
	shown.Global = append([]schema.Index(nil), shown.Global...)
	for i := range shown.Global {
		shown.Global[i].Status = schema.Creating
	}
	return &api.TableResponse{Table: &shown, Size: emptySize(&shown)}, nil
}

// emptySize returns the size of a table without items.
func emptySize(t *schema.Table) api.TableSize {
	size := api.TableSize{Indexes: map[string]api.TableSize{}}
	for i := range t.Local {
		size.Indexes[t.Local[i].Name] = api.TableSize{}
	}
	for i := range t.Global {
		size.Indexes[t.Global[i].Name] = api.TableSize{}
	}
	return size
}

// number gives ids to the indexes that have none.
func (r *record) number() error {
	for _, indexes := range [2][]schema.Index{r.Table.Local, r.Table.Global} {
		for i := range indexes {
			if _, ok := r.Indexes[indexes[i].Name]; ok {
				continue
			}
			if r.LastIndex == indexExpiry-1 {
				return exception.New(exception.LimitExceeded, "A table can have had %d indexes; make a new one and copy the items", indexExpiry-1)
			}
			r.LastIndex++
			r.Indexes[indexes[i].Name] = r.LastIndex
		}
	}
	return nil
}
