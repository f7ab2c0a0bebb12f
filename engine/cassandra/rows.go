// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// rows is the source of a read: storage's iterator, or the rows of a virtual table.
type rows interface {
	NextPartition() bool
	Partition() (token int64, key []byte)
	Static() *storage.Row
	Next() bool
	Row() *storage.Row
	Err() error
	Close() error
}

var _ rows = (*storage.Iterator)(nil)

// virtualPartition is a partition of a system table.
type virtualPartition struct {
	token int64
	key   []byte
	rows  []storage.Row
}

// virtualPartitions returns the contents of a system table, in token order. If only is not nil, the
// result contains at least this partition.
func (e *Engine) virtualPartitions(s *state, t *table, only []byte) ([]virtualPartition, error) {
	all, err := e.systemRows(s, t, only)
	if err != nil {
		return nil, err
	}
	byKey := map[string]*virtualPartition{}
	var order []*virtualPartition
	for _, r := range all {
		components := make([][]byte, len(t.PartitionKey))
		for i, c := range t.PartitionKey {
			components[i] = r[c.Name]
		}
		key := partitioner.AppendComposite(nil, components...)
		p := byKey[string(key)]
		if p == nil {
			p = &virtualPartition{key: key, token: t.token(key)}
			byKey[string(key)] = p
			order = append(order, p)
		}
		p.rows = append(p.rows, t.virtualRow(r))
	}
	slices.SortFunc(order, func(a, b *virtualPartition) int {
		if c := cmp.Compare(a.token, b.token); c != 0 {
			return c
		}
		return bytes.Compare(a.key, b.key)
	})
	partitions := make([]virtualPartition, len(order))
	for i, p := range order {
		slices.SortFunc(p.rows, func(a, b storage.Row) int {
			return analysis.CompareClustering(t.Table, a.Clustering, b.Clustering)
		})
		partitions[i] = *p
	}
	return partitions, nil
}

// token returns the token of a partition in the table's order.
func (t *table) token(key []byte) int64 {
	if t.store == nil && system.Virtual(t.Keyspace) { // they are in the order of their keys
		return 0
	}
	return partitioner.Murmur3(key)
}

func (t *table) virtualRow(r system.Row) storage.Row {
	row := storage.Row{HasMarker: true}
	for _, c := range t.Clustering {
		row.Clustering = append(row.Clustering, notNil(r[c.Name]))
	}
	for _, c := range t.Regulars {
		v := r[c.Name]
		if v == nil {
			continue
		}
		if !c.Type.Multicell() {
			row.Cells = append(row.Cells, storage.Cell{Column: t.ids.of[c.Name], Value: v})
			continue
		}
		for p := c.Type.Parts(v); p.Next(); { // a set of text
			row.Cells = append(row.Cells, storage.Cell{Column: t.ids.of[c.Name], Path: p.Part()})
		}
	}
	slices.SortStableFunc(row.Cells, func(a, b storage.Cell) int { return cmp.Compare(a.Column, b.Column) })
	return row
}

// virtualRows iterates over the rows of a system table.
type virtualRows struct {
	table      *table
	partitions []virtualPartition
	slices     *analysis.Slices
	reverse    bool
	after      [][]byte // the clustering to continue after in the first partition
	current    *virtualPartition
	next       int
	err        error
}

func (v *virtualRows) NextPartition() bool {
	if v.current != nil {
		v.after = nil
	}
	for len(v.partitions) > 0 {
		v.current = &v.partitions[0]
		v.partitions = v.partitions[1:]
		v.next = -1
		if v.peek() {
			return true
		}
		v.after = nil
	}
	return false
}

// peek reports whether the current partition has a row that the read wants.
func (v *virtualRows) peek() bool {
	for i := range v.current.rows {
		if v.wanted(&v.current.rows[i]) {
			return true
		}
	}
	return false
}

func (v *virtualRows) wanted(r *storage.Row) bool {
	if v.after != nil {
		c := analysis.CompareClustering(v.table.Table, r.Clustering, v.after)
		if c == 0 || c < 0 != v.reverse {
			return false
		}
	}
	return v.slices.Contains(v.table.Table, r.Clustering)
}

func (v *virtualRows) Partition() (int64, []byte) { return v.current.token, v.current.key }
func (v *virtualRows) Static() *storage.Row       { return nil }

func (v *virtualRows) Next() bool {
	for v.next++; v.next < len(v.current.rows); v.next++ {
		if v.wanted(v.Row()) {
			return true
		}
	}
	return false
}

func (v *virtualRows) Row() *storage.Row {
	if v.reverse {
		return &v.current.rows[len(v.current.rows)-1-v.next]
	}
	return &v.current.rows[v.next]
}

func (v *virtualRows) Err() error   { return v.err }
func (v *virtualRows) Close() error { return nil }
