// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"sync"

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

// virtualPartition is a partition of a system table. Its rows are in clustering order.
type virtualPartition struct {
	token int64
	key   []byte
	rows  []virtualRow
}

// virtualRow is a row of a system table. The function row builds the row when a read needs it.
type virtualRow struct {
	clustering [][]byte
	row        func() storage.Row
}

// virtualPartitions returns the contents of a system table, in token order. If only is not nil, the
// result contains at least this partition. The caller must not change the result.
func (e *Engine) virtualPartitions(s *state, t *table, only []byte) ([]virtualPartition, error) {
	if t.Keyspace == "system_schema" {
		list, _ := s.listed.LoadOrStore(t.Name, sync.OnceValue(func() []virtualPartition { return s.list(t) }))
		return list.(func() []virtualPartition)(), nil
	}
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
		row := t.virtualRow(r)
		p.rows = append(p.rows, virtualRow{row.Clustering, func() storage.Row { return row }})
	}
	partitions := make([]virtualPartition, len(order))
	for i, p := range order {
		slices.SortFunc(p.rows, func(a, b virtualRow) int {
			return analysis.CompareClustering(t.Table, a.clustering, b.clustering)
		})
		partitions[i] = *p
	}
	sortPartitions(partitions)
	return partitions, nil
}

// list returns the contents of a table of system_schema. They are listed once for a state: a table
// can have so many columns that to list them for each page of a read would take far longer than
// the pages. Their rows are made when they are read.
func (s *state) list(t *table) []virtualPartition {
	var partitions []virtualPartition
	for name, ks := range s.schema.Keyspaces {
		p := virtualPartition{key: []byte(name), token: t.token([]byte(name))}
		for _, entry := range system.Entries(t.Name, ks) {
			clustering := make([][]byte, len(entry.Clustering))
			for i, text := range entry.Clustering {
				clustering[i] = []byte(text)
			}
			p.rows = append(p.rows, virtualRow{clustering, func() storage.Row { return t.virtualRow(entry.Row()) }})
		}
		if len(p.rows) > 0 {
			partitions = append(partitions, p)
		}
	}
	sortPartitions(partitions)
	return partitions
}

func sortPartitions(all []virtualPartition) {
	slices.SortFunc(all, func(a, b virtualPartition) int {
		if c := cmp.Compare(a.token, b.token); c != 0 {
			return c
		}
		return bytes.Compare(a.key, b.key)
	})
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
	row        storage.Row // the current one
	err        error
}

// keep leaves out the partitions that are not wanted.
func (v *virtualRows) keep(wanted func(p *virtualPartition) bool) {
	var kept []virtualPartition // others share the whole list
	for i := range v.partitions {
		if p := &v.partitions[i]; wanted(p) {
			kept = append(kept, *p)
		}
	}
	v.partitions = kept
}

func (v *virtualRows) NextPartition() bool {
	if v.current != nil {
		v.after = nil
	}
	for len(v.partitions) > 0 {
		v.current = &v.partitions[0]
		v.partitions = v.partitions[1:]
		if v.next = v.from(v.begin()); v.next < len(v.current.rows) {
			v.next-- // Next moves to it
			return true
		}
		v.after = nil
	}
	return false
}

// at returns a row of the current partition by its place in the order of the read.
func (v *virtualRows) at(i int) *virtualRow {
	if v.reverse {
		i = len(v.current.rows) - 1 - i
	}
	return &v.current.rows[i]
}

// begin returns the place of the first row of the current partition that is after the position at
// which the read continues.
func (v *virtualRows) begin() int {
	if v.after == nil {
		return 0
	}
	return sort.Search(len(v.current.rows), func(i int) bool {
		c := analysis.CompareClustering(v.table.Table, v.at(i).clustering, v.after)
		return c > 0 && !v.reverse || c < 0 && v.reverse
	})
}

// from returns the place of the first row from i on that the read wants.
func (v *virtualRows) from(i int) int {
	for i < len(v.current.rows) && !v.slices.Contains(v.table.Table, v.at(i).clustering) {
		i++
	}
	return i
}

func (v *virtualRows) Partition() (int64, []byte) { return v.current.token, v.current.key }
func (v *virtualRows) Static() *storage.Row       { return nil }

func (v *virtualRows) Next() bool {
	if v.next = v.from(v.next + 1); v.next >= len(v.current.rows) {
		return false
	}
	v.row = v.at(v.next).row()
	return true
}

func (v *virtualRows) Row() *storage.Row { return &v.row }
func (v *virtualRows) Err() error        { return v.err }
func (v *virtualRows) Close() error      { return nil }
