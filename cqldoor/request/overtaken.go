// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A premise must hold when the answer arrives, not when the door sends the request. A door can stall
// after it has checked its lease and before it sends. Another door can change the table while a request
// is under way. So the door checks the statement's premise when the store has answered. The premise
// holds if the lease holds and the present state is still the one on which the door planned the statement.
//
// If the premise does not hold, the door renews its lease. Then it compares the layout in the
// plan with the layout that the table has now.
//
//  - The layouts are equal: the door passes the answer on.
//  - They differ, and the statement reads: the door reads again.
//  - They differ, and the door stamped the write: the door writes again, with that stamp.
//  - They differ, and the store stamped the write: the door cannot know where the write
//    took effect, and replies with a write timeout.

// Premises decides, when the store has answered, whether a statement's plan is still valid. If not, the door
// serves again a statement that it has passed on.
type Premises struct {
	State *tables.States
	Doors *tables.Membership

	// Repeat serves again a statement that the door has passed on as a QUERY or an EXECUTE.
	Repeat func(ctx context.Context, req *cqldoor.Request, s *Statement)
}

// Alone reports whether this door is the only one that can use the store.
func (p *Premises) Alone() bool { return p.Doors.Member == nil }

var _ cqldoor.Premise = (*Statement)(nil)

// Holds implements cqldoor.Premise.
func (s *Statement) Holds(at *wire.Arrival) bool {
	p := s.Premises
	switch {
	case p.State.Load().Under != s.Under:
		return false
	case at == nil:
		return p.Doors.Lease.Holds()
	case at.Checked == any(p):
		return true // the lease also held when this response arrived
	case !p.Doors.Lease.Holds():
		return false
	}
	at.Checked = p
	return true
}

// Begin counts a request as under way on the statement's state. If that is no longer the present state, Begin
// counts nothing and returns false.
func (s *Statement) Begin(of uint32) bool {
	s.Under.Begin(of)
	if s.Premises.State.Load().Under == s.Under {
		return true
	}
	s.Under.End(of)
	return false
}

// End implements cqldoor.Premise.
func (s *Statement) End(of uint32) { s.Under.End(of) }

// Review implements cqldoor.Premise for statements that the door has passed on.
func (s *Statement) Review(ctx context.Context, req *cqldoor.Request, resp wire.Message) {
	p := s.Premises
	stands, err := p.Stands(ctx, s, math.MinInt64)
	kept := len(req.Body) > 0
	switch {
	case stands:
		req.Reply(resp)
	case s.Sel != nil && err != nil:
		req.Error(tables.ErrLapsed)
	case s.Sel != nil && kept:
		p.Repeat(ctx, req, s)
	case s.Sel != nil:
		req.Error(Unprepared(s.ID[:])) // the driver prepares it again, as after any change of a table
	case err == nil && kept && req.Op == wire.OpExecute && req.Stamp != 0 && p.repeatable(s):
		p.Repeat(ctx, req, s)
	default:
		req.Error(errUnknown(s))
	}
}

// same reports whether a statement that was planned under one layout is valid under the present one. For
// strategy rollover, it does not compare the keys' shards, nor the limits of the shards.
func same(now, planned *shard.Layout) bool {
	if now.Strategy != shard.Rollover || planned.Strategy != shard.Rollover {
		return sameButFloor(now, planned)
	}
	x, y := *now, *planned
	x.Rolled, x.Fill, x.Max = y.Rolled, y.Fill, y.Max
	return sameButFloor(&x, &y)
}

// reaches reports whether a statement that was planned under one layout of strategy rollover has visited all
// shards that it must visit under the present one. A read must visit each shard with rows. A deletion must
// visit each shard with cells that it deletes. reached is the latest timestamp of the deletions. A write to one
// shard is always valid.
func (s *Statement) reaches(now, planned *shard.Layout, reached int64) bool {
	if s.Sel != nil {
		// If this door is the only one, it opened the new shard after the read began. The read need not
		// show rows that were written to the shard meanwhile.
		return s.Premises.Doors.Member == nil || planned.Rolled.Reads(now.Rolled)
	}
	return planned.Rolled.Deletes(now.Rolled, reached)
}

// Stands reports, after the store has answered, whether the statement's tables still have the
// layouts of its plan (same). It returns an error if the door cannot ask the store.
func (p *Premises) Stands(ctx context.Context, s *Statement, reached int64) (bool, error) {
	if s.Holds(nil) {
		return true, nil
	}
	if p.Doors.Lapsed() {
		if err := p.Doors.Renew(ctx); err != nil {
			return false, err
		}
	}
	st := p.State.Load()
	for _, t := range s.Placed() {
		now := st.Table(t.Keyspace, t.Name)
		if now == nil && t.Plain() && t.Change != nil && t.Change.Step == reshard.Withdrawn {
			continue // the sharding was taken back: the plain table's answer counts
		}
		if now == nil || now.ID != t.ID {
			return false, nil
		}
		for planned := range tables.RollingOf(t) {
			for present := range tables.RollingOf(now) {
				if planned.PhysicalID() == present.PhysicalID() && !s.reaches(present.Layout, planned.Layout, reached) {
					return false, nil
				}
			}
		}
		// If there is no other door, no lease can end. A change of layout waits until the store has
		// answered the requests that were planned earlier. So the answer is valid.
		if p.Doors.Member == nil {
			continue
		}
		if t.Change != nil || now.Change != nil {
			if now.Layout.Generation != t.Layout.Generation {
				return false, nil // another step of a change
			}
		} else if !same(now.Layout, t.Layout) || now.PhysicalID() != t.PhysicalID() {
			return false, nil
		}
	}
	return true, nil
}

