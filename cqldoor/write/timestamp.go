// SPDX-License-Identifier: Apache-2.0

package write

import (
	"sync/atomic"
	"time"
)

// Clock gives timestamps in microseconds, each later than the one before. So the later of two writes
// of this door wins, also if they are in different shards.
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
