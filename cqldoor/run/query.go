// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// queries serves QUERY and PREPARE.
type queries struct {
	schema     *tables.Schemas
	definer    *definitions.Definer
	explains   *definitions.Explainer
	doors      *tables.Membership
	cache      *request.PlanCache
	state      *tables.States
	statements *request.Statements
	passer     *passer
	answers    *answers
	attempts   *request.Attempts
	preparer   *preparer
	relays     *request.Relays
}

// text serves QUERY and PREPARE. If it returns an error, nothing else ends the request.
func (x *queries) text(ctx context.Context, req *cqldoor.Request) error {
	body, err := request.BodyOf(req.Message)
	if err != nil {
		return err
	}
	var text, keyspace string
	var q wire.Query
	if req.Op == wire.OpPrepare {
		p, err := wire.ParsePrepare(req.Version, body)
		if err != nil {
			return err
		}
		text, keyspace = string(p.Text), request.KeyspaceOf(req, p.Keyspace)
	} else {
		if q, err = wire.ParseQuery(req.Version, body); err != nil {
			return err
		}
		text, keyspace = string(q.Text), request.KeyspaceOf(req, q.Params.Keyspace)
	}
	h := syntax.Target(text)
	v := x.schema.View.Load()
	if v.NamesCatalogue(h, text, keyspace) {
		return x.definer.ServeAbsent(req, h, keyspace, text)
	}
	if err := v.RefuseUnserved(h, text, keyspace); err != nil {
		return err
	}
	if tables.OfRows(h.Kind) && (x.doors.Lapsed() || req.Op == wire.OpPrepare && v.JudgeAll(h, keyspace, text) == tables.OfStore) {
		if at := tables.Target(h, keyspace); !(h.Kind == syntax.StatementSelect && tables.Hides(at.Keyspace, at.Name)) {
			req.Go(func(ctx context.Context) { finish(ctx, req, x.textFresh(ctx, req, keyspace, text)) })
			return nil
		}
	}
	if unknown := x.schema.UnknownTables(h, keyspace, text); len(unknown) > 0 {
		req.Go(func(ctx context.Context) { finish(ctx, req, x.settle(ctx, req, keyspace, text, unknown)) })
		return nil
	}
	if x.definer.Serve(ctx, req, h, keyspace, text) {
		return nil
	}
	s, err := x.statements.Statement(keyspace, text)
	if err != nil {
		req.Go(func(ctx context.Context) { finish(ctx, req, x.reconsider(ctx, req, keyspace, text, err)) })
		return nil
	}
	if req.Op == wire.OpPrepare {
		req.Go(func(ctx context.Context) { finish(ctx, req, x.prepareFresh(ctx, req, s)) })
		return nil
	}
	if err := s.CheckAmount(&q); err != nil {
		return err
	}
	if s.Whole() != nil && !s.Conditional() && !s.GoesOn(&q.Params) && !buckets.Announces(s.Write) {
		if passed, err := x.passer.queryOne(req, s, &q); passed || err != nil && !errors.Is(err, request.ErrWaits) {
			return s.Wrong(err)
		}
	}
	req.Go(func(ctx context.Context) { x.carryQuery(ctx, req, s) })
	return nil
}

// textFresh serves a QUERY or PREPARE on rows after the door has read the present schema. Another
// door may have dropped a table and created it again.
func (x *queries) textFresh(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	var late error
	if x.doors.Lapsed() {
		late = x.doors.Renew(ctx)
	} else {
		x.schema.RefreshIfChangedOrLog(ctx)
	}
	x.relays.Standing.JudgeAnew(req)
	if x.schema.View.Load().JudgeAll(syntax.Target(text), keyspace, text) == tables.OfStore {
		if req.Op == wire.OpPrepare && definitions.AsksExplain(req.Message) {
			return x.explains.ExplainPlain(ctx, req, keyspace, text)
		}
		if err := x.relays.Standing.Forwards(ctx, late); err != nil {
			return err
		}
		resp, err := x.relays.Forward(ctx, req)
		if err != nil {
			return err
		}
		// Another door may have made a sharded table of that name meanwhile. The store's error
		// then refers to the physical table.
		if resp.Op == wire.OpError {
			x.schema.RefreshIfChangedOrLog(ctx)
		}
		if resp.Op != wire.OpError || x.schema.View.Load().JudgeAll(syntax.Target(text), keyspace, text) == tables.OfStore {
			req.Reply(resp)
			return nil
		}
	}
	if late != nil {
		return late
	}
	if unknown := x.schema.UnknownTables(syntax.Target(text), keyspace, text); len(unknown) > 0 {
		return x.settle(ctx, req, keyspace, text, unknown)
	}
	return x.serveKnown(ctx, req, keyspace, text)
}

