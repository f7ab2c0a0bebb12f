// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// These are the sizes in bytes at which Cassandra warns of a batch of several partitions, and
// refuses it (batch_size_warn_threshold, batch_size_fail_threshold).
const (
	largeBatch = 5 << 10
	longBatch  = 50 << 10
)

// These are what Cassandra 5.0 counts of a batch in addition to its values.
const (
	ofPartition = 29 // and of its static row
	ofRow       = 21
	ofCell      = 20
	ofElements  = 12 // of a collection, whatever is written to it
	ofRange     = 16
	ofCounter   = 36 // a counter's value
	ofListKey   = 16
)

// checkSize refuses a batch that is too large, and warns of a large one.
func (w *writing) checkSize() (warning string, err error) {
	keys := map[string]bool{}
	for i := range w.writes {
		b := &w.writes[i]
		for _, key := range b.Keys.All() {
			if keys[b.Table.Keyspace+"\x00"+string(partitioner.AppendComposite(nil, key...))] = true; len(keys) > 1 {
				if w.small() {
					return "", nil
				}
				size := w.size()
				switch {
				case size > longBatch:
					return "", wire.Invalidf("Batch too large")
				case size > largeBatch:
					return fmt.Sprintf("Batch for [%s] is of size %d, exceeding specified threshold of %d by %d.",
						strings.Join(w.tables(), ", "), size, largeBatch, size-largeBatch), nil
				}
				return "", nil
			}
		}
	}
	return "", nil
}

// small says whether the writes are certainly small, without looking for parts that are written
// twice.
func (w *writing) small() bool {
	n := 0
	for i := range w.writes {
		b := &w.writes[i]
		if b.Keys.Len() != 1 || b.Rows.Len() > 1 || b.Scope == analysis.ScopeDeleteSlices {
			return false
		}
		if n += ofPartition + ofRow; b.Rows.Len() > 0 {
			n += size(b.Rows.At(0))
		}
		for j := range b.Mutations {
			m := &b.Mutations[j]
			n += ofElements + ofCell + ofCounter + len(m.Value)
			for c := range m.Cells.All() {
				n += ofCell + len(c.Path) + len(c.Value)
			}
		}
	}
	return n <= largeBatch
}

// tables returns the names of the tables that are written to.
func (w *writing) tables() []string {
	names := map[string]bool{}
	for _, b := range w.writes {
		names[b.Table.Keyspace+"."+b.Table.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// size returns how many bytes Cassandra counts for the writes, or more than longBatch. A part
// that is written twice counts once.
func (w *writing) size() int {
	parts := w.parts()
	if parts.least > longBatch {
		return parts.least
	}
	total := 0
	for _, n := range parts.size {
		total += n
	}
	return total
}

// batchParts are the parts of a batch: partitions, rows, and their content.
type batchParts struct {
	size  map[string]int // size of each part, by place
	least int            // lower bound of the total, whatever else is written
}

// put adds or replaces a part of n bytes. least is its size without its value. put reports
// whether the batch may still be short enough.
func (p *batchParts) put(at string, n, least int) bool {
	if _, ok := p.size[at]; !ok {
		p.least += least
	}
	p.size[at] = n
	return p.least <= longBatch
}

// parts returns the parts of the writes. It stops when they are certainly too many, because a
// statement may write as many as the product of its lists.
func (w *writing) parts() *batchParts {
	parts := &batchParts{size: map[string]int{}}
	for i := range w.writes {
		b := &w.writes[i]
		for _, key := range b.Keys.All() {
			at := b.Table.Keyspace + "." + b.Table.Name + "\x00" + string(partitioner.AppendComposite(nil, key...))
			if !parts.put(at, ofPartition, ofPartition) || !b.addParts(parts, at) {
				return parts
			}
		}
	}
	return parts
}

// addParts adds what is written to a partition. It returns whether the batch may still be short
// enough.
func (b *boundWrite) addParts(parts *batchParts, at string) bool {
	switch b.Scope {
	case analysis.ScopeDeletePartition:
	case analysis.ScopeDeleteSlices:
		for s := range b.Slices.All() {
			if !parts.put(fmt.Sprintf("%s\x00range %v", at, s), ofRange+size(s.Start.Prefix)+size(s.End.Prefix), ofRange) {
				return false
			}
		}
	default:
		b.addMutations(parts, at+"\x00static", schema.Static)
		if b.Scope == analysis.ScopeStatic {
			break
		}
		for _, row := range b.Rows.All() {
			of := at + "\x00row" + string(partitioner.AppendComposite(nil, append(slices.Clone(row), nil)...))
			if b.addMutations(parts, of, schema.Regular) || b.Kind == analysis.Insert || b.Scope == analysis.ScopeDeleteRows {
				parts.put(of, ofRow+size(row), ofRow)
			}
			if parts.least > longBatch {
				return false
			}
		}
	}
	return parts.least <= longBatch
}

// addMutations adds what is written to the static or regular columns of a row. It returns whether
// anything is.
func (b *boundWrite) addMutations(parts *batchParts, row string, kind schema.ColumnKind) (any bool) {
	for i := range b.Mutations {
		m := &b.Mutations[i]
		if m.Column.Kind != kind {
			continue
		}
		any = true
		at := row + "\x00" + m.Column.Name
		n := 0
		if m.Column.Type.Multicell() {
			n = ofElements
		}
		switch m.Kind {
		case analysis.PutCell, analysis.AddToCell:
			n += ofCell + len(m.Value)
		case analysis.AddCounter:
			n += ofCell + ofCounter
		case analysis.SetIndex, analysis.DeleteIndex:
			parts.put(fmt.Sprintf("%s\x00%d", at, m.Index), ofCell+ofListKey+len(m.Value), ofCell)
		case analysis.PutCells:
			for c := range m.Cells.All() {
				if !parts.put(at+"\x00"+string(c.Path), ofCell+len(c.Path)+len(c.Value), ofCell) {
					return any
				}
			}
		}
		parts.put(at, n, 0)
	}
	return any
}
