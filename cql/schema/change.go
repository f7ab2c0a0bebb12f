// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// NewTable makes a table from its columns, in any order. It sorts them by role, then by position
// or name. Everything else, such as the options, is empty.
func NewTable(keyspace, name string, columns []*Column) *Table {
	t := &Table{
		Keyspace: keyspace,
		Name:     name,
		Columns:  make(map[string]*Column, len(columns)),
		Options:  map[string]any{},
		Dropped:  map[string]Dropped{},
	}
	for _, c := range columns {
		t.Columns[c.Name] = c
		switch c.Kind {
		case PartitionKey:
			t.PartitionKey = append(t.PartitionKey, c)
		case Clustering:
			t.Clustering = append(t.Clustering, c)
		case Static:
			t.Statics = append(t.Statics, c)
		default:
			t.Regulars = append(t.Regulars, c)
		}
		t.Counter = t.Counter || c.Type.Kind == value.Counter
	}
	byPosition := func(a, b *Column) int { return cmp.Compare(a.Position, b.Position) }
	byName := func(a, b *Column) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(t.PartitionKey, byPosition)
	slices.SortFunc(t.Clustering, byPosition)
	slices.SortFunc(t.Statics, byName)
	slices.SortFunc(t.Regulars, byName)
	return t
}

// With returns the schema with this keyspace, which replaces one of the same name.
func (s *Schema) With(k *Keyspace) *Schema {
	n := &Schema{Keyspaces: make(map[string]*Keyspace, len(s.Keyspaces)+1)}
	maps.Copy(n.Keyspaces, s.Keyspaces)
	n.Keyspaces[k.Name] = k
	return n
}

// Without returns the schema without the keyspace.
func (s *Schema) Without(keyspace string) *Schema {
	n := &Schema{Keyspaces: maps.Clone(s.Keyspaces)}
	delete(n.Keyspaces, keyspace)
	return n
}

// WithTable returns the schema with this table, which replaces one of the same name. The table's
// keyspace must exist.
func (s *Schema) WithTable(t *Table) *Schema {
	return s.With(s.Keyspaces[t.Keyspace].With(t))
}

// WithoutTable returns the schema without the table.
func (s *Schema) WithoutTable(keyspace, name string) *Schema {
	k := s.Keyspaces[keyspace]
	if k == nil || k.Tables[name] == nil {
		return s
	}
	return s.With(k.Without(name))
}

// With returns the keyspace with this table, which replaces one of the same name.
func (k *Keyspace) With(t *Table) *Keyspace {
	n := *k
	n.Tables = make(map[string]*Table, len(k.Tables)+1)
	maps.Copy(n.Tables, k.Tables)
	n.Tables[t.Name] = t
	return &n
}

// Without returns the keyspace without the table.
func (k *Keyspace) Without(table string) *Keyspace {
	n := *k
	n.Tables = maps.Clone(k.Tables)
	delete(n.Tables, table)
	return &n
}

// WithType returns the keyspace with this user-defined type, which replaces one of the same name
// in every type and column that uses it. u is not frozen.
func (k *Keyspace) WithType(u *value.Type) *Keyspace {
	n := *k
	n.Types = make(map[string]*value.Type, len(k.Types)+1)
	r := &value.Replacer{With: u}
	for name, t := range k.Types {
		n.Types[name] = r.Replace(t)
	}
	n.Types[u.Name] = u
	n.Tables = make(map[string]*Table, len(k.Tables))
	for name, t := range k.Tables {
		n.Tables[name] = t.withType(r)
	}
	return &n
}

// withType returns the table with the type in its columns, or t itself if no column uses it.
func (t *Table) withType(r *value.Replacer) *Table {
	columns, uses := t.All(), false
	for i, c := range columns {
		if typ := r.Replace(c.Type); typ != c.Type {
			changed := *c
			changed.Type = typ
			columns[i], uses = &changed, true
		}
	}
	if !uses {
		return t
	}
	n := NewTable(t.Keyspace, t.Name, columns)
	n.ID, n.Options, n.Dropped, n.Counter, n.Indexes, n.View = t.ID, t.Options, t.Dropped, t.Counter, t.Indexes, t.View
	return n
}
