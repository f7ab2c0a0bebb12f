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

// text serves QUERY and PREPARE. If it returns an error, the caller ends the request with it.
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
	if tables.OnRows(h.Kind) && (x.doors.Lapsed() || req.Op == wire.OpPrepare && v.JudgeAll(h, keyspace, text) == tables.ToStore) {
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

// settle serves a QUERY or PREPARE on tables that the door does not know.
func (x *queries) settle(ctx context.Context, req *cqldoor.Request, keyspace, text string, names []syntax.Name) error {
	resp, err := (&unknown{x.schema, x.relays, keyspace, text, names}).ask(ctx, req)
	switch {
	case err != nil:
		return err
	case resp != nil:
		req.Reply(*resp)
		return nil
	}
	return x.serveKnown(ctx, req, keyspace, text)
}

// relayUnknown sends a QUERY or PREPARE to the store unchanged and replies with the response. As far as
// this door knows, the statement's tables are not sharded.
func (x *queries) relayUnknown(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	if names := x.schema.UnknownTables(syntax.Target(text), keyspace, text); len(names) > 0 {
		return x.settle(ctx, req, keyspace, text, names)
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
				return err // the next attempt begins with s again
			}
			s = now
		}
		return x.answers.querySlowly(ctx, req, s)
	})
}
