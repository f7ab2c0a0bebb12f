// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"slices"

	"github.com/evenkeel/evenkeel/workbench/profile"
)

// measures holds the measurements of designs.
type measures struct {
	facts
	measured map[string]*profile.Measured // by Design.id
	natural  []*Design                    // of the first round
	designs  []*Design                    // to be ranked
	bare     []*Design                    // the queries' own keys that lose rows
	tells    [][]string                   // sets of columns that tell rows apart
	rowSizes *profile.ItemSizes           // of all rows, in stores that bill requests; nil: not measured
}

// exactly returns the measurement of a design.
func (s *measures) exactly(d *Design) *profile.Measured { return s.measured[d.id()] }

// of returns the measurement of a design, or of one that differs from it only in the clustering
// columns, because its partitions are the same.
func (s *measures) of(d *Design) *profile.Measured {
	if m := s.exactly(d); m != nil {
		return m
	}
	want := partitionID(d.Partition)
	for _, other := range s.designs {
		if other.Shards == d.Shards && partitionID(other.Partition) == want && (d.Shards <= 1 || slices.Equal(other.By, d.By)) {
			if m := s.exactly(other); m != nil {
				return m
			}
		}
	}
	return nil
}

// ofPartition returns the measurement of some design with that partition key and without shards.
func (s *measures) ofPartition(parts []profile.Part) *profile.Measured {
	want := partitionID(parts)
	for _, list := range [][]*Design{s.natural, s.designs} {
		for _, d := range list {
			if d.Shards <= 1 && partitionID(d.Partition) == want {
				if m := s.exactly(d); m != nil {
					return m
				}
			}
		}
	}
	return nil
}
