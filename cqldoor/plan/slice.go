// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Within returns the part of a slice after one clustering key and up to and including another
// (nil: no bound), in reading order. A reversed read starts at the end.
func Within(s analysis.Slice, after, upto [][]byte, reversed bool) analysis.Slice {
	if reversed {
		after, upto = upto, after
		if after != nil {
			s.Start = analysis.Bound{Prefix: after, Inclusive: true}
		}
		if upto != nil {
			s.End = analysis.Bound{Prefix: upto}
		}
		return s
	}
	if after != nil {
		s.Start = analysis.Bound{Prefix: after}
	}
	if upto != nil {
		s.End = analysis.Bound{Prefix: upto, Inclusive: true}
	}
	return s
}

// resume yields the slices that have anything after the clustering key after (nil: all slices),
// in reading order. The slice that holds the key comes with it.
func (t *placement) resume(all *analysis.Slices, after [][]byte, reversed bool) iter.Seq2[analysis.Slice, [][]byte] {
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
func (t *placement) pieces(s analysis.Slice) []analysis.Slice {
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
func (t *placement) common(s analysis.Slice) int {
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
func (t *placement) uniform(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if t.Clustering[i].Desc != t.Clustering[from].Desc {
			return false
		}
	}
	return true
}

// shape holds everything of a piece that the text of its statement depends on.
type shape struct {
	prefix                       int // number of columns bound by =
	start, end                   int // further components of each end
	startInclusive, endInclusive bool
	in                           int // number of columns after the prefix that an IN binds together
}

func (t *Table) shapeOf(s analysis.Slice) shape {
	p := t.common(s)
	return shape{prefix: p, start: len(s.Start.Prefix) - p, end: len(s.End.Prefix) - p, startInclusive: s.Start.Inclusive, endInclusive: s.End.Inclusive}
}

// relations prints a piece. Its values are Cluster slots: those of the prefix first, then the
// start's, then the end's.
func (t *Table) relations(s shape) []syntax.Relation {
	var out []syntax.Relation
	slot := 0
	next := func() syntax.Expr {
		slot++
		return marker(Cluster, slot-1)
	}
	for i := range s.prefix {
		out = append(out, syntax.Relation{Columns: []string{t.Clustering[i].Name}, Op: syntax.OpEQ, Value: next()})
	}
	if s.in > 0 {
		r := syntax.Relation{Tuple: s.in > 1, Op: syntax.OpIn, Value: next()}
		for _, c := range t.Clustering[s.prefix : s.prefix+s.in] {
			r.Columns = append(r.Columns, c.Name)
		}
		return append(out, r)
	}
	tuple := s.start > 1 || s.end > 1
	bound := func(n int, op, reverse, inclusive syntax.Op, isInclusive bool) {
		if n == 0 {
			return
		}
		if t.Clustering[s.prefix].Desc {
			op = reverse
		}
		if isInclusive {
			op += inclusive
		}
		r := syntax.Relation{Op: op}
		for i := range n {
			r.Columns = append(r.Columns, t.Clustering[s.prefix+i].Name)
		}
		if tuple {
			r.Tuple = true
			var elems []syntax.Expr
			for range n {
				elems = append(elems, next())
			}
			r.Value = &syntax.Tuple{Elems: elems}
		} else {
			r.Value = next()
		}
		out = append(out, r)
	}
	// OpLE and OpGE are the constants after OpLT and OpGT.
	bound(s.start, syntax.OpGT, syntax.OpLT, 1, s.startInclusive)
	bound(s.end, syntax.OpLT, syntax.OpGT, 1, s.endInclusive)
	return out
}

// columns returns the clustering columns of the Cluster slots: of an IN, the first.
func (s shape) columns() []int {
	var out []int
	for i := range s.prefix {
		out = append(out, i)
	}
	if s.in > 0 {
		out = append(out, s.prefix)
	}
	for _, n := range []int{s.start, s.end} {
		for i := range n {
			out = append(out, s.prefix+i)
		}
	}
	return out
}

// values returns the values of the Cluster slots.
func (s shape) values(sl analysis.Slice) [][]byte {
	p := s.prefix
	var out [][]byte
	if len(sl.Start.Prefix) >= p {
		out = append(out, sl.Start.Prefix[:p]...)
	} else {
		out = append(out, sl.End.Prefix[:p]...)
	}
	out = append(out, sl.Start.Prefix[min(p, len(sl.Start.Prefix)):]...)
	return append(out, sl.End.Prefix[min(p, len(sl.End.Prefix)):]...)
}
