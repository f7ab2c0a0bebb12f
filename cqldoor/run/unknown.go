// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// Events tell a door of other doors' tables. An event can come later than the answer that tells the
// other door's client that its table exists. So a door does not pass on at once a statement on a
// table that it does not know: the store would answer for the physical table. The door first looks
// for such a table and reads the catalogue if there is one.

// lacks reports whether the door knows no table of that name that clients can use. The store may
// have the physical table of one that is being created or dropped.
func (v *view) lacks(keyspace, name string) bool {
	if keyspace == "" || name == "" || strings.HasPrefix(keyspace, "system") {
		return false
	}
	return !v.names.Has(keyspace, name) || len(v.pending) > 0 && v.pending[syntax.Name{Keyspace: keyspace, Name: name}]
}

// target returns the table whose rights and rows a statement needs.
func target(h syntax.Head, keyspace string) syntax.Name {
	n := h.Name
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete,
		syntax.StatementTruncate, syntax.StatementAlterTable, syntax.StatementDropTable:
	case syntax.StatementCreateIndex, syntax.StatementCreateView:
		n = h.On
	default:
		return syntax.Name{}
	}
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	return n
}

// unknownTables returns the tables of a statement that the door does not know.
func (x *schemas) unknownTables(h syntax.Head, keyspace, text string) []syntax.Name {
	v, state := x.view.Load(), x.r.state.Load()
	if h.Kind != syntax.StatementBatch {
		if n := target(h, keyspace); v.lacks(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil {
			return []syntax.Name{n}
		}
		return nil
	}
	var all []syntax.Name
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.lacks(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// fresh refreshes the state if the store's schema has changed.
func (x *schemas) fresh(ctx context.Context) error {
	version, err := x.catalog.Version(ctx)
	if err != nil {
		return err
	}
	if version == x.view.Load().version {
		return nil
	}
	return x.refresh(ctx)
}

// freshOrReport calls fresh for callers that can continue without it. If fresh fails, it logs the
// error and keeps the old state.
func (x *schemas) freshOrReport(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	if err := x.fresh(within); err != nil && ctx.Err() == nil {
		x.r.opts.Log.Warn("the schema cannot be looked at; what is known goes on being served", "error", err)
	}
}

// relay sends a request unchanged and replies with its response.
func (r *Router) relay(ctx context.Context, req *cqldoor.Request) error {
	resp, err := r.forward(ctx, req)
	if err == nil {
		req.Reply(resp)
	}
	return err
}

// forward sends a request unchanged and waits for its response. If the request prepares a
// statement, clients may execute it from then on.
func (r *Router) forward(ctx context.Context, req *cqldoor.Request) (wire.Message, error) {
	v := r.schema.view.Load()
	resp, err := send(ctx, req)
	if err != nil || req.Op != wire.OpPrepare {
		return resp, err
	}
	if body, err := bodyOf(req.Message); err == nil {
		if p, err := wire.ParsePrepare(req.Version, body); err == nil {
			keyspace := req.Keyspace
			if p.Keyspace != nil {
				keyspace = string(p.Keyspace)
			}
			r.passedOn(req, v, keyspace, string(p.Text), resp)
		}
	}
	return resp, nil
}

func send(ctx context.Context, req *cqldoor.Request) (wire.Message, error) {
	link := req.Link
	if e, ok := link.(*coordinator); ok {
		link = e.Forwarder // the client gets the whole response, with its warnings
	}
	done := make(chan wire.Message, 1)
	link.Send(ctx, req.Message, func(resp wire.Message) {
		resp.Body = slices.Clone(resp.Body)
		done <- resp
	})
	select {
	case resp := <-done:
		return resp, nil
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// serveKnown serves a QUERY or PREPARE on sharded tables in its own goroutine.
func (r *Router) serveKnown(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	switch syntax.Target(text).Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete, syntax.StatementBatch:
	case syntax.StatementTruncate:
		n := target(syntax.Target(text), keyspace)
		if err := r.schema.mayTruncate(n); err != nil {
			return err
		}
		if r.schema.renamed(n, n.Keyspace) {
			return r.schema.truncate(ctx, req, n)
		}
		return r.relay(ctx, req)
	default:
		return r.schema.serveChange(ctx, req, keyspace, text)
	}
	s, err := r.statement(keyspace, text)
	if err != nil {
		return r.userFunction(ctx, keyspace, text, err)
	}
	if req.Op == wire.OpPrepare {
		r.registry.prepared(s)
		return r.prepare(ctx, req, s)
	}
	r.carryQuery(ctx, req, s)
	return nil
}

// serveChange serves a schema statement in its own goroutine.
func (x *schemas) serveChange(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	tree, err := syntax.Parse(text)
	switch {
	case err != nil:
		return syntaxError(err)
	case !x.concerns(tree, keyspace):
		return x.r.relay(ctx, req)
	case req.Op == wire.OpPrepare:
		return x.prepareOther(req, keyspace, text)
	}
	q, err := queryOf(req)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &q.Params)
}

// reconsider serves a statement on a sharded table that is wrong according to this door's schema.
// Another door may have altered the table.
func (r *Router) reconsider(ctx context.Context, req *cqldoor.Request, keyspace, text string, wrong error) error {
	before := r.state.Load()
	if err := r.schema.fresh(ctx); err != nil || r.state.Load() == before {
		return r.userFunction(ctx, keyspace, text, wrong)
	}
	if n := target(syntax.Target(text), keyspace); n.Name != "" && r.state.Load().Table(n.Keyspace, n.Name) == nil {
		return r.schema.relay(ctx, req, keyspace, text) // the table is no longer sharded
	}
	return r.serveKnown(ctx, req, keyspace, text)
}
