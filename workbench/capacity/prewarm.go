package capacity

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/stats"
)

// Prewarm is what a table is to be told before the load comes. Shards are keys:
// the store places them by hash, and two on one partition share its units until
// the store has split it for heat, which takes minutes.
type Prewarm struct {
	WriteUnits int     `json:"write_units"` // to ask for: a partition's for each shard
	ReadUnits  int     `json:"read_units"`
	Starts     []Start `json:"starts"` // a fresh table first, then warmed ones
}

// Start is the first minutes of a table of so many partitions, before any split.
// That a partition comes with every 1,000 write units is inferred from the caps,
// not documented by the stores.
type Start struct {
	WriteUnits int     `json:"write_units"`
	Partitions int     `json:"partitions"`
	Occupied   float64 `json:"occupied"` // partitions with at least one shard, on average
	Served     float64 `json:"served"`   // share of the writes, on average
}

func (d demand) prewarm(n int) Prewarm {
	p := Prewarm{WriteUnits: n * PartitionWriteUnits, ReadUnits: n * PartitionReadUnits}
	p.Starts = []Start{d.start(n, FreshWriteUnits)}
	for _, times := range []int{1, 4, 16} {
		if w := p.WriteUnits * times; w > FreshWriteUnits {
			p.Starts = append(p.Starts, d.start(n, w))
		}
	}
	return p
}

// start throws n shards at the partitions that so many write units make. Each
// partition gets a binomial number of them and serves what it can.
func (d demand) start(n, writeUnits int) Start {
	parts := writeUnits / PartitionWriteUnits
	s := Start{WriteUnits: writeUnits, Partitions: parts}
	if parts == 1 {
		s.Occupied, s.Served = 1, min(1, PartitionWriteUnits/(d.writes*float64(d.writeUnits)))
		return s
	}
	one := 1 / float64(parts)
	s.Occupied = float64(parts) * -math.Expm1(float64(n)*math.Log1p(-one))
	load := d.writes * float64(d.writeUnits) / float64(n)
	served := 0.0
	stats.Binomial(n, one, func(k int, p float64) {
		served += p * min(PartitionWriteUnits, float64(k)*load)
	})
	s.Served = min(1, served*float64(parts)/(load*float64(n)))
	return s
}
