// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// clustering is the order of a table's rows within a logical partition, and the slices of this order.
type clustering struct {
	*schema.Table // logical schema, without the hidden column
}

// resume yields the slices that have anything after the clustering key after (nil: all slices),
// in reading order. The slice that holds the key comes with it.
func (t *clustering) resume(all *analysis.Slices, after [][]byte, reversed bool) iter.Seq2[analysis.Slice, [][]byte] {
	return func(yield func(analysis.Slice, [][]byte) bool) {
		i, step := 0, 1
		if reversed {
			i, step = all.Len()-1, -1
		}
		if after != nil {
			i = all.Find(t.Table, after)
			switch {
			case i < all.Len() && all.At(i).Contains(t.Table, after):
				s := all.At(i)
				if !s.Row(t.Table) && !yield(s, after) {
					return
				}
				i += step
			case reversed:
				i--
			}
		}
		for ; i >= 0 && i < all.Len() && yield(all.At(i), nil); i += step {
		}
	}
}

// pieces splits s into simple slices, in clustering order. In a simple slice, each end differs
// from the common prefix in one component; or tuples can express the slice, because the columns
// after the prefix all have one direction.
func (t *clustering) pieces(s analysis.Slice) []analysis.Slice {
	p := t.common(s)
	if len(s.Start.Prefix)-p <= 1 && len(s.End.Prefix)-p <= 1 || t.uniform(p, max(len(s.Start.Prefix), len(s.End.Prefix))) {
		return []analysis.Slice{s}
	}
	var out []analysis.Slice
	// From the start outwards: first what follows its longest prefix, then what follows shorter
	// ones.
	start := s.Start
	for n := len(start.Prefix); n > p+1; n-- {
		b := analysis.Bound{Prefix: start.Prefix[:n], Inclusive: n == len(start.Prefix) && start.Inclusive}
		out = append(out, analysis.Slice{Start: b, End: analysis.Bound{Prefix: start.Prefix[:n-1], Inclusive: true}})
	}
	middle := analysis.Slice{Start: start, End: s.End}
	if len(start.Prefix) > p+1 {
		middle.Start = analysis.Bound{Prefix: start.Prefix[:p+1]}
	}
	if len(s.End.Prefix) > p+1 {
		middle.End = analysis.Bound{Prefix: s.End.Prefix[:p+1]}
	}
	out = append(out, middle)
	for n := p + 2; n <= len(s.End.Prefix); n++ {
		b := analysis.Bound{Prefix: s.End.Prefix[:n], Inclusive: n == len(s.End.Prefix) && s.End.Inclusive}
		out = append(out, analysis.Slice{Start: analysis.Bound{Prefix: s.End.Prefix[:n-1], Inclusive: true}, End: b})
	}
	return out
}

// common returns the length of the prefix that both ends share. Equal values may have different
// bytes. The last component of an exclusive end belongs to the bound, not to the prefix.
func (t *clustering) common(s analysis.Slice) int {
	n := min(len(s.Start.Prefix), len(s.End.Prefix))
	p := 0
	for p < n && t.Clustering[p].Type.Compare(s.Start.Prefix[p], s.End.Prefix[p]) == 0 {
		p++
	}
	if p == len(s.Start.Prefix) && !s.Start.Inclusive || p == len(s.End.Prefix) && !s.End.Inclusive {
		p--
	}
	return max(p, 0)
}

// uniform says whether the clustering columns from and up to have one direction.
func (t *clustering) uniform(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if t.Clustering[i].Desc != t.Clustering[from].Desc {
			return false
		}
	}
	return true
}

// Compare orders clustering keys by the table's clustering order.
func (t *clustering) Compare(a, b [][]byte) int {
	for i, c := range t.Clustering {
		if d := c.Type.Compare(a[i], b[i]); d != 0 {
			if c.Desc {
				return -d
			}
			return d
		}
	}
	return 0
}
