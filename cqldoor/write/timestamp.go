// SPDX-License-Identifier: Apache-2.0

package write

import (
	"sync/atomic"
	"time"
)

// Clock gives write times in microseconds, each later than the one before. So of two writes of
// this door the later one wins, in whichever shards they are.
type Clock struct {
	Now  func() time.Time
	Last atomic.Int64
}

func (c *Clock) next() int64 {
	for {
		last := c.Last.Load()
		t := max(c.Now().UnixMicro(), last+1)
		if c.Last.CompareAndSwap(last, t) {
			return t
		}
	}
}
