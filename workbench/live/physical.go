// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/registry"
)

// Physical describes a table that is the physical table of a table that evenkeel shards, seen
// without a door.
type Physical struct {
	Logical string // keyspace.table, as a door shows it
	Column  string // its shard column
	Layout  string // the property write_sharding
}

// Physical reads evenkeel's catalogue in the store. It returns nil if there is no catalogue, or
// nothing about this table in it.
func (t *Table) Physical(ctx context.Context) *Physical {
	c := catalog.New(catalog.Options{Session: system{t.session}, Now: time.Now, UUID: func() [16]byte { return [16]byte{} }})
	entries, present, err := c.Load(ctx)
	if err != nil || !present {
		return nil // a user who may not read the catalogue sees an ordinary table
	}
	for _, e := range entries {
		if e.Keyspace == t.at.Keyspace && e.Physical == t.at.Table && e.ID == t.schema.ID && e.State == registry.Active {
			return &Physical{Logical: Identifier(e.Keyspace) + "." + Identifier(e.Table), Column: e.Layout.Column, Layout: e.Layout.String()}
		}
	}
	return nil
}
