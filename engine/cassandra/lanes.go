// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"runtime"
	"slices"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/lane"
)

// A request that may take long does not run on its caller's goroutine. It goes to one of several
// lanes, by the work that it may need, so that a short request never waits for a long one. Within
// a lane the links take turns: see package lane.

// kind is the lane of a request.
type kind uint8

const (
	systemReads kind = iota // of tables that the engine makes up, and what the door's own account asks
	writes                  // that read first, and then wait for the disk
	pages                   // reads of a bounded number of rows
	scans                   // reads that may look at any number of rows
	changes                 // of the schema, which wait for each other
	kinds
)

// lanes are the engine's lanes, by kind.
type lanes [kinds]*lane.Lane

// newLanes makes the lanes. Each request may hold a long result. Running more of them than there
// are processors would not finish sooner. One link may have half of a lane at most.
func newLanes() (all lanes) {
	cores := runtime.GOMAXPROCS(0)
	for k, places := range [kinds]int{
		systemReads: max(4, cores), writes: max(16, 2*cores), pages: max(8, 2*cores), scans: max(4, cores), changes: 2,
	} {
		all[k] = lane.New(places, max(1, places/2))
	}
	return all
}

// flows are a link's flows, by kind.
type flows [kinds]lane.Flow

// later runs a request when its turn comes, in a goroutine of its own. Until then it holds only
// its body.
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
	c.begin(req, func(err error) {
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
				to := c.to
				out := c.run(req)
				for out == waiting {
					out = c.again(req)
				}
				if out == answered {
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

// end ends a request.
func (c *call) end() {
	e := c.engine
	c.release()
	e.work.Done()
}

// gone returns an error if nobody waits for the answer any more.
func gone(ctx context.Context) error {
	if ctx.Err() != nil {
		return errGone
	}
	return nil
}

// Err returns an error if nobody waits for the answer of the call any more.
func (c *call) Err() error { return gone(c.ctx) }

// late returns the error for a request that took too long. If it is a write, the error says that
// the write may or may not have been applied.
func (c *call) late() *wire.Error {
	e := wire.Errorf(wire.CodeReadTimeout, "Operation timed out - received only 0 responses.")
	if e.Consistency, e.Required = c.params.Consistency, 1; c.kind == writes {
		e.Code, e.WriteType = wire.CodeWriteTimeout, wire.WriteSimple
	}
	return e
}

var errGone = wire.Errorf(wire.CodeOverloaded, "nobody waits for the answer any more")

// Work returns how many requests that may take long are running, and how many are waiting.
func (e *Engine) Work() (running, waiting int) {
	for _, l := range e.lanes {
		r, w := l.Counts()
		running, waiting = running+r, waiting+w
	}
	return running, waiting
}
