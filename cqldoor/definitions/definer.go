// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"crypto/md5"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/schemaview"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Options holds the external dependencies and settings of a Definer.
type Options struct {
	*tables.Options
	Timeuuid     func() [16]byte
	Takeover     time.Duration     // this door takes over the change of a mover that shows no sign of life for so long
	Hints        time.Duration     // how long the store may take to deliver a write that it has accepted
	Rules        *shardrules.Rules // nil: the door uses the rules that the store has
	ReplaceRules bool              // Rules replace the store's rules if these are different
}

// Definer serves requests about the schema: DDL (ddl.go), and reads of the schema through Viewer.
type Definer struct {
	Opts     *Options
	Cache    *request.PlanCache
	Schemas  *tables.Schemas
	Catalog  *catalog.Catalog
	View     *atomic.Pointer[tables.View]
	State    *tables.States
	Doors    *tables.Membership
	Rules    *ShardRules
	Explains *Explainer
	Relays   *request.Relays
	Viewer   *schemaview.Viewer
	Movers   *Movers       // set by Start
	Limit    time.Duration // bounds the time of a schema statement; ChangeLimit, except in tests
}

// Serve serves a QUERY or PREPARE that is about the schema, and forwards one that the store handles. It returns
// false, and does nothing, for a BATCH, and for a SELECT, INSERT, UPDATE or DELETE on a sharded table.
func (x *Definer) Serve(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) bool {
	at := keyspace
	if h.Name.Keyspace != "" {
		at = h.Name.Keyspace
	}
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete:
		if h.Kind == syntax.StatementSelect && tables.Hides(at, h.Name.Name) {
			x.Viewer.ServeSelect(ctx, req, keyspace, text)
			return true
		}
		if x.State.Load().Table(at, h.Name.Name) != nil {
			return false
		}
	case syntax.StatementBatch:
		return false
	case syntax.StatementTruncate:
		if n := (syntax.Name{Keyspace: at, Name: h.Name.Name}); x.View.Load().Tables[at][n.Name] != nil {
			req.Go(func(ctx context.Context) { request.ReplyError(req, x.Truncate(ctx, req, n)) })
			return true
		}
	default:
		x.serveOther(ctx, req, h, keyspace, text)
		return true
	}
	req.Forward()
	return true
}

// ServeAbsent answers a QUERY or PREPARE of a statement on the catalogue. For clients, the catalogue does not
// exist. Cassandra prepares some statements without looking at the tables that they name. The door prepares
// these statements too, and refuses to execute them. ServeAbsent returns the error that the caller must reply with.
func (x *Definer) ServeAbsent(req *cqldoor.Request, h syntax.Head, keyspace, text string) error {
	err := Absent(req, h, text, keyspace)
	switch {
	case req.Op == wire.OpPrepare && !tables.OnRows(h.Kind) && h.Kind != syntax.StatementUnknown && keyspace != catalog.Keyspace:
		if _, wrong := syntax.Parse(text); wrong == nil {
			return x.prepareOther(req, keyspace, text)
		}
	case err == nil:
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
	}
	return err
}

// serveOther serves DDL, DESCRIBE, and statements that the store handles.
func (x *Definer) serveOther(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) {
	if passed, refreshed := x.View.Load().Plain(h, keyspace, text); passed {
		if !refreshed || req.Op == wire.OpPrepare {
			req.Pass(req.Message)
			return
		}
		req.Go(func(ctx context.Context) { request.ReplyError(req, x.passOn(ctx, req)) })
		return
	}
	if h.Kind == syntax.StatementCreateTable && !syntax.Mentions(text, catalog.Property) && !x.View.Load().Renamed(h.Name, keyspace) {
		req.Go(func(ctx context.Context) { request.ReplyError(req, x.createByRule(ctx, req, h, keyspace, text)) })
		return
	}
	tree, err := syntax.Parse(text)
	if err != nil && x.View.Load().Near(h, keyspace) {
		req.Error(request.SyntaxError(err))
		return
	}
	if err != nil || !x.View.Load().Concerns(tree, keyspace) {
		req.Pass(req.Message)
		return
	}
	if req.Op == wire.OpPrepare {
		request.ReplyError(req, x.prepareOther(req, keyspace, text))
		return
	}
	req.Go(func(ctx context.Context) {
		q, err := request.QueryOf(req)
		if err == nil {
			err = x.execute(ctx, req, tree, keyspace, text, &q.Params)
		}
		request.ReplyError(req, err)
	})
}

// passOn sends DDL to the store unchanged. It reads the schema again before it replies with the store's answer.
func (x *Definer) passOn(ctx context.Context, req *cqldoor.Request) error {
	return x.limited(ctx, func(ctx context.Context) error {
		a, err := request.AskStore(ctx, req, wire.Message{Op: req.Op, Flags: req.Flags, Body: req.Body})
		if err != nil {
			return err
		}
		return (&change{Definer: x, req: req}).finish(ctx, a)
	})
}

// execute executes DDL or a DESCRIBE, and replies.
func (x *Definer) execute(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	if _, ok := tree.(*syntax.Describe); ok {
		return x.Viewer.Describe(ctx, req, text, params)
	}
	return x.ddl(ctx, req, tree, keyspace, text, params)
}

// prepareOther answers the PREPARE of a statement without bind markers whose result columns are not known in
// advance.
func (x *Definer) prepareOther(req *cqldoor.Request, keyspace, text string) error {
	req.Reply(wire.Message{Op: wire.OpResult, Body: x.preparedOther(req, keyspace, text)})
	return nil
}

// preparedOther notes the prepared statement, and returns the body of the answer of prepareOther.
func (x *Definer) preparedOther(req *cqldoor.Request, keyspace, text string) []byte {
	id := request.NewID(keyspace, text)
	execute := func(ctx context.Context, req *cqldoor.Request) error {
		return x.executePrepared(ctx, req, keyspace, text)
	}
	x.Cache.Known.Put(&request.Known{ID: id, Schema: execute, Size: len(text)})
	none := md5.Sum(nil)
	return wire.AppendPrepared(nil, req.Version, &wire.Prepared{ID: id[:], MetadataID: none[:], Result: wire.Metadata{Flags: wire.MetadataNone}})
}

// executePrepared serves an EXECUTE of a statement that prepareOther has prepared.
func (x *Definer) executePrepared(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	e, err := request.ExecuteOf(req)
	if err != nil {
		return err
	}
	h := syntax.Target(text)
	if x.View.Load().NamesCatalogue(h, text, keyspace) {
		if err := Absent(req, h, text, keyspace); err != nil {
			return err
		}
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
		return nil
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &e.Params)
}

// ServeChange serves a schema statement. It may wait for the store, so the caller runs it in a goroutine of the
// statement's own.
func (x *Definer) ServeChange(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	tree, err := syntax.Parse(text)
	switch {
	case err != nil:
		return request.SyntaxError(err)
	case !x.View.Load().Concerns(tree, keyspace):
		return x.Relays.Relay(ctx, req)
	case req.Op == wire.OpPrepare:
		return x.prepareOther(req, keyspace, text)
	}
	q, err := request.QueryOf(req)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &q.Params)
}