// repeatable reports whether the door can repeat a write with the same timestamp. That is so if the table is
// still the same one and the write does the same again.
func (p *Premises) repeatable(s *Statement) bool {
	st := p.State.Load()
	for _, t := range s.Tables() {
		if now := st.Table(t.Keyspace, t.Name); now == nil || now.ID != t.ID {
			return false
		}
	}
	text := strings.ToLower(s.Text)
	for _, changing := range []string{"now", "uuid", "current"} { // functions whose result changes each time
		if strings.Contains(text, changing) {
			return false
		}
	}
	for _, w := range s.writes() {
		if !w.Stamped() && w.To == nil || w.Logical.Conditional() || w.Logical.Counter ||
			slices.ContainsFunc(w.Logical.Operations, func(o analysis.Operation) bool {
				return o.Kind == analysis.Append || o.Kind == analysis.Prepend || o.Kind == analysis.CounterAdd
			}) {
			return false
		}
	}
	return true
}

// ownTimes reports whether each write of a statement has a timestamp of its own. A repetition has the same
// timestamp.
func ownTimes(s *Statement) bool {
	for _, w := range s.writes() {
		if w.Logical.Timestamp == nil {
			return false
		}
	}
	return true
}

// errUnknown returns the error for a write whose layout has changed under way.
func errUnknown(s *Statement) error {
	e := &wire.Error{Code: wire.CodeWriteTimeout, Consistency: wire.LocalQuorum, Required: 1, WriteType: wire.WriteSimple,
		Message: "evenkeel: another door changed the table, or this one could not ask the store whether one did, while the write was under way; it may have been applied or not"}
	for _, w := range s.writes() {
		switch {
		case w.Logical.Conditional():
			e.WriteType = wire.WriteCAS
		case w.Logical.Counter:
			e.WriteType = wire.WriteCounter
		}
	}
	return e
}

// overtaken is the error of a request under way whose table's layout has changed. If the door cannot know
// whether the layout has changed, why is the reason.
type overtaken struct {
	by  *Statement
	why error
}

func (o *overtaken) Error() string {
	return "the layout of a table has changed while the request was under way"
}

// stand returns nil if the premises of the attempt's statements still hold after the store has answered.
// Otherwise it returns an overtaken.
func (e *Coordinator) stand(ctx context.Context) error {
	for _, s := range e.plans {
		if ok, err := e.attempts.Premises.Stands(ctx, s, e.Reached); !ok {
			return &overtaken{s, err}
		}
	}
	if s := e.attempts.Standing; e.forwards && !s.Stands(e.term, nil) && !s.reviewed(ctx, e.term) {
		return &overtaken{e.plans[0], tables.ErrLapsed}
	}
	return nil
}

// again decides about a request that has failed. is reports whether the request was overtaken. If it was, again
// reports whether the door must execute it once more. to is the request's error.
func (e *Coordinator) again(req *cqldoor.Request, err error) (is, again bool, to error) {
	var o *overtaken
	if !errors.As(err, &o) {
		return false, false, err
	}
	// The door does not know what the statements of a BATCH do that it forwards unchanged. One may append to a list.
	reads, repeats := true, o.why == nil && !e.forwards
	for _, s := range e.plans {
		reads = reads && s.Sel != nil
		repeats = repeats && s.Sel == nil && (req.Stamp != 0 || ownTimes(s)) && e.attempts.Premises.repeatable(s)
	}
	switch {
	case reads && o.why != nil:
		return true, false, tables.ErrLapsed
	case reads:
		return true, true, errChanging
	case repeats:
		return true, true, errUnknown(o.by)
	}
	return true, false, errUnknown(o.by)
}

// errChanging is the error of a read whose table changes every time it is repeated.
var errChanging = wire.Errorf(wire.CodeOverloaded, "evenkeel: the table's layout changes faster than it can be read; try again")

// sameButFloor reports whether two layouts are the same. For strategy time, it does not compare the floor and
// the generation. A door drops the buckets below a new floor only when no request that was planned before is
// under way. So a plan stays valid when the floor rises.
func sameButFloor(a, b *shard.Layout) bool {
	if a.Strategy != shard.Time || b.Strategy != shard.Time {
		return reflect.DeepEqual(a, b)
	}
	x, y := *a, *b
	x.Floor, y.Floor, x.Generation, y.Generation = 0, 0, 0, 0
	return reflect.DeepEqual(x, y)
}
