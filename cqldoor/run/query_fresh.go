// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// textFresh reads the present schema and then serves a QUERY or PREPARE on rows. Another door may have
// dropped a table and created it again.
func (x *queries) textFresh(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	var late error
	if x.doors.Lapsed() {
		late = x.doors.Renew(ctx)
	} else {
		x.schema.RefreshIfChangedOrLog(ctx)
	}
	x.relays.Standing.JudgeAnew(req)
	if x.schema.View.Load().JudgeAll(syntax.Target(text), keyspace, text) == tables.ToStore {
		if req.Op == wire.OpPrepare && definitions.AsksExplain(req.Message) {
			return x.explains.ExplainPlain(ctx, req, keyspace, text)
		}
		if err := x.relays.Standing.MayForward(ctx, late); err != nil {
			return err
		}
		resp, err := x.relays.Forward(ctx, req)
		if err != nil {
			return err
		}
		// Another door may have created a sharded table of that name meanwhile. The store's error
		// is then about the physical table.
		if resp.Op == wire.OpError {
			x.schema.RefreshIfChangedOrLog(ctx)
		}
		if resp.Op != wire.OpError || x.schema.View.Load().JudgeAll(syntax.Target(text), keyspace, text) == tables.ToStore {
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

// reconsider serves a statement on a sharded table after this door has found the statement wrong. Another
// door may have altered the table, so reconsider first reads the schema again. request.Attempts does the same
// for statements that the door has begun to execute.
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

// prepareFresh reads the present schema and then answers a PREPARE. Another door may have changed the table.
// The store may then have forgotten the statement that the client had prepared.
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
