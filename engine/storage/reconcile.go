// SPDX-License-Identifier: Apache-2.0

package storage

import "bytes"

// Reconciliation, as in Cassandra. Every rule picks one of two by a total order. So the result
// depends neither on the order nor on the grouping of the mutations:
//
//  - Cells: the higher timestamp. Equal: one that expires or is deleted beats
//    one that is neither; deleted beats expiring; then the later expiry or
//    deletion time; then the larger value, as unsigned bytes.
//  - Markers: the higher timestamp; equal: one that expires; then the later
//    expiry.
//  - Deletions: the higher timestamp, then the later time.
//  - A deletion removes data that it covers with an equal or lower timestamp.
//  - Equal values with different bytes (decimal 1.0 and 1.00): a clustering keeps
//    the bytes first written, an element of a collection those of the winner.
//
// It does not matter whether something has expired: an expiring cell wins or loses in the same way
// before and after.

// supersedes reports whether a wins over b. Both are cells of one column and path.
func (a *cellData) supersedes(b *cellData) bool {
	if a.timestamp != b.timestamp {
		return a.timestamp > b.timestamp
	}
	ak, bk := a.kind&cellKind, b.kind&cellKind
	if ak != bk { // live, expiring, deleted: in this order
		return ak > bk
	}
	if ak != cellLive && a.time != b.time {
		return a.time > b.time
	}
	if c := bytes.Compare(a.value, b.value); c != 0 {
		return c > 0
	}
	return a.ttl < b.ttl
}

func (a *Liveness) supersedes(b *Liveness) bool {
	if a.Timestamp != b.Timestamp {
		return a.Timestamp > b.Timestamp
	}
	if (a.TTL != 0) != (b.TTL != 0) {
		return a.TTL != 0
	}
	if a.Expires != b.Expires {
		return a.Expires > b.Expires
	}
	return a.TTL < b.TTL
}

func (a Deletion) supersedes(b Deletion) bool {
	if a.Timestamp != b.Timestamp {
		return a.Timestamp > b.Timestamp
	}
	return a.Time > b.Time
}

// merge sets the receiver to the row that older and newer make together. The three must be
// different rows; the result views the memory that the others view. (Only the originals of the
// clustering depend on which of the two is older.)
func (into *rowData) merge(older, newer *rowData) {
	into.reset()
	into.deletion = older.deletion
	if newer.deletion.supersedes(into.deletion) {
		into.deletion = newer.deletion
	}
	floor := into.deletion.Timestamp

	into.hasMarker, into.marker = older.hasMarker, older.marker
	if newer.hasMarker && (!into.hasMarker || newer.marker.supersedes(&into.marker)) {
		into.hasMarker, into.marker = true, newer.marker
	}
	if into.hasMarker && into.marker.Timestamp <= floor {
		into.hasMarker, into.marker = false, Liveness{}
	}
	into.originals = append(into.originals, older.originals...)

	a, b := older.cells, newer.cells
	for len(a) > 0 || len(b) > 0 {
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		default:
			c = compareCells(&a[0], &b[0])
		}
		var win *cellData
		switch {
		case c < 0:
			win, a = &a[0], a[1:]
		case c > 0:
			win, b = &b[0], b[1:]
		default:
			win = &a[0]
			if b[0].supersedes(win) {
				win = &b[0]
			}
			a, b = a[1:], b[1:]
		}
		if win.timestamp > floor {
			into.cells = append(into.cells, *win)
		}
	}
	into.cells = dropComplex(into.cells)
}

// dropComplex removes the elements that their column's complex deletion covers.
func dropComplex(cells []cellData) []cellData {
	kept := cells[:0]
	var column uint32
	floor := int64(noTimestamp)
	for i := range cells {
		c := &cells[i]
		if c.kind&cellKind == cellComplex {
			column, floor = c.column, c.timestamp
		} else if c.column == column && c.timestamp <= floor {
			continue
		}
		if len(kept) != i {
			kept = append(kept, *c)
		} else {
			kept = cells[:i+1]
		}
	}
	return kept
}
