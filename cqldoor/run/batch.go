// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/cqldoor/write"
)

var errNotWrite = wire.Invalidf("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")

// batches serves BATCH.
type batches struct {
	schema     *tables.Schemas
	cache      *request.PlanCache
	state      *tables.States
	statements *request.Statements
	binder     *request.Binder
	writer     *write.Writer
	relays     *request.Relays
	doors      *tables.Membership
}

// batch serves a BATCH message.
func (x *batches) batch(ctx context.Context, req *cqldoor.Request) error {
	body, err := request.BodyOf(req.Message)
	if err != nil {
		return err
	}
	in, err := wire.ParseBatch(req.Version, body)
	if err != nil {
		return err
	}
	keyspace := request.KeyspaceOf(req, in.Params.Keyspace)
	if keyspace == catalog.Keyspace {
		return definitions.Absent(req, syntax.Head{}, "", keyspace)
	}
	var late error
	if x.doors.Lapsed() {
		late = x.doors.Renew(ctx)
		x.relays.Standing.JudgeAnew(req)
	}
	var tables []syntax.Name
	for it := in.Iter(); it.Next(); {
		if it.Prepared {
			continue
		}
		text := string(it.Text)
		h, v := syntax.Target(text), x.schema.View.Load()
		if err := v.RefuseUnserved(h, text, keyspace); err != nil {
			return err
		}
		if v.NamesCatalogue(h, text, keyspace) {
			if err := definitions.Absent(req, h, text, keyspace); err != nil {
				return err
			}
			return errNotWrite
		}
		tables = append(tables, x.schema.UnknownTables(h, keyspace, text)...)
	}
	asked := &unknown{x: x.schema, relays: x.relays, keyspace: keyspace, tables: tables}
	if err := asked.look(ctx); err != nil {
		return err
	}
	if _, _, err := asked.judge(); err != nil {
		return err
	}
	out := wire.Batch{}
	g := x.writer.NewGathering(req, &in.Params)
	made := request.ValueMemory{Ctx: ctx}
	defer made.Close()
	var before eval.Env // the previous statement's
	for it := in.Iter(); it.Next(); {
		s, err := x.child(keyspace, &it.BatchStatement)
		if err != nil {
			return request.UserFunction(ctx, x.schema.Session, keyspace, string(it.Text), err)
		}
		if s == nil {
			out.Raw = append(out.Raw, in.Raw[it.Start:it.End]...)
			out.Count++
			continue
		}
		// In a BATCH, Cassandra begins this message with a capital.
		if want := len(s.Head.Binds); it.Values.Count != want {
			return wire.Invalidf("There were %d markers(?) in CQL but %d bound variables", want, it.Values.Count)
		}
		var env eval.Env
		if err := x.binder.Fill(&env, s, &it.Values, nil); err != nil {
			return err
		}
		if s.Write == nil {
			return errNotWrite
		}
		for _, n := range request.WriteNeeds(s.Write) {
			request.Needed(req, n)
		}
		request.Planned(req, s)
		env.Wanted, env.Memory = ctx, &made
		env.After(&before)
		b, err := s.Write.Logical.Bind(&env)
		if err != nil {
			return err
		}
		if err := g.Add(s.Write, b); err != nil {
			return err
		}
		before = env
	}
	if out.Count == in.Count {
		if err := x.relays.Standing.MayForward(ctx, late); err != nil {
			return err
		}
		resp, err := asked.ask(ctx, req) // the door knows no statement in it that is on a sharded table
		switch {
		case err != nil:
			return err
		case resp != nil:
			req.Reply(*resp)
			return nil
		}
		return x.batch(ctx, req) // one of the tables is sharded now
	}
	if late != nil {
		return late
	}
	if out.Count > 0 {
		request.NoteForwarded(req)
	}
	if err := g.Check(); err != nil {
		return err
	}
	out.Type = g.Kind(in.Type)
	if err := g.Ask(ctx, req); err != nil {
		return err
	}
	if g.Moving {
		return x.writer.Move(ctx, req, g, &out, &in.Params)
	}
	if err := g.Announce(ctx, x.writer.Buckets, req); err != nil {
		return err
	}
	g.Name(req)
	if g.Stamped != nil {
		x.writer.Placer.Stamp(req, &in.Params, g.Stamped)
	}
	return x.writer.Applier.SendBatch(ctx, req, &out, g.Mutations, &in.Params, g.Of)
}

// child returns the planned statement of one part of a BATCH. It returns nil for a part that the door
// passes on.
func (x *batches) child(keyspace string, b *wire.BatchStatement) (*request.Statement, error) {
	if b.Prepared {
		k := x.cache.Known.Get(b.ID)
		switch {
		case k == nil || k.Passed != nil && !x.relays.Passes(k.Passed):
			return nil, request.Unprepared(b.ID)
		case k.Passed != nil:
			return nil, nil
		case k.Schema != nil:
			return nil, errNotWrite
		}
		return x.statements.Current(k.Statement)
	}
	text := string(b.Text)
	h := syntax.Target(text)
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete:
	default:
		return nil, nil // the store will refuse it
	}
	if n := tables.Target(h, keyspace); x.state.Load().Table(n.Keyspace, n.Name) == nil {
		return nil, nil
	}
	return x.statements.Statement(keyspace, text)
}
