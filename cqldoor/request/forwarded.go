// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// Standing judges the answers to statements that doors have forwarded.
type Standing struct {
	Terms    *tables.Terms
	Premises *Premises
	Schema   *tables.Schemas
	glances  tables.Turns[bool]
}

var _ cqldoor.Standing = (*Standing)(nil)

// Term implements cqldoor.Standing.
func (s *Standing) Term() uint32 { return s.Terms.Now.Load() }

// Stands implements cqldoor.Standing. It checks the lease before the term, because the door begins a new term
// before it renews the lease.
func (s *Standing) Stands(term uint32, at *wire.Arrival) bool {
	switch p := s.Premises; {
	case p.Alone():
		return true
	case at != nil && at.Checked == any(p):
	case !p.Doors.Lease.Holds():
		return false
	case at != nil:
		at.Checked = p
	}
	return tables.SinceTerm(s.Terms.Now.Load(), term) == 0
}

// Review implements cqldoor.Standing.
func (s *Standing) Review(ctx context.Context, term uint32, resp wire.Message) error {
	if s.reviewed(ctx, term) {
		return nil
	}
	return overtakenAnswer(resp)
}

// reviewed reports whether the answer to a statement counts that the door forwarded in a term.
func (s *Standing) reviewed(ctx context.Context, term uint32) bool {
	if s.Premises.Doors.Lapsed() && !s.glance(ctx) {
		return false
	}
	now := s.Terms.Now.Load() // the door may have registered again meanwhile
	return s.Terms.Tainted.Load() <= now-tables.SinceTerm(now, term)
}

// glance reads one replica of the catalogue. It returns false if the read fails, or if the replica shows a
// table that another door shards while this door may still forward statements on it. While the door cannot
// renew its lease, it calls glance for each forwarded statement. So one read serves all statements that wait.
func (s *Standing) glance(ctx context.Context) bool {
	return s.glances.Join(func() (clear, shared bool) {
		clear = s.look(ctx)
		return clear, ctx.Err() == nil
	})
}

func (s *Standing) look(ctx context.Context) bool {
	v, state := s.Schema.View.Load(), s.Premises.State.Load()
	entries, err := s.Schema.Catalog.Glance(ctx)
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

// known reports whether the door treats statements on an entry's table as the entry demands. That is so if
// the door forwards none of them, or if the table is still a plain one.
func (s *Standing) known(e *catalog.Entry, v *tables.View, state *tables.State) bool {
	if e.Layout.Plain() && e.Change == nil && e.Physical == e.Table {
		return true // no change has begun
	}
	read := v.Entries[syntax.Name{Keyspace: e.Keyspace, Name: e.Table}]
	if read == nil || read.ID != e.ID {
		return false
	}
	claimed := v.Tables[e.Keyspace][e.Table] != nil
	return (claimed || read.Layout.Generation == e.Layout.Generation) && s.Schema.Claims.Have(state.Table(e.Keyspace, e.Table))
}

// JudgeAnew notes that the door judges a request again, in the present term.
func (s *Standing) JudgeAnew(req *cqldoor.Request) { req.Term = s.Term() & cqldoor.TermMask }

// MayForward returns nil if the door may forward a statement on plain tables. late is the error with which
// the renewal of the lease failed, or nil. If the door may not forward the statement, MayForward returns late.
func (s *Standing) MayForward(ctx context.Context, late error) error {
	if late != nil && !s.glance(ctx) {
		return late
	}
	return nil
}

// judge returns nil if the answer to a forwarded statement counts. Otherwise it returns the error to reply with.
func (s *Standing) judge(ctx context.Context, req *cqldoor.Request, resp wire.Message) error {
	if s.Stands(req.Term, nil) {
		return nil
	}
	return s.Review(ctx, req.Term, resp)
}

// NoteForwarded notes that the attempt at a request also sends statements on plain tables unchanged.
func NoteForwarded(req *cqldoor.Request) {
	if e, ok := req.Link.(*Coordinator); ok {
		e.forwards, e.term = true, req.Term
	}
}

// overtakenAnswer returns the error that replaces the answer to a forwarded statement, or nil if the client
// may have the answer. The answer to a write has no rows. An answer with rows belongs to a read or to a
// write with a condition.
func overtakenAnswer(resp wire.Message) error {
	const why = "evenkeel: another door began to shard a table while this one could not ask the store about it, and this statement was under way; "
	if resp.Op == wire.OpError {
		if _, err := wire.ResultBody(wire.V5, resp); wire.AsError(err).Code == wire.CodeInvalid { // another door may have dropped the plain table
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
	return nil // the answer is not about rows
}
