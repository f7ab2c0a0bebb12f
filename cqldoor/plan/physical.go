// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// physical is the table of the store that has the rows: its name and columns, and the statements on it.
type physical struct {
	positions
	physicalName string   // "": the logical table's name
	physicalID   [16]byte // zero: the logical table's id
}

// PhysicalID returns the id of the physical table. The directory of buckets has the buckets of a
// table of strategy time under this id.
func (t *physical) PhysicalID() [16]byte {
	if t.physicalID != ([16]byte{}) {
		return t.physicalID
	}
	return t.ID
}

// Physical returns the physical table's name.
func (t *physical) Physical() syntax.Name {
	return syntax.Name{Keyspace: t.Keyspace, Name: cmp.Or(t.physicalName, t.Name)}
}

// Renamed reports whether the physical table's name differs from the logical one. If so, the
// store's responses name the physical table, and the door does not pass them on unchanged.
func (t *physical) Renamed() bool { return t.physicalName != "" && t.physicalName != t.Name }

// keyColumns returns the column names of the physical partition key. They are the columns of the
// logical partition key and, if the table has shards, the shard column.
func (t *physical) keyColumns() []string {
	var out []string
	for _, c := range t.PartitionKey {
		out = append(out, c.Name)
	}
	if t.Plain() {
		return slices.Clip(out)
	}
	return slices.Clip(append(out, t.Layout.Column))
}

// partition returns the relations that bind the partition key and the shard.
func (t *physical) partition() []syntax.Relation {
	var out []syntax.Relation
	for i, c := range t.PartitionKey {
		out = append(out, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: marker(Key, i)})
	}
	return t.inShard(out)
}

// inShard returns a WHERE with the shard bound, if the table has shards.
func (t *physical) inShard(where []syntax.Relation) []syntax.Relation {
	if t.Plain() {
		return where
	}
	return append(where, syntax.Relation{Columns: []string{t.Layout.Column}, Op: syntax.OpEQ, Value: marker(Shard, 0)})
}

// inShards returns the relations that select some shards of a logical partition.
func (t *physical) inShards() (where []syntax.Relation) {
	for i, c := range t.PartitionKey {
		where = append(where, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: marker(Key, i)})
	}
	if !t.Plain() {
		where = append(where, syntax.Relation{Columns: []string{t.Layout.Column}, Op: syntax.OpIn, Value: marker(ShardList, 0)})
	}
	return where
}

// rowOr returns the relations that bind a row, or the whole partition of one shard.
func (t *physical) rowOr(row bool) []syntax.Relation {
	where := t.partition()
	if row {
		where = append(where, t.relations(shape{prefix: len(t.Clustering)})...)
	}
	return where
}

// insertShard adds the shard to the columns of an INSERT if the table has shards.
func (t *physical) insertShard(s *syntax.Insert) {
	if !t.Plain() {
		s.Columns = append(s.Columns, t.Layout.Column)
		s.Values = append(s.Values, marker(Shard, 0))
	}
}

// whole prints a statement whose Cluster slots form a whole clustering key.
func (t *physical) whole(s syntax.Statement) (*Statement, error) {
	st, err := newStatement(s)
	if err == nil {
		st.columns = shape{prefix: len(t.Clustering)}.columns()
	}
	return st, err
}

// rows returns a WHERE that binds the partition key to Key slots, in one shard.
func (t *physical) rows(where []syntax.Relation) []syntax.Relation {
	out := t.partition()
	for _, r := range where {
		if !r.Token && t.Columns[r.Columns[0]].Kind != schema.PartitionKey {
			out = append(out, r)
		}
	}
	return out
}

// physically returns a client's SELECT, on the physical table.
func (t *physical) physically(stmt *syntax.Select, a *analysis.Select) *syntax.Select {
	stmt = clientMarkers(stmt)
	stmt.From = t.Physical()
	if a.Wildcard {
		stmt.Selectors = nil
		for _, c := range t.All() {
			stmt.Selectors = append(stmt.Selectors, column(c.Name))
		}
	}
	return stmt
}

