// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"crypto/md5"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/shardrules"
)

// definitionOptions say what the definer needs.
type definitionOptions struct {
	*tablesOptions
	Timeuuid     func() [16]byte
	Takeover     time.Duration     // how long another door's mover may show no sign of life
	Hints        time.Duration     // how long the store may take to deliver a write that it has accepted
	Rules        *shardrules.Rules // nil: the rules that the store has
	ReplaceRules bool              // Rules replace different ones that the store has
}

// definer serves requests about the schema: DDL (ddl.go), and reads of the schema through viewer.
type definer struct {
	opts     *definitionOptions
	cache    *planCache
	schemas  *schemas
	catalog  *catalog.Catalog
	view     *atomic.Pointer[view]
	state    *states
	doors    *membership
	rules    *ruled
	explains *explains
	relays   *relays
	viewer   *viewer
	movers   *movers       // set by Start
	limit    time.Duration // changeLimit, but in tests
}

// serve serves a QUERY or PREPARE that is about the schema, or that the store handles after all.
// It returns false for any other.
func (x *definer) serve(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) bool {
	at := keyspace
	if h.Name.Keyspace != "" {
		at = h.Name.Keyspace
	}
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete:
		if h.Kind == syntax.StatementSelect && hides(at, h.Name.Name) {
			x.viewer.serveSelect(ctx, req, keyspace, text)
			return true
		}
		if x.state.Load().Table(at, h.Name.Name) != nil {
			return false
		}
	case syntax.StatementBatch:
		return false
	case syntax.StatementTruncate:
		if n := (syntax.Name{Keyspace: at, Name: h.Name.Name}); x.view.Load().tables[at][n.Name] != nil {
			req.Go(func(ctx context.Context) { replyError(req, x.truncate(ctx, req, n)) })
			return true
		}
	default:
		x.serveOther(ctx, req, h, keyspace, text)
		return true
	}
	req.Forward()
	return true
}

// serveAbsent answers a QUERY or PREPARE of a statement on the catalogue, which does not exist for
// clients. Cassandra prepares some statements without looking at the tables that they name. The door
// prepares these, too, and refuses to execute them.
func (x *definer) serveAbsent(req *cqldoor.Request, h syntax.Head, keyspace, text string) error {
	err := absent(req, h, text, keyspace)
	switch {
	case req.Op == wire.OpPrepare && !ofRows(h.Kind) && h.Kind != syntax.StatementUnknown && keyspace != catalog.Keyspace:
		if _, wrong := syntax.Parse(text); wrong == nil {
			return x.prepareOther(req, keyspace, text)
		}
	case err == nil:
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
	}
	return err
}

// noKeyspace returns Cassandra's error for a keyspace that does not exist.
func noKeyspace(name string) error { return wire.Invalidf("keyspace %s does not exist", name) }

// serveOther serves DDL, DESCRIBE, and statements that the store handles.
func (x *definer) serveOther(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) {
	if passed, refreshed := x.view.Load().plain(h, keyspace, text); passed {
		if !refreshed || req.Op == wire.OpPrepare {
			req.Pass(req.Message)
			return
		}
		req.Go(func(ctx context.Context) { replyError(req, x.passOn(ctx, req)) })
		return
	}
	if h.Kind == syntax.StatementCreateTable && !syntax.Mentions(text, catalog.Property) && !x.view.Load().renamed(h.Name, keyspace) {
		req.Go(func(ctx context.Context) { replyError(req, x.createByRule(ctx, req, h, keyspace, text)) })
		return
	}
	tree, err := syntax.Parse(text)
	if err != nil && x.view.Load().near(h, keyspace) {
		req.Error(syntaxError(err))
		return
	}
	if err != nil || !x.view.Load().concerns(tree, keyspace) {
		req.Pass(req.Message)
		return
	}
	if req.Op == wire.OpPrepare {
		replyError(req, x.prepareOther(req, keyspace, text))
		return
	}
	req.Go(func(ctx context.Context) {
		q, err := queryOf(req)
		if err == nil {
			err = x.execute(ctx, req, tree, keyspace, text, &q.Params)
		}
		replyError(req, err)
	})
}

// passOn passes DDL on unchanged. It reads the schema again before it passes the answer on.
func (x *definer) passOn(ctx context.Context, req *cqldoor.Request) error {
	return x.limited(ctx, func(ctx context.Context) error {
		a, err := askStore(ctx, req, wire.Message{Op: req.Op, Flags: req.Flags, Body: req.Body})
		if err != nil {
			return err
		}
		return (&change{definer: x, req: req}).finish(ctx, a)
	})
}

// replyError answers a request that has failed.
func replyError(req *cqldoor.Request, err error) {
	if err != nil {
		req.Error(err)
	}
}

// execute executes DDL or a DESCRIBE, and answers.
func (x *definer) execute(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	if _, ok := tree.(*syntax.Describe); ok {
		return x.viewer.describe(ctx, req, text, params)
	}
	return x.ddl(ctx, req, tree, keyspace, text, params)
}

// prepareOther answers the PREPARE of a statement that has no markers and no result columns known
// in advance.
func (x *definer) prepareOther(req *cqldoor.Request, keyspace, text string) error {
	req.Reply(wire.Message{Op: wire.OpResult, Body: x.preparedOther(req, keyspace, text)})
	return nil
}

// preparedOther returns the body of that answer.
func (x *definer) preparedOther(req *cqldoor.Request, keyspace, text string) []byte {
	id := newID(keyspace, text)
	execute := func(ctx context.Context, req *cqldoor.Request) error {
		return x.executePrepared(ctx, req, keyspace, text)
	}
	x.cache.known.put(&known{id: id, schema: execute, size: len(text)})
	none := md5.Sum(nil)
	return wire.AppendPrepared(nil, req.Version, &wire.Prepared{ID: id[:], MetadataID: none[:], Result: wire.Metadata{Flags: wire.MetadataNone}})
}

// executePrepared serves an EXECUTE of a statement that was prepared here.
func (x *definer) executePrepared(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	e, err := executeOf(req)
	if err != nil {
		return err
	}
	h := syntax.Target(text)
	if x.view.Load().namesCatalogue(h, text, keyspace) {
		if err := absent(req, h, text, keyspace); err != nil {
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

// serveChange serves a schema statement in its own goroutine.
func (x *definer) serveChange(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	tree, err := syntax.Parse(text)
	switch {
	case err != nil:
		return syntaxError(err)
	case !x.view.Load().concerns(tree, keyspace):
		return x.relays.relay(ctx, req)
	case req.Op == wire.OpPrepare:
		return x.prepareOther(req, keyspace, text)
	}
	q, err := queryOf(req)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &q.Params)
}
