// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"math"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Long requests and answers are counted against the budget of the request's context, if it has
// one (see package budget). Short ones are bounded by the lanes.

const (
	// shortAnswer is the size of an answer up to which it is not counted. Such answers are made
	// on the caller's goroutine, which cannot wait.
	shortAnswer = 256 << 10

	// longBody is the least size of a request that is counted. decoded is the factor by which it
	// counts: it is copied, and binding a list of many short values takes six times its bytes.
	longBody = 64 << 10
	decoded  = 8

	// copied is the factor by which an answer counts: a copy of it waits for the client or the
	// door before the original is freed.
	copied = 2
)

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "%v", budget.ErrNoRoom)

// errAtLength says that the answer is too long for the caller's goroutine.
var errAtLength = errors.New("engine: the answer is for a lane")

// begin waits until there is room for a request that may take long, then calls start, perhaps
// before it returns.
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

// refusal returns the error for a request that found no room.
func (c *call) refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, budget.ErrNoRoom):
		return errNoRoom
	}
	return errGone
}

// Hold implements eval.Env's Memory.
func (c *call) Hold(bytes int) error {
	return c.room(bytes + c.writer.Size() + c.read.sorted.Size())
}

// room makes the request hold so many bytes of rows. If there is no room, it waits, and others
// get its place in the lane meanwhile.
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
	bytes = max(bytes, c.granted/4*5) // in steps, not for every row
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
