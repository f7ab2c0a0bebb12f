// SPDX-License-Identifier: Apache-2.0

package write

import (
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/rollover"
	"github.com/evenkeel/evenkeel/shard"
)

// Placer draws the shards of writes that may go to any shard. It gives a write the door's timestamp if
// the door compares copies in several shards by time.
type Placer struct {
	Drawers   Drawers
	Clock     Clock            // gives timestamps
	Now       func() time.Time // the store's time as this door knows it
	Rollovers *rollover.Rollovers
}

// Draws returns the Draw of a request. once says that the request's writes to one partition must go to
// one shard. The Draw calls took for each write that the door must count.
func (p *Placer) Draws(req *cqldoor.Request, params *wire.Params, once bool, took func(*rollover.Tally)) plan.Draw {
	random := p.Drawers.Draw
	if once {
		random = p.Drawers.drawOnce()
	}
	var now int64
	return func(t *plan.Table, key [][]byte, b *analysis.BoundWrite, adds bool) []int {
		if t.Layout.Strategy != shard.Rollover {
			return random(t, key, b, adds)
		}
		if now == 0 {
			now = p.Now().UnixMicro()
		}
		k, stamp := plan.AppendKey(nil, key), p.timeOf(req, params, b)
		if !adds {
			if e, ok := req.Link.(*request.Coordinator); ok {
				e.Reached = max(e.Reached, stamp)
			}
			return t.Layout.Rolled.Reached(k, stamp)
		}
		n, counts := p.Rollovers.Draw(t, k, b, stamp, now)
		if counts != nil {
			took(counts)
		}
		return []int{n}
	}
}

// takes returns a function that notes a write. The door counts the write when it answers the request.
func (p *Placer) takes(req *cqldoor.Request) func(*rollover.Tally) {
	return func(t *rollover.Tally) {
		if e, ok := req.Link.(*request.Coordinator); ok {
			e.Answered = append(e.Answered, func() { p.Rollovers.Count(t) })
		}
	}
}

// Stamp gives a request the door's time as its timestamp, if the write needs one (plan.Write.Stamped)
// and the request has none. If the door executes the request again, the timestamp is the same.
func (p *Placer) Stamp(req *cqldoor.Request, params *wire.Params, w *plan.Write) {
	if w.Stamped() && !params.Has(wire.QueryDefaultTimestamp) {
		if req.Stamp == 0 {
			req.Stamp = p.Clock.next()
		}
		params.SetDefaultTimestamp(req.Stamp)
	}
}

// StampInChange gives a write the door's time as its timestamp if the request has none. So all places of a row get
// the same timestamp, and the door may repeat the write.
func (p *Placer) StampInChange(req *cqldoor.Request, params *wire.Params) {
	switch {
	case params.Has(wire.QueryDefaultTimestamp):
		req.Stamp = params.DefaultTimestamp
	case req.Stamp == 0:
		req.Stamp = p.Clock.next()
	}
	params.SetDefaultTimestamp(req.Stamp)
}

// timeOf returns the timestamp of a write, in microseconds: its own, that of the request, or the
// door's.
func (p *Placer) timeOf(req *cqldoor.Request, params *wire.Params, b *analysis.BoundWrite) int64 {
	switch {
	case b.Timestamp != nil:
		return *b.Timestamp
	case params.Has(wire.QueryDefaultTimestamp):
		req.Stamp = params.DefaultTimestamp // the door may repeat a request that has a timestamp
	case req.Stamp == 0:
		req.Stamp = p.Clock.next()
	}
	return req.Stamp
}
