// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A request on plain tables uses no entry that counts it. If no other doors are on the store, a
// mover must still know when all requests have been answered that found a table plain. So the door
// counts each request in the era in which it arrived, and two eras take turns.

// Forwarded counts requests under way by era. The zero value is ready for use.
type Forwarded struct {
	now    atomic.Uint32 // the lowest bit is the current era
	under  [2]atomic.Int64
	ending sync.Mutex
}

// Begin counts a request before it looks up tables. It returns the era that End needs.
func (f *Forwarded) Begin() (era uint32) {
	for {
		era = f.now.Load() & 1
		f.under[era].Add(1)
		if f.now.Load()&1 == era {
			return era
		}
		f.under[era].Add(-1) // the era has ended meanwhile
	}
}

// End counts a request out.
func (f *Forwarded) End(era uint32) { f.under[era].Add(-1) }

// Passed waits until all requests that had begun before the call have been answered.
func (f *Forwarded) Passed(ctx context.Context) error {
	f.ending.Lock()
	defer f.ending.Unlock()
	before := f.now.Load() & 1
	// The other era can still have requests, if an earlier call gave up.
	for _, ends := range [2]bool{false, true} {
		era := before ^ 1
		if ends {
			f.now.Add(1)
			era = before
		}
		for f.under[era].Load() > 0 {
			if err := Wait(ctx, glimpse); err != nil {
				return err
			}
		}
	}
	return nil
}

// glimpse is the interval at which a mover of the only door looks for requests under way.
const glimpse = 5 * time.Millisecond
