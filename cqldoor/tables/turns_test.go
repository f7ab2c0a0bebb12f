// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"sync"
	"testing"
	"time"
)

// TestTurns checks that callers share the next round while one runs, and that they do not share what is
// for one caller alone.
func TestTurns(t *testing.T) {
	for _, shared := range []bool{true, false} {
		var r Turns[int]
		n, first := 0, make(chan struct{})
		round := func() (int, bool) {
			if n++; n == 1 {
				<-first
			}
			return n, shared
		}
		const callers = 10
		results := make(chan int, callers)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() { results <- r.Join(round) })
		}
		for r.calls.Load() < callers {
			time.Sleep(time.Millisecond)
		}
		close(first)
		all.Wait()
		close(results)
		of := map[int]int{}
		for result := range results {
			of[result]++
		}
		if most := 2; shared && (n > most || of[1]+of[2] != callers) || !shared && n != callers {
			t.Errorf("shared %v: %d rounds for %d callers: %v", shared, n, callers, of)
		}
	}
}
