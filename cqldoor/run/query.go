// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// queries serves QUERY and PREPARE.
type queries struct {
	schema     *schemas
	definer    *definer
	explains   *explains
	doors      *membership
	cache      *planCache
	state      *states
	statements *statements
	passer     *passer
	answers    *answers
	attempts   *attempts
	preparer   *preparer
	relays     *relays
}

// text serves QUERY and PREPARE. If it returns an error, nothing else ends the request.
func (x *queries) text(ctx context.Context, req *cqldoor.Request) error {
	body, err := bodyOf(req.Message)
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
		text, keyspace = string(p.Text), keyspaceOf(req, p.Keyspace)
	} else {
		if q, err = wire.ParseQuery(req.Version, body); err != nil {
			return err
		}
		text, keyspace = string(q.Text), keyspaceOf(req, q.Params.Keyspace)
	}
	h := syntax.Target(text)
	v := x.schema.view.Load()
	if v.namesCatalogue(h, text, keyspace) {
		return x.definer.serveAbsent(req, h, keyspace, text)
	}
	if err := v.refuseUnserved(h, text, keyspace); err != nil {
		return err
	}
	if ofRows(h.Kind) && (x.doors.lapsed() || req.Op == wire.OpPrepare && v.judgeAll(h, keyspace, text) == ofStore) {
		if at := target(h, keyspace); !(h.Kind == syntax.StatementSelect && hides(at.Keyspace, at.Name)) {
			req.Go(func(ctx context.Context) { finish(ctx, req, x.textFresh(ctx, req, keyspace, text)) })
			return nil
		}
	}
	if unknown := x.schema.unknownTables(h, keyspace, text); len(unknown) > 0 {
		req.Go(func(ctx context.Context) { finish(ctx, req, x.settle(ctx, req, keyspace, text, unknown)) })
		return nil
	}
	if x.definer.serve(ctx, req, h, keyspace, text) {
		return nil
	}
	s, err := x.statements.statement(keyspace, text)
	if err != nil {
		req.Go(func(ctx context.Context) { finish(ctx, req, x.reconsider(ctx, req, keyspace, text, err)) })
		return nil
	}
	if req.Op == wire.OpPrepare {
		req.Go(func(ctx context.Context) { finish(ctx, req, x.prepareFresh(ctx, req, s)) })
		return nil
	}
	if err := s.checkAmount(&q); err != nil {
		return err
	}
	if s.whole() != nil && !s.conditional() && !s.goesOn(&q.Params) && !announces(s.write) {
		if passed, err := x.passer.queryOne(req, s, &q); passed || err != nil && !errors.Is(err, errWaits) {
			return s.wrong(err)
		}
	}
	req.Go(func(ctx context.Context) { x.carryQuery(ctx, req, s) })
	return nil
}

// textFresh serves a QUERY or PREPARE on rows after the door has read the present schema. Another
// door may have dropped a table and created it again.
func (x *queries) textFresh(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	var late error
	if x.doors.lapsed() {
		late = x.doors.renew(ctx)
	} else {
		x.schema.refreshIfChangedOrLog(ctx)
	}
	x.relays.standing.judgeAnew(req)
	if x.schema.view.Load().judgeAll(syntax.Target(text), keyspace, text) == ofStore {
		if req.Op == wire.OpPrepare && asksExplain(req.Message) {
			return x.explains.explainPlain(ctx, req, keyspace, text)
		}
		if err := x.relays.standing.forwards(ctx, late); err != nil {
			return err
		}
		resp, err := x.relays.forward(ctx, req)
		if err != nil {
			return err
		}
		// Another door may have made a sharded table of that name meanwhile. The store's error
		// then refers to the physical table.
		if resp.Op == wire.OpError {
			x.schema.refreshIfChangedOrLog(ctx)
		}
		if resp.Op != wire.OpError || x.schema.view.Load().judgeAll(syntax.Target(text), keyspace, text) == ofStore {
			req.Reply(resp)
			return nil
		}
	}
	if late != nil {
		return late
	}
	if unknown := x.schema.unknownTables(syntax.Target(text), keyspace, text); len(unknown) > 0 {
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
	if tables := x.schema.unknownTables(syntax.Target(text), keyspace, text); len(tables) > 0 {
		return x.settle(ctx, req, keyspace, text, tables)
	}
	return x.relays.relay(ctx, req)
}

// serveKnown serves a QUERY or PREPARE on sharded tables. It runs in a goroutine of the request.
func (x *queries) serveKnown(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	switch syntax.Target(text).Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete, syntax.StatementBatch:
	case syntax.StatementTruncate:
		n := target(syntax.Target(text), keyspace)
		if x.schema.view.Load().tables[n.Keyspace][n.Name] != nil {
			return x.definer.truncate(ctx, req, n)
		}
		return x.relays.relay(ctx, req)
	default:
		return x.definer.serveChange(ctx, req, keyspace, text)
	}
	s, err := x.statements.statement(keyspace, text)
	if err != nil {
		return userFunction(ctx, x.schema.session, keyspace, text, err)
	}
	if req.Op == wire.OpPrepare {
		x.cache.prepared(s)
		return x.preparer.prepare(ctx, req, s)
	}
	x.carryQuery(ctx, req, s)
	return nil
}

// reconsider serves a statement on a sharded table that is wrong according to this door's schema.
// Another door may have altered the table.
func (x *queries) reconsider(ctx context.Context, req *cqldoor.Request, keyspace, text string, wrong error) error {
	before := x.state.Load()
	if err := x.schema.refreshIfChanged(ctx); err != nil || x.state.Load() == before {
		return userFunction(ctx, x.schema.session, keyspace, text, wrong)
	}
	if n := target(syntax.Target(text), keyspace); n.Name != "" && x.state.Load().Table(n.Keyspace, n.Name) == nil {
		return x.relayUnknown(ctx, req, keyspace, text) // the table is no longer sharded
	}
	return x.serveKnown(ctx, req, keyspace, text)
}

// carryQuery executes a QUERY that needs several requests.
func (x *queries) carryQuery(ctx context.Context, req *cqldoor.Request, s *statement) {
	x.attempts.carry(ctx, req, func(ctx context.Context, changed bool) error {
		if changed || s.under != x.state.Load().under {
			for _, t := range s.tables() {
				if x.state.Load().Table(t.Keyspace, t.Name) == nil {
					return x.relayUnknown(ctx, req, s.keyspace, s.text) // the table was dropped or is no longer sharded
				}
			}
			now, err := x.statements.statement(s.keyspace, s.text)
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
func (x *queries) prepareFresh(ctx context.Context, req *cqldoor.Request, s *statement) error {
	x.schema.refreshIfChangedOrLog(ctx)
	st := x.state.Load()
	for _, t := range s.tables() {
		if st.Table(t.Keyspace, t.Name) == nil {
			return x.relayUnknown(ctx, req, s.keyspace, s.text) // the table is no longer sharded
		}
	}
	s, err := x.statements.statement(s.keyspace, s.text)
	if err != nil {
		return err
	}
	x.cache.prepared(s)
	return x.preparer.prepare(ctx, req, s)
}
