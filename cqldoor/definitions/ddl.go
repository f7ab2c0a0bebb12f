// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// change is a schema statement under way. The door sends physical statements over the client's link, so they have
// the client's rights. The door writes the catalogue with its own account.
type change struct {
	*Definer
	req      *cqldoor.Request
	params   *wire.Params
	keyspace string // the keyspace of the statement
	text     string // as the client wrote it
}

// ChangeLimit bounds the time of a schema statement.
const ChangeLimit = time.Minute

// ddl executes a schema statement within the limit, and replies.
func (x *Definer) ddl(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	return x.limited(ctx, func(ctx context.Context) error { return x.define(ctx, req, tree, keyspace, text, params) })
}

// limited calls execute, which may take as long as Limit. It goes on if the client leaves. If the time is over,
// limited returns a write timeout, because the store may still carry the statement out.
func (x *Definer) limited(ctx context.Context, execute func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.Limit)
	defer cancel()
	err := execute(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	late := wire.Errorf(wire.CodeWriteTimeout, "evenkeel: the store has not answered in time; it may or may not carry the statement out: look at the schema before you send the statement again")
	late.Consistency, late.Required, late.WriteType = wire.One, 1, wire.WriteSimple
	return late
}

// define executes a schema statement and replies.
func (x *Definer) define(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	c := &change{Definer: x, req: req, params: params, keyspace: keyspace, text: text}
	if n := tables.ObjectOf(tree); n.Keyspace != "" {
		c.keyspace = n.Keyspace
	}
	if c.keyspace == "" {
		_, err := ddl.Apply(&schema.Schema{}, tree, c.env())
		return err // the error says that neither the statement nor the connection names a keyspace
	}
	switch t := tree.(type) {
	case *syntax.CreateTable:
		return c.createTable(ctx, t)
	case *syntax.AlterTable:
		return c.alterTable(ctx, t)
	case *syntax.Drop:
		switch t.Kind {
		case syntax.KindTable:
			return c.dropTable(ctx, t)
		case syntax.KindKeyspace:
			return c.dropKeyspace(ctx, t)
		}
	case *syntax.CreateIndex:
		return c.refuse(ctx, t.Table.Name, "an index", errIndex)
	case *syntax.CreateView:
		if c.View.Load().Renamed(t.Name, c.keyspace) {
			return c.taken(ctx, t.Name.Name, t.IfNotExists)
		}
		return c.refuse(ctx, t.Select.From.Name, "a materialized view", errView)
	case *syntax.Other:
		if err := c.mayTrigger(ctx, t); err != nil {
			return err
		}
		return errTrigger
	}
	return c.other(ctx)
}

// refuse returns an error for a statement that would create an object on a sharded table. If the client has the
// right to alter the table, the error is the parameter refused, or another one if the table is plain again. what
// names the object in that error. If the table has no entry, refuse passes the statement on.
func (c *change) refuse(ctx context.Context, table, what string, refused error) error {
	t := c.View.Load().Tables[c.keyspace][table]
	if t == nil {
		return c.other(ctx)
	}
	if err := c.mayAlter(ctx, t); err != nil {
		return err
	}
	if t.Entry.Layout.Plain() && t.Entry.Change == nil {
		return wire.Invalidf("write_sharding: table %s was sharded once, so the store has it under another name, which %s would show: that is not supported yet", t.Entry, what)
	}
	return refused
}

// env returns the environment in which ddl.Apply applies the statement.
func (c *change) env() *ddl.Env {
	return &ddl.Env{Keyspace: c.keyspace, Now: c.Opts.Now().UnixMicro(), TableID: c.Opts.Timeuuid}
}

// void replies that the statement has succeeded, with an empty RESULT.
func (c *change) void() {
	c.req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
}

// physical sends a physical statement for the client, and returns the store's answer. It takes the name of the
// hidden column out of errors and warnings.
func (c *change) physical(ctx context.Context, stmt syntax.Statement, hidden string) (*request.Answer, error) {
	p := wire.Params{Consistency: c.params.Consistency}
	q := wire.Query{Text: []byte(syntax.Print(stmt)), Params: p}
	a, err := request.AskStore(ctx, c.req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, c.req.Version, &q)})
	if err != nil {
		return nil, request.WithoutName(err, hidden)
	}
	for i, w := range a.Warnings {
		a.Warnings[i] = request.HideName(w, hidden)
	}
	return a, nil
}

// finish waits for a limited time until all nodes know of the change, and reads the schema again. Then it replies.
func (c *change) finish(ctx context.Context, a *request.Answer) error {
	c.Catalog.Agree(ctx)
	if err := c.Schemas.Refresh(ctx); err != nil {
		// The store has made the change. The next refresh will see it.
		c.Opts.Log.Warn("the schema cannot be read after a change", "error", err)
	}
	return a.Reply(c.req, a.Body)
}

// other sends a statement to the store unchanged, such as CREATE TYPE. It reads the schema again before it replies.
func (c *change) other(ctx context.Context) error {
	p := wire.Params{Consistency: c.params.Consistency}
	if c.params.Has(wire.QueryKeyspace) {
		p.SetKeyspace(c.params.Keyspace)
	}
	q := wire.Query{Text: []byte(c.text), Params: p}
	a, err := request.AskStore(ctx, c.req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, c.req.Version, &q)})
	if err != nil {
		return err
	}
	return c.finish(ctx, a)
}

// errCatalog returns the error for a statement during which the catalogue could not be read or written. Neither
// the client nor its rights are the cause.
func errCatalog(err error) error {
	var e *wire.Error
	if errors.Is(err, context.DeadlineExceeded) {
		return err // limited replaces it with a write timeout
	}
	if errors.As(err, &e) {
		switch e.Code {
		case wire.CodeUnavailable, wire.CodeOverloaded, wire.CodeReadTimeout, wire.CodeWriteTimeout, wire.CodeCASWriteUnknown, wire.CodeIsBootstrapping:
			return err // drivers retry this error
		}
	}
	return wire.Errorf(wire.CodeServer, "evenkeel: the catalogue in keyspace %s cannot be read or written by the door's own account: %s", catalog.Keyspace, err)
}
