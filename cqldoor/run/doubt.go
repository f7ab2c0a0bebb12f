package run

import (
	"context"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// A door learns of another door's tables by events, which come a moment later than
// the other's client is told that its table is there. A statement on a table that
// this door has never heard of is therefore not passed on as it is: the store would
// answer it for the physical table. The door looks whether there is such a table
// first, and if so reads the catalogue.

// doubts says that a table of that name is not known, neither as a sharded one nor
// as another.
func (v *view) doubts(keyspace, name string) bool {
	return keyspace != "" && name != "" && !v.names.Has(keyspace, name) && !strings.HasPrefix(keyspace, "system")
}

// target is the table that a statement's rights and rows are those of.
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

// doubtful are the tables of a statement that are not known.
func (x *schemaSide) doubtful(h syntax.Head, keyspace, text string) []syntax.Name {
	v, state := x.view.Load(), x.r.state.Load()
	if h.Kind != syntax.StatementBatch {
		if n := target(h, keyspace); v.doubts(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil {
			return []syntax.Name{n}
		}
		return nil
	}
	var all []syntax.Name
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.doubts(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// look brings the state up to date where the store has one of some tables that are
// not known here, and says whether it has.
func (x *schemaSide) look(ctx context.Context, tables []syntax.Name) (bool, error) {
	for _, n := range tables {
		if !x.view.Load().doubts(n.Keyspace, n.Name) {
			return true, nil // another request has looked
		}
		found, err := x.catalog.Exists(ctx, n.Keyspace, n.Name)
		if err != nil {
			return false, err
		}
		if found {
			return true, x.refresh(ctx)
		}
	}
	return false, nil
}

// fresh brings the state up to date where the schema of the store has changed.
func (x *schemaSide) fresh(ctx context.Context) error {
	version, err := x.catalog.Version(ctx)
	if err != nil {
		return err
	}
	if version == x.view.Load().version {
		return nil
	}
	return x.refresh(ctx)
}

// settle serves a QUERY or PREPARE on tables that are not known.
func (r *Router) settle(ctx context.Context, req *cqldoor.Request, keyspace, text string, tables []syntax.Name) error {
	for {
		found, err := r.schema.look(ctx, tables)
		if err != nil {
			return err
		}
		if found && slices.ContainsFunc(tables, func(n syntax.Name) bool { return r.state.Load().Table(n.Keyspace, n.Name) != nil }) {
			return r.serveKnown(ctx, req, keyspace, text)
		}
		resp, err := forward(ctx, req)
		if err != nil {
			return err
		}
		if found {
			req.Reply(resp)
			return nil
		}
		// A table may have been made since we looked: then the answer is not that of
		// a table of this name.
		if found, err = r.schema.look(ctx, tables); err != nil {
			return err
		}
		if !found || !slices.ContainsFunc(tables, func(n syntax.Name) bool { return r.state.Load().Table(n.Keyspace, n.Name) != nil }) {
			req.Reply(resp)
			return nil
		}
	}
}

// relay sends a request as it came and answers with its response.
func relay(ctx context.Context, req *cqldoor.Request) error {
	resp, err := forward(ctx, req)
	if err == nil {
		req.Reply(resp)
	}
	return err
}

// forward sends a request as it came and waits for its response.
func forward(ctx context.Context, req *cqldoor.Request) (wire.Message, error) {
	link := req.Link
	if e, ok := link.(*errand); ok {
		link = e.Forwarder // the response is the client's with all that is beside it
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

// serveKnown serves a QUERY or PREPARE on sharded tables from a goroutine of its
// own.
func (r *Router) serveKnown(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	switch syntax.Target(text).Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete, syntax.StatementBatch:
	case syntax.StatementTruncate:
		return relay(ctx, req)
	default:
		return r.schema.serveChange(ctx, req, keyspace, text)
	}
	s, err := r.statement(keyspace, text)
	if err != nil {
		return err
	}
	if req.Op == wire.OpPrepare {
		r.registry.statements.put(s.id, s)
		return r.prepare(ctx, req, s)
	}
	r.carry(ctx, req, func() error { return r.querySlowly(ctx, req, s) })
	return nil
}

// serveChange serves a schema statement likewise.
func (x *schemaSide) serveChange(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	tree, err := syntax.Parse(text)
	switch {
	case err != nil:
		return syntaxError(err)
	case !x.concerns(tree, keyspace):
		return relay(ctx, req)
	case req.Op == wire.OpPrepare:
		return x.prepareOther(req, keyspace, text)
	}
	q, err := queryOf(req)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &q.Params)
}

// reconsider serves a statement on a sharded table that is wrong as far as this
// door knows: another door may have altered the table.
func (r *Router) reconsider(ctx context.Context, req *cqldoor.Request, keyspace, text string, wrong error) error {
	before := r.state.Load()
	if err := r.schema.fresh(ctx); err != nil || r.state.Load() == before {
		return wrong
	}
	if n := target(syntax.Target(text), keyspace); n.Name != "" && r.state.Load().Table(n.Keyspace, n.Name) == nil {
		return relay(ctx, req) // it is not sharded any more
	}
	return r.serveKnown(ctx, req, keyspace, text)
}
