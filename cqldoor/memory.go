package cqldoor

import (
	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// longMessage is how long a request is at most that is not counted. Short ones are
// bounded by the connections, and by how many of each may be in flight.
const longMessage = 64 << 10

// decoded is how many times a long request counts: it is copied, and what it is decoded to
// takes as much again.
const decoded = 4

// admit waits until there is room for a request, on the goroutine that reads the client's
// connection: the client's next requests wait too.
func (c *conn) admit(body []byte) *wire.Error {
	if c.memory == nil || len(body) <= longMessage {
		return nil
	}
	room := budget.Open(c.ctx)
	defer room.Close() // whoever keeps the request counts it
	if room.Take(c.ctx, decoded*int64(len(body))) != nil {
		c.d.counts.overloaded.Add(1)
		return errNoRoom
	}
	return nil
}

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "evenkeel: %v", budget.ErrNoRoom)
