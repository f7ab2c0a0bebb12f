// SPDX-License-Identifier: Apache-2.0

package capacity

// Reads is the cost of reads at the recommended number of shards.
type Reads struct {
	Strong         bool    `json:"strong"`
	Point          float64 `json:"point_units"`          // a read of one item, in one shard
	WholeKey       float64 `json:"whole_key_units"`      // the least cost of a query over all shards
	Unsharded      float64 `json:"unsharded_units"`      // the least cost of that query without shards
	QueriesPerSec  float64 `json:"whole_key_per_second"` // such queries that the shards can take if they serve nothing else
	PointPerSecond float64 `json:"points_per_second"`    // point reads that the shards can take if they serve nothing else
}

// costs returns the cost of reads. A read that finds nothing is billed as one of the smallest size,
// and a query over the whole key reads every shard: more shards do not spread it.
func (d demand) costs(n int, strong bool) Reads {
	least := 0.5
	if strong {
		least = 1
	}
	return Reads{
		Strong: strong, Point: d.readUnits,
		WholeKey: float64(n) * least, Unsharded: least,
		QueriesPerSec:  PartitionReadUnits / least,
		PointPerSecond: float64(n) * PartitionReadUnits / d.readUnits,
	}
}
