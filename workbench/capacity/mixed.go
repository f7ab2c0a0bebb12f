// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"math"
	"sort"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/stats"
)

// Mixed describes writes that take different numbers of units: the mean, and the mean of the
// squares.
type Mixed struct{ Mean, Square float64 }

// Same describes writes that all take that many units.
func Same(units int) Mixed { return Mixed{float64(units), float64(units) * float64(units)} }

// Shards returns the least number of shards with which at most ThrottledSeconds of the seconds are
// throttled. writes is the mean per second to all shards. ok is false if a key may not have so many.
func (m Mixed) Shards(writes float64) (n int, ok bool) {
	least := math.Max(1, ceil(writes*m.Mean/PartitionWriteUnits))
	if least > shard.MaxShards {
		return shard.MaxShards, false
	}
	n = int(least) + sort.Search(shard.MaxShards-int(least)+1, func(more int) bool {
		k := int(least) + more
		return m.Throttled(writes/float64(k), k) <= ThrottledSeconds
	})
	return min(n, shard.MaxShards), n <= shard.MaxShards
}

// Throttled returns the chance that in a second at least one of n shards gets more units than its
// partition can take. writes is the mean per second of one shard. The units of a second have the
// mean and the variance of a compound Poisson variable; their tail is taken from a Poisson variable
// that counts steps of Square / Mean units, and has the same mean and variance.
func (m Mixed) Throttled(writes float64, n int) float64 {
	step := m.Square / m.Mean
	if step > PartitionWriteUnits {
		return 1
	}
	q := stats.PoissonAbove(writes*m.Mean/step, int(PartitionWriteUnits/step*(1+1e-12)))
	return -math.Expm1(float64(n) * math.Log1p(-min(1, q)))
}
