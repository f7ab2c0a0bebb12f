// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
)

// An IN on the last clustering column names single rows. Where nothing tells which shard has such a
// row, each shard is asked for all of them. A request for each row would make as many requests as
// rows times shards, so a segment has up to maxPoints rows.

// maxPoints is the largest number of rows in a segment. Amazon Keyspaces allows 100 values in an
// IN.
const maxPoints = 100

// joins adds a slice to a segment of single rows, if it belongs there. It returns false if it does
// not.
func (p *Select) joins(to *Segment, s analysis.Slice, shards []int) bool {
	t := p.Table.Table
	last := len(t.Clustering) - 1
	if p.both || p.Old != nil || to.Key == nil || len(shards) < 2 || last < 0 || !s.Row(t) ||
		to.Points == nil && !to.Slice.Row(t) || len(to.Points) >= maxPoints || !slices.Equal(to.Shards, shards) {
		return false
	}
	key := s.Start.Prefix
	first := to.Slice.Start.Prefix
	for i := range last {
		if t.Clustering[i].Type.Compare(first[i], key[i]) != 0 {
			return false
		}
	}
	if to.Points == nil {
		to.Points = [][][]byte{first}
	}
	to.Points = append(to.Points, key)
	if p.Logical.Reversed {
		to.Slice.Start = s.Start
	} else {
		to.Slice.End = s.End
	}
	return true
}

// fetchPoints returns the read of a segment's rows after one clustering key and up to another. It
// returns none if the segment has no such rows.
func (p *Select) fetchPoints(b *analysis.BoundSelect, s Segment, shards []int, after, upto [][]byte, limit int, keys bool) ([]Fetch, error) {
	points := s.Points
	if after != nil {
		points = points[p.past(points, after):]
	}
	if upto != nil {
		points = points[:p.past(points, upto)]
	}
	if len(points) == 0 {
		return nil, nil
	}
	last := len(p.Table.Clustering) - 1
	f, err := p.fetchOf(b, s, shards, limit, fetchShape{shape{prefix: last, in: true}, len(shards) > 1, limit > 0, keys}, append(slices.Clone(points[0][:last]), lastOf(points)))
	if err != nil {
		return nil, err
	}
	return []Fetch{f}, nil
}

// past returns how many of the keys, which are in reading order, are up to and including a key.
func (p *Select) past(points [][][]byte, key [][]byte) int {
	i, _ := slices.BinarySearchFunc(points, key, func(a, b [][]byte) int {
		if p.Compare(a, b) <= 0 {
			return -1
		}
		return 1
	})
	return i
}

// lastOf serializes the list of the keys' last components.
func lastOf(points [][][]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(points)))
	for _, key := range points {
		v := key[len(key)-1]
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	return b
}
