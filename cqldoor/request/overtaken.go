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

// The moment of the answer counts, not the moment of sending. A door can stall after it has
// checked its lease and before it sends. Another door can change the table while a request is
// under way. So the door checks the statement's premise when the store has answered. The premise
// holds if the lease runs and the door still has the state that the statement was planned on.
//
// If the premise does not hold, the door renews its lease. Then it compares the layout in the
// plan with the layout that the table has now.
//
//  - The layouts are equal: the door passes the answer on.
//  - They differ, and the statement reads: the door reads again.
//  - They differ, and the door stamped the write: the door writes again, with that stamp.
//  - They differ, and the store stamped the write: the door cannot know where the write
//    took effect, and answers with a write timeout.

// Premises says, when the store has answered, whether what the door knew when it planned a statement
// still holds. If not, a statement that was passed on is served again.
type Premises struct {
	State *tables.States
	Doors *tables.Membership

	// Repeat serves again a statement that was passed on as a QUERY or an EXECUTE.
	Repeat func(ctx context.Context, req *cqldoor.Request, s *Statement)
}

// Alone says that no other door can use the store.
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

// Begin counts a request under way on the statement's state. It returns false if that is no
// longer the present state.
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

// Review implements cqldoor.Premise for statements that were passed on.
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

// same says whether a statement that was planned under one layout is valid under the present one. It does
// not compare the shards of a rollover, nor what fills them.
func same(now, planned *shard.Layout) bool {
	if now.Strategy != shard.Rollover || planned.Strategy != shard.Rollover {
		return sameButFloor(now, planned)
	}
	x, y := *now, *planned
	x.Rolled, x.Fill, x.Max = y.Rolled, y.Fill, y.Max
	return sameButFloor(&x, &y)
}

// reaches says whether a statement that was planned under one layout of strategy rollover has visited all
// shards that it must visit under the present one. A read may miss no shard with rows, and a deletion no
// shard with cells that it deletes.
// reached is the latest timestamp of the deletions; a write to one shard is always valid.
func (s *Statement) reaches(now, planned *shard.Layout, reached int64) bool {
	if s.Sel != nil {
		// The only door has not opened a shard before the read began. A row that was written to the
		// shard meanwhile may be missing.
		return s.Premises.Doors.Member == nil || planned.Rolled.Reads(now.Rolled)
	}
	return planned.Rolled.Deletes(now.Rolled, reached)
}

// Stands says, after the store has answered, whether the statement's tables still have the
// layouts of its plan (same). It returns an error if the store cannot be asked.
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
		// If there is no other door, no lease can end, and a change of layout waits until
		// requests planned earlier have been answered. So the answer is good.
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

// repeatable says whether a write with the door's stamp can be repeated: it does the same again,
// to the same table.
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

// ownTimes says whether each write of a statement has a timestamp of its own, which a repetition has again.
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

// overtaken is the error of a request whose layout has changed while it was under way. If the door
// cannot know whether the layout has changed, why is the reason.
type overtaken struct {
	by  *Statement
	why error
}

func (o *overtaken) Error() string {
	return "the layout of a table has changed while the request was under way"
}

// stand returns overtaken unless the premises of a coordinator's statements still hold, now that
// the store has answered.
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

// again says whether a request that was overtaken must be executed again. If not, to is its
// error.
func (e *Coordinator) again(req *cqldoor.Request, err error) (is, again bool, to error) {
	var o *overtaken
	if !errors.As(err, &o) {
		return false, false, err
	}
	reads, repeats := true, o.why == nil
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

// sameButFloor says whether a plan made under one layout is valid under another: they are the
// same, or only the floor has risen. The buckets below a new floor are dropped only when no
// request that was planned before is under way.
func sameButFloor(a, b *shard.Layout) bool {
	if a.Strategy != shard.Time || b.Strategy != shard.Time {
		return reflect.DeepEqual(a, b)
	}
	x, y := *a, *b
	x.Floor, y.Floor, x.Generation, y.Generation = 0, 0, 0, 0
	return reflect.DeepEqual(x, y)
}
