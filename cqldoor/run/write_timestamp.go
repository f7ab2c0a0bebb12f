// SPDX-License-Identifier: Apache-2.0

package run

import (
	"sync/atomic"
	"time"
)

// clock gives write times in microseconds, each later than the one before. So of two writes of
// this door the later one wins, in whichever shards they are.
type clock struct {
	now  func() time.Time
	last atomic.Int64
}

func (c *clock) next() int64 {
	for {
		last := c.last.Load()
		t := max(c.now().UnixMicro(), last+1)
		if c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}
