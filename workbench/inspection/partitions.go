// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// fewIdle is how many partitions may be shown of which there is nothing to say.
const fewIdle = 16

// Shown are the partitions of a map to be shown to people: all, or, where there are
// many that have no keys and took nothing, the others, and how many those are.
func Shown(m *api.PartitionsResponse) (shown []api.Partition, idle int) {
	used := slices.DeleteFunc(slices.Clone(m.Partitions), func(p api.Partition) bool {
		return len(p.Keys) == 0 && p.KeyCount == 0 && p.Read == (api.PartitionUse{}) && p.Write == (api.PartitionUse{})
	})
	if idle = len(m.Partitions) - len(used); idle <= fewIdle {
		return m.Partitions, 0
	}
	return used, idle
}

// Throttled tells of a map how many partitions have refused requests for their own
// limit and have several keys, which share that; and how many requests were refused for
// limits of the whole table alone.
func Throttled(m *api.PartitionsResponse) (shared int, table int64) {
	for i := range m.Partitions {
		p := &m.Partitions[i]
		own := p.Read.ThrottledOwnTotal + p.Write.ThrottledOwnTotal
		if len(p.Keys) > 1 && own > 0 {
			shared++
		}
		table += p.Read.ThrottledTotal + p.Write.ThrottledTotal - own
	}
	return shared, table
}