// pinned returns a WHERE that binds the shard, with the expressions that decide the shard pinned.
func (t *physical) pinned(where []syntax.Relation) []syntax.Relation {
	var out []syntax.Relation
	for _, r := range where {
		tuple, written := r.Value.(*syntax.Tuple)
		switch {
		case r.Op != syntax.OpEQ || r.Token || r.Key != nil:
			out = append(out, r)
		case r.Tuple && written && len(tuple.Elems) == len(r.Columns):
			for i, c := range r.Columns {
				out = append(out, syntax.Relation{Columns: []string{c}, Op: syntax.OpEQ, Value: t.pin(c, tuple.Elems[i])})
			}
		case r.Tuple:
			out = append(out, r)
		default:
			r.Value = t.pin(r.Columns[0], r.Value)
			out = append(out, r)
		}
	}
	return t.inShard(out)
}

// pin replaces an expression that decides the shard by a value that the door computes. A literal
// or a call is then evaluated only once, by the door that hashes it. A plain marker stays.
func (t *physical) pin(column string, e syntax.Expr) syntax.Expr {
	if _, marker := e.(*syntax.Bind); marker || !rule.On(rule.HashedIsSent) {
		return e
	}
	for i, at := range t.by {
		if t.Clustering[at].Name == column {
			return marker(By, i)
		}
	}
	for i, c := range t.PartitionKey {
		if c.Name == column {
			return marker(Key, i)
		}
	}
	return e
}

// grouped returns a GROUP BY for the physical table. A store groups only by its whole partition
// key, so the shard follows the logical key.
func (t *physical) grouped(by []syntax.Expr) []syntax.Expr {
	if len(by) == 0 {
		return by
	}
	last, ok := by[len(by)-1].(*syntax.Column)
	if !ok || last.Name != t.PartitionKey[len(t.PartitionKey)-1].Name {
		return by
	}
	if t.Plain() {
		return by
	}
	return append(slices.Clone(by), &syntax.Column{Name: t.Layout.Column})
}

// presence prints the statement that says which of some shards of a partition have any rows.
func (t *physical) presence(selectors []syntax.Selector) (*Statement, error) {
	return newStatement(&syntax.Select{Distinct: true, From: t.Physical(), Where: t.inShards(),
		Selectors: append(selectors[:len(selectors):len(selectors)], column(t.keyColumns()[len(t.keyColumns())-1]))})
}

// Exists returns a read that tells whether a logical partition has any rows.
func (t *physical) Exists(key [][]byte) (Fetch, error) {
	st, err := t.presence(nil)
	if err != nil {
		return Fetch{}, err
	}
	return fetchKey(st, nil, key, t.Shards(key)), nil
}

// firstKeys prints the statement that reads the first clustering keys of some shards of a partition.
func (t *physical) firstKeys() (*Statement, error) {
	s := &syntax.Select{From: t.Physical(), Where: t.inShards(), PerPartitionLimit: marker(Limit, 0)}
	for _, c := range t.Clustering {
		s.Selectors = append(s.Selectors, column(c.Name))
	}
	s.Selectors = append(s.Selectors, column(t.Layout.Column))
	return newStatement(s)
}

// Sum returns a checksum of the table's layout, and of the physical table if it is not the first one. So a
// scan does not go on in the second table of another attempt to change the layout.
//
// A scan continues when a key gets another shard under strategy rollover. So the number of shards does
// not change the checksum. Nor do options on which the shard of a row that is there does not depend.
func (t *physical) Sum() uint32 {
	l := *t.Layout
	l.Keep, l.Fill, l.Max = 0, shard.Fill{}, 0
	text := l.String()
	if t.Layout.Keys.Len() > 0 {
		text += fmt.Sprint(t.Layout.Keys.Texts()) // in the order of the keys
	}
	text += string(bytes.TrimRight(t.physicalID[:], "\x00"))
	return uint32(partitioner.Murmur3([]byte(text)))
}
