// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"runtime"
	"slices"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/lane"
)

// A request that may take long is not carried out on its caller's goroutine. It goes
// to one of several lanes, by what it may take, so that what is over soon never waits
// for what is not. Within a lane the links take turns: see package lane.

// kind is which lane a request goes to.
type kind uint8

const (
	systemReads kind = iota // of tables that the engine makes up, and what the door's own account asks
	writes                  // that read first, and then wait for the disk
	pages                   // reads of a bounded number of rows
	scans                   // reads that may look at any number of rows
	changes                 // of the schema, which wait for each other
	kinds
)

// lanes are the engine's, by kind.
type lanes [kinds]*lane.Lane

// newLanes makes the lanes. Each request may hold a long result, and more at once than
// there are processors would not end sooner. One link has half of a lane at most.
func newLanes() (all lanes) {
	cores := runtime.GOMAXPROCS(0)
	for k, places := range [kinds]int{
		systemReads: max(4, cores), writes: max(16, 2*cores), pages: max(8, 2*cores), scans: max(4, cores), changes: 2,
	} {
		all[k] = lane.New(places, max(1, places/2))
	}
	return all
}

// flows are a link's, by kind.
type flows [kinds]lane.Flow

// later has a request carried out when its turn comes, on a goroutine of its own.
// Until then it holds nothing but its body.
func (l *link) later(c *call, req wire.Message) {
	req.Body = slices.Clone(req.Body)
	c.warnings = nil
	c.read.reset()
	c.detached = true
	if l.own && c.kind != changes {
		c.kind = systemReads
	}
	way, flow := l.engine.lanes[c.kind], &l.flows[c.kind]
	if c.kind != changes && !l.own {
		c.ctx, c.stop = deadline.With(c.ctx, l.engine.options.Timeout, func() { way.Drop(flow) })
	}
	refuse := func(err error) {
		c.fail(err)
		c.to.Flush()
		c.end()
	}
	c.begin(len(req.Body), func(err error) {
		if err != nil {
			refuse(err)
			return
		}
		way.Queue(c.ctx, flow, func(ok bool) {
			if !ok {
				refuse(errGone)
				return
			}
			go func() {
				c.placed = true
				if to := c.to; c.run(req) == answered {
					to.Flush()
				}
				placed := c.placed
				c.end()
				if placed {
					way.Leave(flow)
				}
			}()
		})
	})
}

// end is the last of a request.
func (c *call) end() {
	e := c.engine
	c.release()
	e.work.Done()
}

// gone is the error where nobody waits for the answer any more.
func gone(ctx context.Context) error {
	if ctx.Err() != nil {
		return errGone
	}
	return nil
}

// late is what a client is told whose request has taken too long: that it may or may not
// have been carried out, if it is a write.
func (c *call) late() *wire.Error {
	e := wire.Errorf(wire.CodeReadTimeout, "Operation timed out - received only 0 responses.")
	if e.Consistency, e.Required = c.params.Consistency, 1; c.kind == writes {
		e.Code, e.WriteType = wire.CodeWriteTimeout, wire.WriteSimple
	}
	return e
}

var errGone = wire.Errorf(wire.CodeOverloaded, "nobody waits for the answer any more")

// Work is how many requests that may take long are carried out, and how many wait.
func (e *Engine) Work() (running, waiting int) {
	for _, l := range e.lanes {
		r, w := l.Counts()
		running, waiting = running+r, waiting+w
	}
	return running, waiting
}
