// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
)

// INs on clustering columns name single rows, or all rows that begin with some values: points. With
// one request for each point, there would be as many requests as points, or as points times shards
// if the shards of the points are unknown. So a segment has several points, and a request asks for
// all those that its shards may have.

const (
	// maxPoints is the largest number of points in a request, and in a segment all of whose shards
	// may have each point. Amazon Keyspaces allows 100 values in an IN.
	maxPoints = 100
	// maxRows is the largest number of points in a segment of rows whose shards are known. With so
	// many, most requests for a few hundred shards have several.
	maxRows = 1000
	// maxPointBytes bounds the values of a segment's points.
	maxPointBytes = 1 << 20
)

// point says whether a slice is all rows that begin with some values.
func point(t *Table, s analysis.Slice) bool {
	return s.Start.Inclusive && s.End.Inclusive && len(s.Start.Prefix) > 0 && len(s.Start.Prefix) == len(s.End.Prefix) &&
		analysis.CompareClustering(t.Table, s.Start.Prefix, s.End.Prefix) == 0
}

// joins adds a slice to a segment of points, if it belongs there. It returns false if it does not.
//
// Rows with known shards can join even if their shards differ: each request then asks for the
// points of its shards. Longer slices cannot. Those of one shard would lie between those of
// another, so the shards would not have even shares of a page.
func (p *Select) joins(to *Segment, s analysis.Slice, shards []int) bool {
	t := p.Table
	if p.both || p.Old != nil || to.Key == nil || !point(t, s) || to.Points == nil && !point(t, to.Slice) {
		return false
	}
	first, key := to.Slice.Start.Prefix, s.Start.Prefix
	if len(first) != len(key) {
		return false
	}
	rows := len(key) == len(t.Clustering) && len(shards) == 1 && (to.Of != nil || to.Points == nil && len(to.Shards) == 1)
	most := maxPoints
	switch {
	case rows:
		most = maxRows
	case to.Of != nil || !slices.Equal(to.Shards, shards):
		return false
	}
	if to.Points == nil {
		to.Points, to.bytes = [][][]byte{first}, sizeOf(first)
		if rows {
			to.Of = slices.Clone(to.Shards)
		}
	}
	if len(to.Points) >= most || to.bytes+sizeOf(key) > maxPointBytes {
		return false
	}
	to.Points = append(to.Points, key)
	to.bytes += sizeOf(key)
	if rows {
		to.Of = append(to.Of, shards[0])
		if !slices.Contains(to.Shards, shards[0]) {
			to.Shards = append(slices.Clip(to.Shards), shards[0])
		}
	}
	if p.Logical.Reversed {
		to.Slice.Start = s.Start
	} else {
		to.Slice.End = s.End
	}
	return true
}

func sizeOf(values [][]byte) (n int) {
	for _, v := range values {
		n += len(v)
	}
	return n
}

// pointsOf returns the points that some shards may have, in reading order.
func (s *Segment) pointsOf(shards []int) [][][]byte {
	if s.Of == nil {
		return s.Points
	}
	var out [][][]byte
	for i, key := range s.Points {
		if slices.Contains(shards, s.Of[i]) {
			out = append(out, key)
		}
	}
	return out
}

// fetchPoints returns the reads of a segment's points after one clustering key and up to another. It
// returns none if the segment has no such points.
func (p *Select) fetchPoints(b *analysis.BoundSelect, s Segment, shards []int, after, upto [][]byte, limit int, keys bool) (out []Fetch, err error) {
	points := s.pointsOf(shards)
	if after != nil {
		points = points[p.before(points, after, false):]
	}
	if upto != nil {
		points = points[:p.before(points, upto, true)]
	}
	// A single point, or one that the bounds cut, is read as a slice.
	slice := func(key [][]byte, after, upto [][]byte) error {
		bound := analysis.Bound{Prefix: key, Inclusive: true}
		some, err := p.fetchSlice(b, s, shards, Within(analysis.Slice{Start: bound, End: bound}, after, upto, p.Logical.Reversed), limit, keys)
		out = append(out, some...)
		return err
	}
	within := func(key, bound [][]byte) bool {
		return bound != nil && analysis.CompareClustering(p.Table.Table, key, bound) == 0
	}
	if len(points) > 0 && within(points[0], after) {
		key := points[0]
		points = points[1:]
		if len(key) < len(p.Table.Clustering) {
			if !within(key, upto) {
				err = slice(key, after, nil)
			} else {
				err = slice(key, after, upto)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	var last [][]byte
	if n := len(points); n > 0 && within(points[n-1], upto) && len(points[0]) < len(p.Table.Clustering) {
		points, last = points[:n-1], points[n-1]
	}
	for some := range slices.Chunk(points, maxPoints) {
		if len(some) == 1 {
			if err := slice(some[0], nil, nil); err != nil {
				return nil, err
			}
			continue
		}
		same := p.shared(some)
		f, err := p.fetchOf(b, s, shards, limit, fetchShape{shape{prefix: same, in: len(some[0]) - same}, len(shards) > 1, limit > 0, keys},
			append(slices.Clone(some[0][:same]), listOf(some, same)))
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if last != nil {
		err = slice(last, nil, upto)
	}
	return out, err
}

// before returns how many of the points, which are in reading order, lie before a clustering key;
// with the one that the key belongs to, if with is set.
func (p *Select) before(points [][][]byte, key [][]byte, with bool) int {
	i, _ := slices.BinarySearchFunc(points, key, func(a, b [][]byte) int {
		c := analysis.CompareClustering(p.Table.Table, a, b)
		if p.Logical.Reversed {
			c = -c
		}
		if c < 0 || c == 0 && with {
			return -1
		}
		return 1
	})
	return i
}

// shared returns how many values all points begin with, at most all but the last.
func (p *Select) shared(points [][][]byte) int {
	n := len(points[0]) - 1
	for _, key := range points[1:] {
		i := 0
		for i < n && p.Table.Clustering[i].Type.Compare(points[0][i], key[i]) == 0 {
			i++
		}
		n = i
	}
	return n
}

// listOf serializes the list of what the points have after their first values: single values, or
// tuples.
func listOf(points [][][]byte, first int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(points)))
	for _, key := range points {
		if rest := key[first:]; len(rest) > 1 {
			n := sizeOf(rest) + 4*len(rest)
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		for _, v := range key[first:] {
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			b = append(b, v...)
		}
	}
	return b
}
