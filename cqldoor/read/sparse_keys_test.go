// SPDX-License-Identifier: Apache-2.0

package read

import (
	"testing"
)

// TestSurveysAreBounded has surveys follow each other. Each is about more keys than the last one, as long as
// the partitions of the store are not too many to be listed.
func TestSurveysAreBounded(t *testing.T) {
	for shards, want := range map[int][]int{8: {16, 32, 64, 128, 256, 256}, 1000: {16, 32, 64, 100, 100}, 1 << 20: {1, 1}} {
		var v survey
		for _, n := range want {
			got := v.next(shards)
			if got != n {
				t.Errorf("%d shards, after a survey of %d keys: %d keys, want %d", shards, v.to-v.from, got, n)
			}
			v.from, v.to = v.to, v.to+got
		}
	}
}
