// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// longMessage is how long a request is at most that is not counted. Short ones are
// bounded by the connections, and by how many of each may be in flight.
const longMessage = 64 << 10

// decoded is how many times a long request counts: it is copied, and a list of many short
// values takes six times its bytes when it is bound.
const decoded = 8

// expect waits until there is room for a request whose length is known, before it is
// read, and has the connection hold the room until the next request is read. The client's
// next requests wait too. It reports whether there was room.
func (c *conn) expect(length int) bool {
	c.arriving.Close()
	if c.memory == nil || length <= longMessage {
		return true
	}
	c.arriving = budget.Open(c.ctx)
	return c.arriving.Take(c.ctx, decoded*int64(length)) == nil
}

// passedOver answers a request that there was no room for.
func (c *conn) passedOver(h wire.Header) {
	c.d.counts.overloaded.Add(1)
	c.replyError(h.Stream, errNoRoom)
}

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "evenkeel: %v", budget.ErrNoRoom)
