// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"slices"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// Detail is a design that is drawn in plots.
type Detail struct {
	Candidate        // as in Report.Candidates
	Number    int    // index of the design in Report.Candidates; if Shards differs, this is a variant of that design
	Variant   bool   // Shards is not the design's own number
	Name      string // short, for a legend

	Measured *profile.Measured // with its Detail; nil before it is measured
	design   *Design
	inShard  bool // the layout keeps its bucket
}

// Details returns the designs to plot: the best, the next ones with another partition key, and the
// best with other numbers of shards. Call Report before Details.
func (s *Study) Details() []*Detail {
	const most = 3 // designs side by side
	var out []*Detail
	var keys []string
	for i := range s.listed {
		d := s.listed[i]
		if id := partitionID(d.Partition); !slices.Contains(keys, id) && len(keys) < most {
			keys = append(keys, id)
			out = append(out, s.detail(i, d.Shards))
		}
	}
	if len(out) == 0 || !s.CanShard(0) {
		return out
	}
	own := max(1, s.listed[0].Shards)
	ns := []int{1, 4, 16, 64}
	if own > 1 {
		ns = []int{1, max(1, own/2), own, 2 * own}
	}
	for _, n := range slices.Compact(ns) {
		if n <= shard.MaxShards && n != own {
			out = append(out, s.detail(0, n))
		}
	}
	return out
}

// Variant returns a design of the report with another number of shards; 0 is its own number.
func (s *Study) Variant(number, shards int) *Detail {
	if shards == 0 {
		shards = s.listed[number].Shards
	}
	return s.detail(number, shards)
}

// CanShard reports whether the design's partitions have several rows, which shards could split.
func (s *Study) CanShard(number int) bool {
	d := s.listed[number]
	return len(d.Clustering) > 0 || d.AddID
}

func (s *Study) detail(number, shards int) *Detail {
	d := *s.listed[number]
	out := &Detail{Number: number, Variant: max(1, shards) != max(1, d.Shards), design: &d}
	d.Shards = max(1, shards)
	if d.Shards == 1 {
		d.By = nil
	}
	out.Name, out.inShard = s.nameOf(&d), s.timed(&d)
	return out
}

// Wants returns the candidate that package profile measures for this detail.
func (t *Detail) Wants(time string) profile.Candidate {
	c := t.design.candidate(time)
	c.Detail, c.InShard = true, t.inShard
	return c
}

// TakeDetails takes the measurements of details, in their order, and judges them like the other
// designs.
func (s *Study) TakeDetails(details []*Detail, measured []*profile.Measured) {
	for i, t := range details {
		t.Measured = measured[i]
		if s.measured[t.design.id()] == nil {
			s.measured[t.design.id()] = measured[i]
		}
		t.Candidate = s.candidate(&ranked{t.design, s.scoreOf(t.design)})
	}
}
