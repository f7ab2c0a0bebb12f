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
