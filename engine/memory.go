// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"math"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// What long requests and answers take is counted against the budget of the request's
// context, where it has one (see package budget). Short ones are bounded by the lanes.

const (
	// shortAnswer is how many bytes a request holds at most that are not counted: on the
	// caller's goroutine, which cannot wait for more.
	shortAnswer = 256 << 10

	// longBody is how long a request is at least that is counted, decoded how many times
	// it then is: it is copied, and a list of many short values takes six times its bytes
	// when it is bound.
	longBody = 64 << 10
	decoded  = 8

	// copied is how many times an answer is counted: a copy of it waits for the client, or
	// for the door, before this one is let go of.
	copied = 2
)

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "%v", budget.ErrNoRoom)

// errAtLength says that the answer is too long for the caller's goroutine.
var errAtLength = errors.New("engine: the answer is for a lane")

// begin takes what a request holds that may take long, once there is room: then it calls
// start, perhaps before it returns.
func (c *call) begin(body int, start func(error)) {
	c.granted = math.MaxInt
	if c.kind == changes || c.link.own {
		start(nil)
		return
	}
	if c.memory = budget.Open(c.ctx); !c.memory.On() {
		start(nil)
		return
	}
	c.granted = shortAnswer
	if body >= longBody {
		c.memory.Add(decoded * int64(body))
	}
	c.memory.Queue(c.ctx, shortAnswer, func(err error) { start(c.refusal(err)) })
}

// refusal is what a client is told that has got no room.
func (c *call) refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, budget.ErrNoRoom):
		return errNoRoom
	}
	return errGone
}

// room has the request hold so many bytes of rows. Where there is no room, it waits, and
// others have its place in the lane meanwhile.
func (c *call) room(bytes int) error {
	if bytes <= c.granted {
		return nil
	}
	if !c.detached {
		if c.engine.limits != nil || !budget.Counts(c.ctx) {
			c.granted = math.MaxInt // what has been read has been paid for
			return nil
		}
		return errAtLength
	}
	bytes = max(bytes, c.granted/4*5) // or it would ask for every row
	more := int64(copied * (bytes - c.granted))
	if !c.memory.Try(more) {
		way, flow := c.engine.lanes[c.kind], &c.link.flows[c.kind]
		way.Leave(flow)
		c.placed = false
		if err := c.memory.Take(c.ctx, more); err != nil {
			return c.refusal(err)
		}
		if way.Again(c.ctx, flow) != nil {
			return errGone
		}
		c.placed = true
	}
	c.granted = bytes
	return nil
}
