// SPDX-License-Identifier: Apache-2.0

// Package allocs counts what a function allocates while other goroutines are there.
//
// It imports nothing of this module.
package allocs

import "testing"

// measures is how often the least is looked for. That somebody else allocates as
// often as the function is called, all that time and each time, has no chance.
const measures = 10

// PerRun is testing.AllocsPerRun without what other goroutines allocate meanwhile
// (servers, compactions, collectors that have emptied a pool): they can only add to
// the count, so the least of several is the function's own.
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
