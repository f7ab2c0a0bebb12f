// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is a write-sharded table, or a plain one with sharded indexes. It is immutable.
type Table struct {
	Logical *schema.Table // as the client knows it
	stored
}

// Spec describes a Table to open.
type Spec struct {
	Name     string
	Physical *schema.Table
	ID       string            // the physical table's
	Hash     schema.Definition // the logical partition key; the physical table may not define it
	Layout   *shard.Layout     // nil: the table itself is plain
	Affix    *shard.Affix      // nil: the table was not sharded by hand
	Indexes  map[string]*shard.Layout
	Single   map[string]bool // the Indexes whose shard is their only partition key attribute
	Filling  map[string]bool // the Indexes in which items may have no shard yet
}

// Open returns the logical table of a physical one.
func Open(s Spec) (*Table, error) {
	sort := s.Physical.RangeName()
	k := keys{s.Hash, schema.Definition{Name: sort, Type: s.Physical.Type(sort)}}
	t := &Table{stored: stored{Physical: s.Physical.Name, id: s.ID, placement: place(s.Name, k, s.Layout, s.Affix)}}
	key := s.Physical.Key
	if t.hidesKey() && (len(key.Hash) != 1 || key.Hash[0] != PartitionKey || len(key.Range) != 1) {
		return nil, exception.Invalid("table %s is not one that evenkeel has made: its key is %s, not (%s, a sort key); "+
			"restore the physical table, or delete its entry in the catalogue", s.Physical.Name, key, PartitionKey)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Indexes)) {
		in := index{name: name, layout: s.Indexes[name], single: s.Single[name], filling: s.Filling[name]}
		physical, _ := s.Physical.Index(name)
		in.there = physical != nil && len(physical.Key.Hash) > 0 && physical.Key.Hash[0] == in.attribute()
		t.indexes = append(t.indexes, in)
	}
	t.Logical = t.logicalSchema(s.Physical)
	return t, nil
}

// WithSchema returns the table after a change of the physical one.
func (t *Table) WithSchema(physical *schema.Table) (*Table, error) {
	s := Spec{
		Name: t.Logical.Name, Physical: physical, ID: t.id, Hash: t.hash, Layout: t.Layout,
		Indexes: make(map[string]*shard.Layout), Single: make(map[string]bool), Filling: make(map[string]bool),
	}
	if t.adopted != nil {
		s.Affix = t.adopted.affix
	}
	for _, ix := range t.indexes {
		s.Indexes[ix.name], s.Single[ix.name], s.Filling[ix.name] = ix.layout, ix.single, ix.filling
	}
	return Open(s)
}

// Unspread returns the global indexes of a sharded table that are not sharded. A hot value of such
// an index's key throttles the table's writes, however well the table is spread.
func (t *Table) Unspread() []string {
	if t.Layout == nil {
		return nil
	}
	var names []string
	for i := range t.Logical.Global {
		if name := t.Logical.Global[i].Name; t.indexes.sharded(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// logicalSchema returns a physical table's schema as the client knows it.
func (s *stored) logicalSchema(physical *schema.Table) *schema.Table {
	out := *physical
	out.Name = s.name
	out.ARN = s.LogicalARN(out.ARN)
	if s.hidesKey() {
		out.Key = schema.Key{Hash: []string{s.hash.Name}, Range: physical.Key.Range}
	}
	out.Definitions = nil
	for _, d := range physical.Definitions {
		switch {
		case d.Name == PartitionKey:
			out.Definitions = append(out.Definitions, s.hash)
		case strings.HasPrefix(d.Name, HiddenPrefix), s.hidesKey() && d.Name == s.hash.Name:
		default:
			out.Definitions = append(out.Definitions, d)
		}
	}
	out.Local = slices.Clone(physical.Local)
	for i := range out.Local {
		out.Local[i].ARN = s.LogicalARN(out.Local[i].ARN)
		if s.hidesKey() {
			out.Local[i].Key.Hash = out.Key.Hash
			out.Local[i].Projection = logicalProjection(out.Local[i].Projection, s.hash.Name)
		}
	}
	out.Global = slices.Clone(physical.Global)
	for i := range out.Global {
		ix := &out.Global[i]
		ix.ARN = s.LogicalARN(ix.ARN)
		switch sharded := s.indexes.sharded(ix.Name) != nil; {
		case sharded && len(ix.Key.Hash) > 1:
			ix.Key.Hash = ix.Key.Hash[1:]
		case sharded:
			ix.Key = schema.Key{Hash: ix.Key.Range}
		}
		if s.hidesKey() {
			ix.Projection = logicalProjection(ix.Projection, s.hash.Name)
		}
	}
	return &out
}
