// SPDX-License-Identifier: Apache-2.0

// Package allocs counts the allocations of a function while other goroutines run.
//
// It imports nothing of this module.
package allocs

import "testing"

// measures is the number of measurements. The least of them counts. It is practically impossible
// that other goroutines allocate as often as the function in all of them.
const measures = 10

// PerRun returns testing.AllocsPerRun without the allocations of other goroutines (servers,
// compactions, collectors that have emptied a pool). They can only increase the count, so the least
// of several measurements is the function's own.
func PerRun(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for range measures - 1 {
		if least == 0 {
			break
		}
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
