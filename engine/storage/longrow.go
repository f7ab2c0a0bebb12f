// SPDX-License-Identifier: Apache-2.0

package storage

import "unsafe"

// longRow is the least size of a stored row for which Query.Room is called, in bytes.
const longRow = 64 << 10

// takes returns how much memory it takes to load a stored row: the given number of copies of the
// stored bytes, the memory that the caller needs for the wanted cells, and a Cell for each, unless
// they are packed.
func (q *Query) takes(stored []byte, copies int) int {
	var in rowReader
	var c cellData
	in.head(stored, nil)
	n := copies * len(stored)
	for {
		before := len(in.src)
		if !in.next(&c) {
			return n
		}
		if !q.All && !q.Columns.Has(c.column) {
			continue
		}
		n += before - len(in.src)
		if c.kind&cellPath != 0 && !q.Packed {
			n += int(unsafe.Sizeof(Cell{})) + len(c.path)
		}
	}
}

// makeRoom waits for memory for the row at Pebble's iterator, in addition to the memory that the
// iterator has already. While it waits, it releases the row. So the caller must read key and value
// again. makeRoom returns false after an error.
func (it *Iterator) makeRoom(copies int) bool {
	if it.query.Room == nil || len(it.pebble.Value()) < longRow {
		return true
	}
	n := it.query.takes(it.pebble.Value(), copies)
	ok, err := it.query.Room(it.staticTakes+n, false)
	if err == nil && !ok {
		it.seek = append(it.seek[:0], it.pebble.Key()...)
		it.pebble.SeekLT(nil) // nothing is before the iterator's bounds
		if _, err = it.query.Room(it.staticTakes+n, true); err == nil {
			it.valid = it.pebble.SeekGE(it.seek)
		}
	}
	if err != nil {
		it.state, it.err = done, err
		return false
	}
	return it.valid || it.stopped()
}
