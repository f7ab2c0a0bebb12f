// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"slices"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/shard"
)

// physicalTable returns the CREATE TABLE of the physical table. It has one more partition-key
// column, the last, and no write_sharding.
func physicalTable(stmt *syntax.CreateTable, t *schema.Table, l *shard.Layout) *syntax.CreateTable {
	p := *stmt
	p.Name = syntax.Name{Keyspace: t.Keyspace, Name: t.Name}
	p.IfNotExists = false // the door must know whether the table existed
	p.With = slices.DeleteFunc(slices.Clone(stmt.With), func(w syntax.Property) bool { return w.Name == catalog.Property })
	p.Columns = slices.Clone(stmt.Columns)
	for i := range p.Columns {
		p.Columns[i].PrimaryKey = false
	}
	p.Columns = append(p.Columns, syntax.ColumnDef{Name: l.Column, Type: syntax.TypeRef{Name: syntax.Name{Name: "int"}}})
	p.PartitionKey, p.Clustering = nil, nil
	for _, c := range t.PartitionKey {
		p.PartitionKey = append(p.PartitionKey, c.Name)
	}
	p.PartitionKey = append(p.PartitionKey, l.Column)
	for _, c := range t.Clustering {
		p.Clustering = append(p.Clustering, c.Name)
	}
	return &p
}
