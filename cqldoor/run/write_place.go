// SPDX-License-Identifier: Apache-2.0

package run

import (
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// placer draws the shards of writes that may go to any shard, and gives writes the door's timestamp
// where shards are compared by time.
type placer struct {
	drawers   drawers
	clock     clock            // gives timestamps
	now       func() time.Time // the store's time
	rollovers *rollovers
}

// draws returns the Draw of a request. once says that its writes to one partition must stay
// together. took takes the writes to count.
func (p *placer) draws(req *cqldoor.Request, params *wire.Params, once bool, took func(*tally)) plan.Draw {
	random := p.drawers.draw
	if once {
		random = p.drawers.drawOnce()
	}
	var now int64
	return func(t *plan.Table, key [][]byte, b *analysis.BoundWrite, adds bool) []int {
		if t.Layout.Strategy != shard.Rollover {
			return random(t, key, b, adds)
		}
		if now == 0 {
			now = p.now().UnixMicro()
		}
		k, stamp := plan.AppendKey(nil, key), p.timeOf(req, params, b)
		if !adds {
			if e, ok := req.Link.(*coordinator); ok {
				e.reached = max(e.reached, stamp)
			}
			return t.Layout.Rolled.Reached(k, stamp)
		}
		n, counts := p.rollovers.draw(t, k, b, stamp, now)
		if counts != nil {
			took(counts)
		}
		return []int{n}
	}
}

// takes returns a function that notes writes to count when a request has been answered.
func (p *placer) takes(req *cqldoor.Request) func(*tally) {
	return func(t *tally) {
		if e, ok := req.Link.(*coordinator); ok {
			e.answered = append(e.answered, func() { p.rollovers.count(t) })
		}
	}
}

// stamp gives a write the door's time if it has none and shards are compared by time. A request
// that is executed again gets the same time.
func (p *placer) stamp(req *cqldoor.Request, params *wire.Params, w *plan.Write) {
	if w.Stamped() && !params.Has(wire.QueryDefaultTimestamp) {
		if req.Stamp == 0 {
			req.Stamp = p.clock.next()
		}
		params.SetDefaultTimestamp(req.Stamp)
	}
}

// timeOf returns the timestamp of a write, in microseconds: its own, that of the request, or the
// door's.
func (p *placer) timeOf(req *cqldoor.Request, params *wire.Params, b *analysis.BoundWrite) int64 {
	switch {
	case b.Timestamp != nil:
		return *b.Timestamp
	case params.Has(wire.QueryDefaultTimestamp):
		req.Stamp = params.DefaultTimestamp // with it the write can be repeated
	case req.Stamp == 0:
		req.Stamp = p.clock.next()
	}
	return req.Stamp
}
