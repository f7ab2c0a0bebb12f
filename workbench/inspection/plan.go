// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Range is the tokens above After, up to and including UpTo.
type Range struct {
	After int64 `json:"after"`
	UpTo  int64 `json:"up_to"`
}

// share returns the range's share of the ring.
func (r Range) share() float64 {
	return float64(uint64(r.UpTo)-uint64(r.After)) / (1 << 64)
}

// Node is a node of the ring.
type Node struct {
	Address    string  `json:"address"`
	DataCenter string  `json:"data_center"`
	Rack       string  `json:"rack"`
	Tokens     []int64 `json:"tokens"`
}

// PlanOptions says what to read.
type PlanOptions struct {
	Fraction float64 `json:"fraction"` // of the ring; 1: all
	Pieces   int     `json:"pieces"`   // at least this many, as far as the ring allows
	Seed     uint64  `json:"seed"`

	// Segments, if not 0, says that the table's ring is unknown. The table is then read by this
	// many equal parts of its hashes.
	Segments int `json:"segments,omitempty"`
}

// Plan lists what to read: ranges that each belong to one node.
type Plan struct {
	PlanOptions
	Nodes  []Node  `json:"nodes"`
	Ranges []Range `json:"-"` // in the order of reading
}

// NewPlan makes a plan. The same arguments give the same plan.
func NewPlan(nodes []Node, o PlanOptions) *Plan {
	if o.Fraction <= 0 || o.Fraction > 1 {
		o.Fraction = 1
	}
	p := &Plan{PlanOptions: o, Nodes: nodes}
	rnd := rand.New(rand.NewPCG(o.Seed, 1))
	if o.Segments > 0 {
		list := rnd.Perm(o.Segments)
		for _, n := range list[:max(1, int(math.Round(o.Fraction*float64(o.Segments))))] {
			p.Ranges = append(p.Ranges, Range{segmentEdge(n, o.Segments), segmentEdge(n+1, o.Segments)})
		}
		return p
	}
	ends := []int64{math.MaxInt64}
	for _, n := range nodes {
		ends = append(ends, n.Tokens...)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	begin := int64(math.MinInt64)
	for _, end := range ends {
		if end == begin {
			continue
		}
		whole := Range{begin, end}
		n := max(1, int(math.Round(whole.share()*float64(o.Pieces))))
		width := uint64(end) - uint64(begin)
		for i := range uint64(n) {
			lo, hi := begin+int64(width/uint64(n)*i), begin+int64(width/uint64(n)*(i+1))
			if i == uint64(n)-1 {
				hi = end
			}
			p.cut(Range{lo, hi}, rnd)
		}
		begin = end
	}
	rnd.Shuffle(len(p.Ranges), func(i, j int) { p.Ranges[i], p.Ranges[j] = p.Ranges[j], p.Ranges[i] })
	return p
}

// segmentEdge returns where segment n begins on a ring of of equal segments.
func segmentEdge(n, of int) int64 {
	if n == of {
		return math.MaxInt64
	}
	hi, _ := bits.Div64(uint64(n), 0, uint64(of))
	return int64(hi ^ 1<<63)
}

// Segment returns the number of the segment of range i.
func (p *Plan) Segment(i int) int {
	hi, _ := bits.Mul64(uint64(p.Ranges[i].After)^1<<63, uint64(p.Segments))
	if segmentEdge(int(hi), p.Segments) < p.Ranges[i].After {
		hi++
	}
	return int(hi)
}

// cut adds a piece, or an interval of it that is the wanted fraction.
func (p *Plan) cut(r Range, rnd *rand.Rand) {
	if p.Fraction < 1 {
		width := uint64(r.UpTo) - uint64(r.After)
		part := uint64(float64(width) * p.Fraction)
		if part == 0 {
			return
		}
		r.After += int64(rnd.Uint64N(width - part + 1))
		r.UpTo = r.After + int64(part)
	}
	p.Ranges = append(p.Ranges, r)
}

// Pieces returns a good number of pieces for a ring with that many rows and partitions, if a
// fraction of it is read.
func Pieces(rows, partitions, fraction float64) int {
	if fraction < 1 {
		return int(math.Min(4096, math.Max(64, partitions*fraction/32)))
	}
	return int(math.Min(16384, math.Max(32, rows/10_000)))
}
