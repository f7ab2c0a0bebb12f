// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// A request goes by what its door knew of its tables when it was planned. The answer
// counts, not the sending: a door can stall between looking at its lease and sending, for
// as long as it takes others to change the table. So when the store has answered, the
// door looks again. If what it went by was still so within a lease of that moment, the
// answer is the client's. If not, a read is done anew; a write may have been done where
// nobody looks for it, and is not told to be done.
//
// The steps of such a race: door A knows table Tab with 5 shards, and is stopped before
// it sends a PutItem. Door B deletes Tab, waits until A's lease must be over, and makes
// it with 7 shards. A goes on, and the item lands in one of five shards.

// pins counts the requests under way that go by one state of a table: its physical table
// and its layout.
type pins struct {
	n      atomic.Int64
	before *pins // of the state before; nil: there was none
}

// busy tells whether requests go by a state, or by one before it.
func (p *pins) busy() bool {
	for ; p != nil; p = p.before {
		if p.n.Load() > 0 {
			return true
		}
	}
	return false
}

// pinned are the entries that a request goes by.
type pinned struct {
	few  [2]*entry
	used []*entry
}

// pin has a request go by an entry, if that is still the table's.
func (r *Router) pin(p *pinned, e *entry) bool {
	if slices.Contains(p.used, e) {
		return true
	}
	e.pins.n.Add(1)
	if now := (*r.tables.Load())[e.Table]; now == nil || now.pins != e.pins {
		e.pins.n.Add(-1) // who waits for the older ones to end may have looked before
		return false
	}
	if p.used == nil {
		p.used = p.few[:0]
	}
	p.used = append(p.used, e)
	return true
}

func (p *pinned) release() {
	for _, e := range p.used {
		e.pins.n.Add(-1)
	}
	p.used = p.used[:0]
}

// sameState tells whether two entries are about one state of a table.
func sameState(a, b *entry) bool {
	if a.ID != b.ID || a.State != b.State || a.Physical != b.Physical || (a.Layout == nil) != (b.Layout == nil) {
		return false
	}
	return a.Layout == nil || a.Layout.Equal(b.Layout) && a.Layout.Generation == b.Layout.Generation
}

// pinsOf are those of a new entry in use: the ones that the table's state has already.
func (r *Router) pinsOf(in *entry) *pins {
	was := (*r.tables.Load())[in.Table]
	switch {
	case was == nil || was.pins == nil:
		return new(pins)
	case sameState(was, in):
		return was.pins
	}
	return &pins{before: was.pins}
}

// age is how long ago something was, by the monotonic or the wall clock, whichever says
// more: the first stops while a machine is suspended.
func age(of time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(of), now.Round(0).Sub(of.Round(0)))
}

// holds tells, when the store has answered, whether what a request went by was so within
// a lease of now.
func (r *Router) holds(ctx context.Context, p *pinned) (bool, error) {
	if r.lease == 0 {
		return true, nil // who changes a table waits for all that go by its pins
	}
	for {
		asOf := *r.asOf.Load() // before the tables, which are stored before it
		tables := *r.tables.Load()
		for _, e := range p.used {
			if now := tables[e.Table]; now == nil || now.pins != e.pins {
				return false, nil
			}
		}
		if age(asOf) < r.lease {
			return true, nil
		}
		if err := r.renew(ctx, r.lease); err != nil {
			return false, err
		}
	}
}

// errOver says that an answer does not count.
var errOver = exception.New(exception.InternalServerError, "the table was changed meanwhile")

// attempts is how often a read is done anew for that reason.
const attempts = 8

// verdict tells whether an error is the store's judgement of a request that it has
// looked at and not done.
func verdict(err error) bool {
	return refused(err) || is(err, exception.ConditionalCheckFailed)
}

// unknown is the error of a write of which nobody knows whether it was done.
func unknown(p *pinned) error {
	name := ""
	if len(p.used) > 0 {
		name = " " + p.used[0].Table
	}
	return exception.New(exception.InternalServerError, "whether the write was done is not known: table%s was changed while it was under way, longer than the door's "+
		"knowledge of it lasts; read the item, or try again", name)
}

// onlyReads tells whether a request changes no item.
func onlyReads(q api.Request) bool { return reads(q.Operation()) }
