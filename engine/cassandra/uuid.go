// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"crypto/rand"
	"encoding/binary"
	"sync/atomic"
	"time"
)

// clock gives the engine's times and ids. Both only increase.
type clock struct {
	now   func() time.Time
	last  atomic.Int64 // the last timestamp given, microseconds since 1970
	ticks atomic.Int64 // the last time of a timeuuid, 100 ns since 1582
	node  [8]byte      // clock sequence and node of timeuuids
}

func newClock(now func() time.Time) *clock {
	c := &clock{now: now}
	rand.Read(c.node[:])
	c.node[0] = c.node[0]&0x3f | 0x80 // variant
	c.node[2] |= 0x01                 // marks a random node id
	return c
}

// timestamp returns the time in microseconds since 1970. It is greater than all earlier ones.
func (c *clock) timestamp() int64 {
	t := c.now().UnixMicro()
	for {
		last := c.last.Load()
		if t <= last {
			t = last + 1
		}
		if c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}

// gregorian is the time of 1970 in units of 100 ns since 1582.
const gregorian = 0x01B21DD213814000

// timeuuid returns a version 1 UUID. Its time is later than that of all earlier ones.
func (c *clock) timeuuid() (u [16]byte) {
	t := c.now().UnixNano()/100 + gregorian
	for {
		last := c.ticks.Load()
		if t <= last {
			t = last + 1
		}
		if c.ticks.CompareAndSwap(last, t) {
			break
		}
	}
	binary.BigEndian.PutUint32(u[0:], uint32(t))
	binary.BigEndian.PutUint16(u[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(t>>48)&0x0fff|0x1000)
	copy(u[8:], c.node[:])
	return u
}

// randomUUID returns a version 4 UUID.
func randomUUID() (u [16]byte) {
	rand.Read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}
