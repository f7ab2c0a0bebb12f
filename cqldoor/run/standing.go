// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// Doors forward statements on plain tables without a plan. Another door may shard such a table while it is
// in use. It waits for the doors that renew their leases; a door that stands still cannot hold it up. So the
// moment of the answer counts for forwarded statements too. An answer counts in one of these cases:
//
//   - The lease holds, and has held since the statement was judged.
//   - The lease had ended, and the door has registered anew. The catalogue that it then read has no sharded
//     table that the door did not claim before.
//   - The lease has ended, and the door cannot renew it. One replica of the catalogue shows no such table
//     (catalog.Glance). So the door serves plain tables while the catalogue has no quorum.
//
// Otherwise the door does not know whether the plain table still has the rows. It answers with an error
// that says so.

// terms numbers this door's terms. A term begins when the door registers after its lease had ended.
type terms struct {
	now atomic.Uint32

	// tainted is the last term that began with a table which this door did not claim in the term before.
	// Answers to statements that the door forwarded in earlier terms do not count.
	tainted atomic.Uint32
}

// begin begins a new term. The door has published what it has read, and renews its lease after this.
func (t *terms) begin(taints bool) {
	next := t.now.Load() + 1
	if taints {
		t.tainted.Store(next)
	}
	t.now.Store(next)
}

// anew reports whether a view begins a new term. old is the view before.
func (m *membership) anew(old, v *view) bool {
	switch {
	case m.member == nil || v.seen == nil:
		return false
	case old.seen == nil: // until now there was no catalogue, so there was nobody to register with
		return m.lapsed()
	}
	return old.seen.Self != v.seen.Self
}

// taints reports whether a view claims a table on which the door may have forwarded statements in the term
// before. old is the last view of that term, and before the State that belongs to it.
func (x *schemas) taints(old *view, before *State, v *view) bool {
	for keyspace, tables := range v.tables {
		for name, t := range tables {
			if was := old.tables[keyspace][name]; was == nil || was.entry.ID != t.entry.ID || !x.claims.have(before.Table(keyspace, name)) {
				return true
			}
		}
	}
	for n := range v.unserved {
		if !old.unserved[n] {
			return true
		}
	}
	return false
}

// standing judges the answers to statements that doors have forwarded.
type standing struct {
	terms    *terms
	premises *premises
	schema   *schemas
	glances  turns[bool]
}

var _ cqldoor.Standing = (*standing)(nil)

// Term implements cqldoor.Standing.
func (s *standing) Term() uint32 { return s.terms.now.Load() }

// Stands implements cqldoor.Standing. It looks at the lease first: a new term begins before the lease is
// renewed.
func (s *standing) Stands(term uint32, at *wire.Arrival) bool {
	switch p := s.premises; {
	case p.alone():
		return true
	case at != nil && at.Checked == any(p):
	case !p.doors.lease.Holds():
		return false
	case at != nil:
		at.Checked = p
	}
	return sinceTerm(s.terms.now.Load(), term) == 0
}

// sinceTerm returns how many terms have begun since an earlier one. term has the last bits of its
// number.
func sinceTerm(now, term uint32) uint32 { return (now - term) & cqldoor.TermMask }

// Review implements cqldoor.Standing.
func (s *standing) Review(ctx context.Context, term uint32, resp wire.Message) error {
	if s.reviewed(ctx, term) {
		return nil
	}
	return overtakenAnswer(resp)
}

// reviewed reports whether the answer to a statement that was forwarded in a term counts.
func (s *standing) reviewed(ctx context.Context, term uint32) bool {
	if s.premises.doors.lapsed() && !s.glance(ctx) {
		return false
	}
	now := s.terms.now.Load() // the door may have registered anew meanwhile
	return s.terms.tainted.Load() <= now-sinceTerm(now, term)
}

// glance reads one replica of the catalogue. It reports false if the replica shows a table on which this
// door may forward statements although another door shards it. While the lease cannot be renewed, each
// forwarded statement calls glance. So one read serves all statements that wait.
func (s *standing) glance(ctx context.Context) bool {
	return s.glances.join(func() (clear, shared bool) {
		clear = s.look(ctx)
		return clear, ctx.Err() == nil
	})
}

func (s *standing) look(ctx context.Context) bool {
	v, state := s.schema.view.Load(), s.premises.state.Load()
	entries, err := s.schema.catalog.Glance(ctx)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !s.known(e, v, state) {
			return false
		}
	}
	return true
}

// known reports whether the door treats statements on an entry's table as the entry demands: it forwards
// none of them, or the table is still a plain one.
func (s *standing) known(e *catalog.Entry, v *view, state *State) bool {
	if e.Layout.Plain() && e.Change == nil && e.Physical == e.Table {
		return true // no change has begun
	}
	read := v.entries[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}]
	if read == nil || read.ID != e.ID {
		return false
	}
	claimed := v.tables[e.Keyspace][e.Table] != nil
	return (claimed || read.Layout.Generation == e.Layout.Generation) && s.schema.claims.have(state.Table(e.Keyspace, e.Table))
}

// judgeAnew notes that a request is judged by what the door knows now.
func (s *standing) judgeAnew(req *cqldoor.Request) { req.Term = s.Term() & cqldoor.TermMask }

// forwards returns nil if a statement on plain tables may be forwarded after the lease could not be
// renewed for the reason late. late may be nil.
func (s *standing) forwards(ctx context.Context, late error) error {
	if late != nil && !s.glance(ctx) {
		return late
	}
	return nil
}

// judge decides whether the answer to a forwarded statement counts. It returns nil if the answer counts.
func (s *standing) judge(ctx context.Context, req *cqldoor.Request, resp wire.Message) error {
	if s.Stands(req.Term, nil) {
		return nil
	}
	return s.Review(ctx, req.Term, resp)
}

// forwards notes that the attempt at a request also sends statements on plain tables as they are.
func forwards(req *cqldoor.Request) {
	if e, ok := req.Link.(*coordinator); ok {
		e.forwards, e.term = true, req.Term
	}
}

// overtakenAnswer returns the error that replaces the answer to a forwarded statement, or nil if the client
// may have the answer. The answer to a write has no rows. An answer with rows belongs to a read or to a
// write with a condition.
func overtakenAnswer(resp wire.Message) error {
	const why = "evenkeel: another door began to shard a table while this one could not ask the store about it, and this statement was under way; "
	if resp.Op == wire.OpError {
		if _, err := wire.ResultBody(wire.V5, resp); wire.AsError(err).Code == wire.CodeInvalid { // the plain table may be gone
			return wire.Errorf(wire.CodeOverloaded, why+"it was not executed")
		}
		return nil
	}
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return err
	}
	switch wire.KindOf(body) {
	case wire.ResultVoid:
		return &wire.Error{Code: wire.CodeWriteTimeout, Consistency: wire.LocalQuorum, Required: 1, WriteType: wire.WriteSimple,
			Message: why + "it may have been applied or not"}
	case wire.ResultRows:
		return wire.Errorf(wire.CodeServer, why+"read again; a write with a condition may have been applied or not")
	}
	return nil // it names no rows
}
