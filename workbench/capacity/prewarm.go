// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/stats"
)

// Prewarm says what to request for a table before the load comes. Shards are keys: the store places
// them by hash. Two shards on one partition share its units until the store has split it for heat,
// which takes minutes.
type Prewarm struct {
	Bound      string  `json:"bound"`       // the side that needs the partitions: "write" or "read"
	WriteUnits int     `json:"write_units"` // to request, at least: a partition for each shard, and the load itself
	ReadUnits  int     `json:"read_units"`
	Starts     []Start `json:"starts"` // first a fresh table, then warmed ones
}

// Start describes the first minutes of a table with that many partitions, before any split. The
// rule of one partition for every 1,000 write units or 3,000 read units is inferred from the caps;
// the stores do not document it.
type Start struct {
	Units      int     `json:"units"` // of the side that needs the partitions
	Partitions int     `json:"partitions"`
	Occupied   float64 `json:"occupied"` // mean number of partitions with at least one shard
	Served     float64 `json:"served"`   // mean share of that side's requests
}

func (d demand) prewarm(n int) Prewarm {
	writes, reads := d.writes*float64(d.writeUnits), d.reads*d.readUnits
	p := Prewarm{Bound: "write", WriteUnits: int(ceil(writes)), ReadUnits: int(ceil(reads))}
	load, each := writes, PartitionWriteUnits
	if reads/PartitionReadUnits > writes/PartitionWriteUnits {
		p.Bound, load, each = "read", reads, PartitionReadUnits
		p.ReadUnits = n * each
	} else {
		p.WriteUnits = n * each
	}
	p.Starts = []Start{start(n, FreshPartitions, each, load)}
	for _, times := range []int{1, 4, 16} {
		if parts := n * times; parts > FreshPartitions {
			p.Starts = append(p.Starts, start(n, parts, each, load))
		}
	}
	return p
}

// start distributes n shards of a load over partitions that take each units. Each partition gets a
// binomial number of shards and serves what it can.
func start(n, parts, each int, load float64) Start {
	s := Start{Units: parts * each, Partitions: parts}
	one := 1 / float64(parts)
	s.Occupied = float64(parts) * -math.Expm1(float64(n)*math.Log1p(-one))
	served := 0.0
	stats.Binomial(n, one, func(k int, p float64) {
		served += p * min(float64(each), float64(k)*load/float64(n))
	})
	s.Served = min(1, served*float64(parts)/load)
	return s
}
