// SPDX-License-Identifier: Apache-2.0

package live

import "testing"

func TestHighestShard(t *testing.T) {
	for sharding, want := range map[string]int{
		"":                              0,
		"{'shards': '8'}":               8,
		"{'base': '16', 'shards': '8'}": 24,
		"{'epochs': '64 from 2020-07-10, 2@100 from 2021-01-01', 'shards': '1'}":    102,
		"{'row_epochs': '64@8 from 0x00', 'shards': '8', 'strategy': 'calculated'}": 72,
	} {
		if got := highest(sharding); got != want {
			t.Errorf("%s: %d, want %d", sharding, got, want)
		}
	}
}
