// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// fewIdle is the greatest number of idle partitions that Shown includes.
const fewIdle = 16

// Shown returns the partitions of a map that people should see. If many partitions have no keys and
// took nothing, it leaves these out and returns their number as idle.
func Shown(m *api.PartitionsResponse) (shown []api.Partition, idle int) {
	used := slices.DeleteFunc(slices.Clone(m.Partitions), func(p api.Partition) bool {
		return len(p.Keys) == 0 && p.KeyCount == 0 && p.Read == (api.PartitionUse{}) && p.Write == (api.PartitionUse{})
	})
	if idle = len(m.Partitions) - len(used); idle <= fewIdle {
		return m.Partitions, 0
	}
	return used, idle
}

// Throttled counts in a map the partitions that refused requests for their own limit and have
// several keys, which share that limit. It also counts the requests that were refused only for
// limits of the whole table.
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
