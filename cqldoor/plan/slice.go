// SPDX-License-Identifier: Apache-2.0

package plan

import (
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

// shape holds everything of a piece that the text of its statement depends on.
type shape struct {
	prefix                       int // number of columns bound by =
	start, end                   int // further components of each end
	startInclusive, endInclusive bool
	in                           int // number of columns after the prefix that an IN binds together
}

func (t *clustering) shapeOf(s analysis.Slice) shape {
	p := t.common(s)
	return shape{prefix: p, start: len(s.Start.Prefix) - p, end: len(s.End.Prefix) - p, startInclusive: s.Start.Inclusive, endInclusive: s.End.Inclusive}
}

// relations prints a piece. Its values are Cluster slots: those of the prefix first, then the
// start's, then the end's.
func (t *clustering) relations(s shape) []syntax.Relation {
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
