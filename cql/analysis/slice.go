// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// Slice is a range of clustering keys in clustering order. A Slice without prefixes whose ends are
// both inclusive is a whole partition. Equal inclusive ends of full length are one row.
type Slice struct {
	Start, End Bound
}

// Bound is one end of a slice. It lies before or after all clustering keys that begin with Prefix.
// An inclusive start lies before them, an exclusive start after them. An inclusive end lies after
// them, an exclusive end before them. An empty prefix with Inclusive is open.
type Bound struct {
	Prefix    [][]byte
	Inclusive bool
}

// All returns the slice that contains every row.
func All() Slice { return Slice{Bound{Inclusive: true}, Bound{Inclusive: true}} }

// Row reports whether the slice is one row with a full clustering key.
func (s Slice) Row(t *schema.Table) bool {
	return s.Start.Inclusive && s.End.Inclusive && len(s.Start.Prefix) == len(t.Clustering) &&
		len(s.End.Prefix) == len(t.Clustering) && CompareClustering(t, s.Start.Prefix, s.End.Prefix) == 0
}

// Contains reports whether a clustering key of the table lies in the slice.
func (s Slice) Contains(t *schema.Table, clustering [][]byte) bool {
	if c := CompareClustering(t, clustering, s.Start.Prefix); c < 0 || c == 0 && !s.Start.Inclusive {
		return false
	}
	c := CompareClustering(t, clustering, s.End.Prefix)
	return c < 0 || c == 0 && s.End.Inclusive
}

// endsBefore reports whether the whole slice lies before a clustering key.
func (s Slice) endsBefore(t *schema.Table, clustering [][]byte) bool {
	c := CompareClustering(t, clustering, s.End.Prefix)
	return c > 0 || c == 0 && !s.End.Inclusive && len(s.End.Prefix) > 0
}

// CompareClustering compares clustering keys in the table's clustering order. It compares prefixes
// over their common length.
func CompareClustering(t *schema.Table, a, b [][]byte) int {
	return compare(t.Clustering, a, b)
}

func compare(cols []*schema.Column, a, b [][]byte) int {
	for i := range min(len(a), len(b)) {
		c := cols[i].Type.Compare(a[i], b[i])
		if c == 0 {
			continue
		}
		if cols[i].Desc {
			return -c
		}
		return c
	}
	return 0
}

// region is the set of tuples of some columns between two tuples, in the order of the types. It is
// one slice if all columns are ascending or all are descending. It may be several if they are
// mixed.
type region struct {
	cols           []*schema.Column
	start, end     [][]byte // values of one or more of cols; nil is open
	startIn, endIn bool
}

// slices appends the slices of the region below a prefix, in clustering order.
func (r *region) slices(dst []Slice, prefix [][]byte) []Slice {
	return r.descend(dst, prefix, 0, r.start != nil, r.end != nil)
}

// descend appends the slices of the column at depth i. An end of the region limits them only if lo
// (for the start) or hi (for the end) is set.
func (r *region) descend(dst []Slice, prefix [][]byte, i int, lo, hi bool) []Slice {
	if lo && i == len(r.start) {
		if !r.startIn {
			return dst
		}
		lo = false
	}
	if hi && i == len(r.end) {
		if !r.endIn {
			return dst
		}
		hi = false
	}
	if !lo && !hi {
		return add(dst, Slice{Bound{prefix, true}, Bound{prefix, true}})
	}
	c := r.cols[i]
	with := func(v []byte) [][]byte { return append(slices.Clip(prefix), v) }
	if lo && hi {
		cmp := c.Type.Compare(r.start[i], r.end[i])
		if cmp > 0 {
			return dst
		}
		if cmp == 0 {
			return r.descend(dst, with(r.start[i]), i+1, true, true)
		}
	}
	between := Slice{Bound{prefix, true}, Bound{prefix, true}}
	first, last := lo, hi
	if lo {
		between.Start = Bound{with(r.start[i]), false}
	}
	if hi {
		between.End = Bound{with(r.end[i]), false}
	}
	if c.Desc {
		between.Start, between.End = between.End, between.Start
		first, last = hi, lo
	}
	atStart := func() {
		dst = r.descend(dst, with(r.start[i]), i+1, true, false)
	}
	atEnd := func() {
		dst = r.descend(dst, with(r.end[i]), i+1, false, true)
	}
	if c.Desc {
		atStart, atEnd = atEnd, atStart
	}
	if first {
		atStart()
	}
	dst = add(dst, between)
	if last {
		atEnd()
	}
	return dst
}

// add appends a slice. It joins the slice with the last one if that ends where the slice begins.
func add(dst []Slice, s Slice) []Slice {
	if n := len(dst); n > 0 {
		last := &dst[n-1]
		if last.End.Inclusive != s.Start.Inclusive && len(last.End.Prefix) > 0 && slices.EqualFunc(last.End.Prefix, s.Start.Prefix, bytes.Equal) {
			last.End = s.End
			return dst
		}
	}
	return append(dst, s)
}
