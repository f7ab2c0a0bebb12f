// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Schema is a snapshot of every keyspace, by name.
type Schema struct {
	Keyspaces map[string]*Keyspace
}

// Table returns the table, or nil.
func (s *Schema) Table(keyspace, name string) *Table {
	if k := s.Keyspaces[keyspace]; k != nil {
		return k.Tables[name]
	}
	return nil
}

// Keyspace is one keyspace.
type Keyspace struct {
	Name          string
	Replication   map[string]string // as in system_schema.keyspaces, with "class"
	DurableWrites bool
	Tables        map[string]*Table
	Types         map[string]*value.Type // user-defined types, by name
}

// TypesInOrder returns the keyspace's user-defined types by name, each after those of the same
// keyspace that it uses.
func (k *Keyspace) TypesInOrder() []*value.Type {
	var sorted []*value.Type
	done := map[string]bool{}
	var visit func(t *value.Type)
	visit = func(t *value.Type) {
		for _, e := range t.Elems {
			visit(e)
		}
		if t.Kind == value.UDT && !done[t.Name] && k.Types[t.Name] != nil {
			done[t.Name] = true
			sorted = append(sorted, k.Types[t.Name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Types)) {
		visit(k.Types[name])
	}
	return sorted
}

// ColumnKind is a column's role, as system_schema.columns names it.
type ColumnKind uint8

const (
	PartitionKey ColumnKind = iota
	Clustering
	Static
	Regular
)

func (k ColumnKind) String() string {
	return [...]string{"partition_key", "clustering", "static", "regular"}[k]
}

// Column is one column of a table.
type Column struct {
	Name     string
	Type     *value.Type
	Kind     ColumnKind
	Position int  // within the partition key or the clustering columns; -1 for other columns
	Desc     bool // clustering order
}

// Table is one table.
type Table struct {
	Keyspace     string
	Name         string
	ID           [16]byte
	PartitionKey []*Column
	Clustering   []*Column
	Statics      []*Column // by name
	Regulars     []*Column // by name
	Columns      map[string]*Column
	// Options are as in system_schema.tables, by column: string, int, float64, bool,
	// map[string]string or map[string][]byte. Null options are absent. An embedded engine with
	// the limits of Amazon Keyspaces also has custom_properties, a map[string]map[string]string.
	Options map[string]any
	Dropped map[string]Dropped // dropped columns, by name
	Counter bool
	Indexes []Index // by name
	View    *View   // set for a materialized view; nil for a table
}

// View describes a materialized view, as in system_schema.views.
type View struct {
	Base       string // the view's table
	AllColumns bool   // SELECT *
	Where      string // its WHERE clause
}

// Dropped is a dropped column and when it was dropped, in microseconds.
type Dropped struct {
	Type *value.Type
	Kind ColumnKind
	Time int64
}

// Index is a secondary index, as in system_schema.indexes.
type Index struct {
	Name    string
	Kind    string
	Options map[string]string
}

// All returns the columns in the order of SELECT *: partition key, clustering,
// then statics and regulars each by name.
func (t *Table) All() []*Column {
	all := make([]*Column, 0, len(t.Columns))
	all = append(all, t.PartitionKey...)
	all = append(all, t.Clustering...)
	all = append(all, t.Statics...)
	return append(all, t.Regulars...)
}

// Column returns the column, or nil.
func (t *Table) Column(name string) *Column { return t.Columns[name] }
