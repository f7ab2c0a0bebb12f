// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Batch holds mutations of any partitions and tables that are applied together. It is a cursor:
// Partition selects a partition, Row and Static select a row in it, and the other methods write
// there. Several mutations of one row are reconciled as usual. Arguments are copied. Commit
// reports a malformed one.
//
// A Batch is for one goroutine. After Commit it is empty and can be reused.
type Batch struct {
	db     *DB
	pebble *pebble.Batch
	err    error // the first error

	table  *Table
	refs   []partRef // partitions written to; the last one is selected
	prefix []byte    // the selected partition's keys
	key    []byte    // the selected row's key; empty: no row is selected
	static bool
	row    rowData // content for the selected row
	sorted bool    // row.cells are sorted
	adds   []add
	tables []*tableState // tables with deletions of partitions or slices
	marks  []*tableState // tables that get data which the sweep will remove later

	arena []byte // backing memory of row and adds
	value []byte // encoding
}

// add is an addition to a counter, done at commit.
type add struct {
	table     *Table
	ref       partRef
	prefix    []byte
	key       []byte
	originals []original // of the row
	column    uint32
	delta     int64
	timestamp int64
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// NewBatch makes a batch. Release returns its memory for reuse.
func (db *DB) NewBatch() *Batch {
	b := batches.Get().(*Batch)
	b.db = db
	b.row.reset()
	b.sorted = true
	return b
}

// Release ends the use of the batch, committed or not.
func (b *Batch) Release() {
	b.reset()
	b.db = nil
	if cap(b.arena)+cap(b.value) <= 1<<20 {
		batches.Put(b)
	}
}

func (b *Batch) reset() {
	if b.pebble != nil {
		b.pebble.Close() // it was not applied, or is done: no error is possible
		b.pebble = nil
	}
	clear(b.refs)
	clear(b.adds)
	clear(b.tables)
	clear(b.marks)
	b.refs, b.adds, b.tables, b.marks = b.refs[:0], b.adds[:0], b.tables[:0], b.marks[:0]
	b.row.reset()
	b.sorted = true
	b.err, b.table, b.static = nil, nil, false
	b.prefix, b.key, b.arena = b.prefix[:0], b.key[:0], b.arena[:0]
}

func (b *Batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// out returns the Pebble batch.
func (b *Batch) out() *pebble.Batch {
	if b.pebble == nil {
		b.pebble = b.db.pebble.NewBatch()
	}
	return b.pebble
}

// keep copies p into the arena. If the arena moves, earlier copies stay valid: the old array is
// not written again.
func (b *Batch) keep(p []byte) []byte {
	n := len(b.arena)
	b.arena = append(b.arena, p...)
	return b.arena[n:len(b.arena):len(b.arena)]
}

// Partition selects a partition.
func (b *Batch) Partition(t *Table, token int64, key []byte) {
	b.flush()
	b.table = t
	b.prefix = appendPartition(b.prefix[:0], &t.spec.ID, token, key)
	b.refs = append(b.refs, partRef{table: t.state, token: token, stripe: stripeOf(&t.spec.ID, token), minimum: math.MaxInt64})
}

// selected reports whether a partition is selected. If none is, it notes an error.
func (b *Batch) selected() bool {
	if b.table == nil {
		b.fail(fmt.Errorf("no partition selected: %w", ErrMalformed))
	}
	return b.table != nil && b.err == nil
}

// DeletePartition deletes the partition, including its static row.
func (b *Batch) DeletePartition(d Deletion) {
	if !b.selected() {
		return
	}
	if len(b.table.spec.Clustering) == 0 {
		// There is only one row, and no static row.
		b.Row(nil)
		b.DeleteRow(d)
		return
	}
	b.writeDeletions(&deletions{partition: d})
}

// DeleteSlice deletes the rows of a slice (a range tombstone).
func (b *Batch) DeleteSlice(s Slice, d Deletion) {
	if !b.selected() {
		return
	}
	arena, lo, hi, err := b.table.appendSlice(b.arena, &s)
	b.arena = arena
	if err != nil {
		b.fail(err)
		return
	}
	if bytes.Compare(lo, hi) < 0 {
		b.writeDeletions(&deletions{partition: Deletion{Timestamp: noTimestamp}, spans: []span{{lo, hi, d}}})
	}
}

func (b *Batch) writeDeletions(d *deletions) {
	b.flush()
	b.value = d.append(b.value[:0])
	b.key = append(append(b.key[:0], b.prefix...), kindDeletions)
	if err := b.out().Merge(b.key, b.value, nil); err != nil {
		b.fail(err)
	}
	b.key = b.key[:0]
	b.garbage(b.table.state)
	if !slices.Contains(b.tables, b.table.state) {
		b.tables = append(b.tables, b.table.state)
	}
}

// Row selects a row by its full clustering, with one value for each clustering column.
func (b *Batch) Row(clustering [][]byte) {
	b.flush()
	if !b.selected() {
		return
	}
	t := b.table
	if len(clustering) != len(t.spec.Clustering) {
		b.fail(fmt.Errorf("%d clustering values for %d columns: %w", len(clustering), len(t.spec.Clustering), ErrMalformed))
		return
	}
	b.static = false
	b.key = append(append(b.key[:0], b.prefix...), kindRow)
	for i, v := range clustering {
		c := &t.spec.Clustering[i]
		from := len(b.key)
		var err error
		if b.key, err = appendClustering(b.key, c, v); err != nil {
			b.fail(err)
			return
		}
		if c.injective {
			continue
		}
		n := len(b.arena)
		arena, canonical, _, err := decodeClustering(b.arena, c, b.key[from:])
		if err != nil {
			b.fail(err)
			return
		}
		same := bytes.Equal(canonical, v)
		b.arena = arena[:n]
		if !same {
			b.row.originals = append(b.row.originals, original{i, b.keep(v)})
		}
	}
}

// Static selects the static row.
func (b *Batch) Static() {
	b.flush()
	if !b.selected() {
		return
	}
	b.static = true
	b.key = append(append(b.key[:0], b.prefix...), kindStatic)
}

// inRow reports whether a row is selected. If none is, it notes an error.
func (b *Batch) inRow() bool {
	if len(b.key) == 0 {
		b.fail(fmt.Errorf("no row selected: %w", ErrMalformed))
	}
	return b.err == nil
}

// Marker makes the row exist (INSERT).
func (b *Batch) Marker(l Liveness) {
	if b.inRow() && (!b.row.hasMarker || l.supersedes(&b.row.marker)) {
		b.row.hasMarker, b.row.marker = true, l
	}
}

// DeleteRow deletes the row: its marker and all its cells.
func (b *Batch) DeleteRow(d Deletion) {
	if b.inRow() && d.supersedes(b.row.deletion) {
		b.row.deletion = d
	}
}

// Set writes a cell.
func (b *Batch) Set(c Cell) {
	kind, time := uint8(cellLive), int64(0)
	if c.TTL != 0 {
		kind, time = cellExpiring, c.Expires
	}
	b.cell(c.Column, c.Path, cellData{kind: kind, timestamp: c.Timestamp, ttl: c.TTL, time: time, value: c.Value})
}

// Unset deletes a cell; path is nil for atomic columns.
func (b *Batch) Unset(column uint32, path []byte, d Deletion) {
	b.cell(column, path, cellData{kind: cellDeleted, timestamp: d.Timestamp, time: d.Time})
}

// DeleteComplex deletes all elements of a collection or UDT. (An overwrite is a DeleteComplex with
// a timestamp one less than that of the new elements.)
func (b *Batch) DeleteComplex(column uint32, d Deletion) {
	if col := b.cellColumn(column); col != nil && col.path == nil {
		b.fail(fmt.Errorf("column %d has no elements: %w", column, ErrMalformed))
		return
	}
	b.put(cellData{column: column, kind: cellComplex, timestamp: d.Timestamp, time: d.Time})
}

// Add adds to a counter. Commit reads the counter's value, under its
// partition's lock, and writes the sum.
func (b *Batch) Add(column uint32, delta, timestamp int64) {
	col := b.cellColumn(column)
	if col == nil {
		return
	}
	if !col.counter {
		b.fail(fmt.Errorf("column %d is no counter: %w", column, ErrMalformed))
		return
	}
	ref := &b.refs[len(b.refs)-1]
	ref.minimum = min(ref.minimum, timestamp)
	b.adds = append(b.adds, add{
		table: b.table, ref: *ref, prefix: b.keep(b.prefix), key: b.keep(b.key),
		originals: slices.Clone(b.row.originals),
		column:    column, delta: delta, timestamp: timestamp,
	})
}

// cellColumn returns the column for a cell of the selected row, or nil after an error.
func (b *Batch) cellColumn(column uint32) *tableColumn {
	if !b.inRow() {
		return nil
	}
	col := b.table.column(column)
	if col == nil || col.static != b.static {
		b.fail(fmt.Errorf("column %d is not of this row: %w", column, ErrMalformed))
		return nil
	}
	return col
}

// cell completes the cell of a column or element.
func (b *Batch) cell(column uint32, path []byte, c cellData) {
	col := b.cellColumn(column)
	if col == nil {
		return
	}
	if (col.path != nil) != (path != nil) {
		b.fail(fmt.Errorf("column %d: a path is for elements of collections and UDTs: %w", column, ErrMalformed))
		return
	}
	c.column = column
	c.value = b.keep(c.value)
	if path != nil {
		c.kind |= cellPath
		n := len(b.arena)
		arena, err := appendOrdered(b.arena, col.path, path)
		if err != nil {
			b.fail(err)
			return
		}
		b.arena = arena
		c.path = arena[n:len(arena):len(arena)]
		if !col.pathInjective {
			n := len(b.arena)
			arena, canonical, _, err := decodeOrdered(b.arena, col.path, c.path)
			if err != nil {
				b.fail(err)
				return
			}
			same := bytes.Equal(canonical, path)
			b.arena = arena[:n]
			if !same {
				c.original = b.keep(path)
			}
		}
	}
	b.put(c)
}

func (b *Batch) put(c cellData) {
	if b.err != nil {
		return
	}
	if n := len(b.row.cells); n > 0 && b.sorted {
		b.sorted = compareCells(&b.row.cells[n-1], &c) < 0
	}
	b.row.cells = append(b.row.cells, c)
}

// flush writes the selected row and deselects it.
func (b *Batch) flush() {
	if len(b.key) == 0 {
		return
	}
	if b.err == nil && !b.row.empty() {
		b.row.normalize(b.sorted)
		ref := &b.refs[len(b.refs)-1]
		ref.minimum = min(ref.minimum, b.row.minimum())
		b.value = b.row.append(b.value[:0])
		if err := b.out().Merge(b.key, b.value, nil); err != nil {
			b.fail(err)
		}
		if b.value[0]&rowPurgeable != 0 {
			b.garbage(b.table.state)
		}
	}
	b.key = b.key[:0]
	b.row.reset()
	b.sorted = true
	if len(b.adds) == 0 {
		b.arena = b.arena[:0]
	}
}

// garbage notes that the table gets data that the sweep will have to remove later.
func (b *Batch) garbage(s *tableState) {
	if !slices.Contains(b.marks, s) {
		b.marks = append(b.marks, s)
	}
}

// normalize sorts cells and removes those that are shadowed within the row.
func (r *rowData) normalize(sorted bool) {
	if !sorted {
		slices.SortStableFunc(r.cells, func(a, b cellData) int { return compareCells(&a, &b) })
		kept := r.cells[:1]
		for i := 1; i < len(r.cells); i++ {
			c, last := &r.cells[i], &kept[len(kept)-1]
			if compareCells(last, c) != 0 {
				kept = append(kept, *c)
			} else if c.supersedes(last) {
				*last = *c
			}
		}
		r.cells = kept
	}
	if floor := r.deletion.Timestamp; floor != noTimestamp {
		if r.hasMarker && r.marker.Timestamp <= floor {
			r.hasMarker, r.marker = false, Liveness{}
		}
		r.cells = slices.DeleteFunc(r.cells, func(c cellData) bool { return c.timestamp <= floor })
	}
	r.cells = dropComplex(r.cells)
}

// minimum returns the lowest timestamp of all content that may be shadowed from outside the row.
func (r *rowData) minimum() int64 {
	low := int64(math.MaxInt64)
	if r.hasMarker {
		low = r.marker.Timestamp
	}
	for i := range r.cells {
		low = min(low, r.cells[i].timestamp)
	}
	return low
}

// SetMeta writes a metadata value; nil removes it.
func (b *Batch) SetMeta(key string, value []byte) {
	k := append([]byte{regionMeta}, key...)
	var err error
	if value == nil {
		err = b.out().Delete(k, nil)
	} else {
		err = b.out().Set(k, value, nil)
	}
	if err != nil {
		b.fail(err)
	}
}

// Size returns how many bytes the batch holds, about.
func (b *Batch) Size() int {
	const ofCell = 120
	n := len(b.arena) + len(b.row.cells)*ofCell
	if b.pebble != nil {
		n += b.pebble.Len()
	}
	return n
}

// Empty reports whether nothing was written to the batch.
func (b *Batch) Empty() bool {
	return (b.pebble == nil || b.pebble.Empty()) && b.row.empty() && len(b.adds) == 0 && b.err == nil
}

// Commit applies the batch. If it returns nil, the batch is durable (except with
// Options.Periodic). If it returns an error, the batch is not applied; if the disk failed, it may
// or may not be applied.
func (b *Batch) Commit() error {
	defer b.reset()
	if err := b.finish(); err != nil {
		return err
	}
	if b.Empty() {
		return nil
	}
	if err := b.admit(); err != nil {
		return err
	}
	sortRefs(b.refs)
	exclusive := len(b.adds) > 0
	b.db.stripes.lockRefs(b.refs, exclusive)
	err := b.apply()
	b.db.stripes.unlockRefs(b.refs, exclusive)
	return b.settle(err)
}

// admit refuses the batch if the disk has no room for it. It admits a batch of metadata only,
// such as that of DROP TABLE, which makes room.
func (b *Batch) admit() error {
	size := 0
	if b.pebble != nil {
		size = b.pebble.Len()
	}
	return b.db.disk.Admit(size, len(b.refs) == 0)
}

// finish completes the batch's content.
func (b *Batch) finish() error {
	b.flush()
	if b.err != nil {
		return fmt.Errorf("batch: %w", b.err)
	}
	return nil
}

// apply makes the batch visible. The caller has locked its refs.
func (b *Batch) apply() error {
	if err := b.applyAdds(); err != nil {
		return err
	}
	if b.pebble == nil {
		return nil
	}
	for _, s := range b.marks {
		s.garbage.Store(true)
		if s.marked.Load() {
			continue
		}
		if err := b.out().Set(garbageKey(&s.id), nil, nil); err != nil {
			return err
		}
	}
	for _, s := range b.tables {
		s.deletions.Store(true)
		if !s.stored.Load() {
			if err := b.out().Set(deletionsKey(&s.id), nil, nil); err != nil {
				return err
			}
		}
	}
	for _, s := range b.tables {
		s.started.Add(1)
	}
	b.db.stripes.markSwept(b.refs)
	var err error
	if b.db.options.Periodic {
		err = b.db.pebble.Apply(b.pebble, pebble.NoSync)
	} else {
		b.db.stripes.unsyncedRefs(b.refs, 1)
		if err = b.db.pebble.ApplyNoSyncWait(b.pebble, pebble.Sync); err != nil {
			b.db.stripes.unsyncedRefs(b.refs, -1)
		}
	}
	for _, s := range b.tables {
		s.finished.Add(1)
		if err == nil {
			s.stored.Store(true)
		}
	}
	for _, s := range b.marks {
		if err == nil {
			s.marked.Store(true)
		}
		s.fresh.Store(true) // set only now: a sweep that begins later sees the data
	}
	return err
}

// settle waits until the applied batch is durable.
func (b *Batch) settle(err error) error {
	if err == nil && b.pebble != nil && !b.db.options.Periodic {
		err = b.pebble.SyncWait()
		b.db.stripes.unsyncedRefs(b.refs, -1)
	}
	if err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	return nil
}