// settle serves a QUERY or PREPARE on unknown tables.
func (x *queries) settle(ctx context.Context, req *cqldoor.Request, keyspace, text string, tables []syntax.Name) error {
	resp, err := (&unknown{x.schema, x.relays, keyspace, text, tables}).ask(ctx, req)
	switch {
	case err != nil:
		return err
	case resp != nil:
		req.Reply(*resp)
		return nil
	}
	return x.serveKnown(ctx, req, keyspace, text)
}

// relayUnknown sends a QUERY or PREPARE on tables that are not sharded, as far as this door knows, and
// replies with the response.
func (x *queries) relayUnknown(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	if tables := x.schema.UnknownTables(syntax.Target(text), keyspace, text); len(tables) > 0 {
		return x.settle(ctx, req, keyspace, text, tables)
	}
	return x.relays.Relay(ctx, req)
}

// serveKnown serves a QUERY or PREPARE on sharded tables. It runs in a goroutine of the request.
func (x *queries) serveKnown(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	switch syntax.Target(text).Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete, syntax.StatementBatch:
	case syntax.StatementTruncate:
		n := tables.Target(syntax.Target(text), keyspace)
		if x.schema.View.Load().Tables[n.Keyspace][n.Name] != nil {
			return x.definer.Truncate(ctx, req, n)
		}
		return x.relays.Relay(ctx, req)
	default:
		return x.definer.ServeChange(ctx, req, keyspace, text)
	}
	s, err := x.statements.Statement(keyspace, text)
	if err != nil {
		return request.UserFunction(ctx, x.schema.Session, keyspace, text, err)
	}
	if req.Op == wire.OpPrepare {
		x.cache.Prepared(s)
		return x.preparer.prepare(ctx, req, s)
	}
	x.carryQuery(ctx, req, s)
	return nil
}

// reconsider serves a statement on a sharded table that is wrong according to this door's schema.
// Another door may have altered the table.
func (x *queries) reconsider(ctx context.Context, req *cqldoor.Request, keyspace, text string, wrong error) error {
	before := x.state.Load()
	if err := x.schema.RefreshIfChanged(ctx); err != nil || x.state.Load() == before {
		return request.UserFunction(ctx, x.schema.Session, keyspace, text, wrong)
	}
	if n := tables.Target(syntax.Target(text), keyspace); n.Name != "" && x.state.Load().Table(n.Keyspace, n.Name) == nil {
		return x.relayUnknown(ctx, req, keyspace, text) // the table is no longer sharded
	}
	return x.serveKnown(ctx, req, keyspace, text)
}

// carryQuery executes a QUERY that needs several requests.
func (x *queries) carryQuery(ctx context.Context, req *cqldoor.Request, s *request.Statement) {
	x.attempts.Carry(ctx, req, func(ctx context.Context, changed bool) error {
		if changed || s.Under != x.state.Load().Under {
			for _, t := range s.Tables() {
				if x.state.Load().Table(t.Keyspace, t.Name) == nil {
					return x.relayUnknown(ctx, req, s.Keyspace, s.Text) // the table was dropped or is no longer sharded
				}
			}
			now, err := x.statements.Statement(s.Keyspace, s.Text)
			if err != nil {
				return err // s stays, for the next attempt
			}
			s = now
		}
		return x.answers.querySlowly(ctx, req, s)
	})
}

// prepareFresh answers a PREPARE after the door has read the present schema. Another door may
// have changed the table, and the store may then have forgotten what the client had prepared.
func (x *queries) prepareFresh(ctx context.Context, req *cqldoor.Request, s *request.Statement) error {
	x.schema.RefreshIfChangedOrLog(ctx)
	st := x.state.Load()
	for _, t := range s.Tables() {
		if st.Table(t.Keyspace, t.Name) == nil {
			return x.relayUnknown(ctx, req, s.Keyspace, s.Text) // the table is no longer sharded
		}
	}
	s, err := x.statements.Statement(s.Keyspace, s.Text)
	if err != nil {
		return err
	}
	x.cache.Prepared(s)
	return x.preparer.prepare(ctx, req, s)
}
