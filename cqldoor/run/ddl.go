// SPDX-License-Identifier: Apache-2.0

package run

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
)

// change is a schema statement under way. Physical statements go over the client's link, with its
// rights. The door's own account writes the catalogue.
type change struct {
	*definer
	req      *cqldoor.Request
	params   *wire.Params
	keyspace string // the keyspace of the statement
	text     string // as the client wrote it
}

// changeLimit bounds the time of a schema statement.
const changeLimit = time.Minute

// ddl executes a schema statement and answers.
func (x *definer) ddl(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	return x.limited(ctx, func(ctx context.Context) error { return x.define(ctx, req, tree, keyspace, text, params) })
}

// limited executes a schema statement within the limit, also if its client leaves.
func (x *definer) limited(ctx context.Context, execute func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.limit)
	defer cancel()
	err := execute(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	late := wire.Errorf(wire.CodeWriteTimeout, "evenkeel: the store has not answered in time; it may or may not carry the statement out: look at the schema before you send the statement again")
	late.Consistency, late.Required, late.WriteType = wire.One, 1, wire.WriteSimple
	return late
}

func (x *definer) define(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	c := &change{definer: x, req: req, params: params, keyspace: keyspace, text: text}
	if n := objectOf(tree); n.Keyspace != "" {
		c.keyspace = n.Keyspace
	}
	if c.keyspace == "" {
		_, err := ddl.Apply(&schema.Schema{}, tree, c.env())
		return err // no keyspace is given that it could be in
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
		if c.view.Load().renamed(t.Name, c.keyspace) {
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

// refuse sends the error for a statement that may not alter a sharded table, if the client has
// the right to alter the table. what is what the statement would create on it.
func (c *change) refuse(ctx context.Context, table, what string, refused error) error {
	t := c.view.Load().tables[c.keyspace][table]
	if t == nil {
		return c.other(ctx)
	}
	if err := c.mayAlter(ctx, t); err != nil {
		return err
	}
	if t.entry.Layout.Plain() && t.entry.Change == nil {
		return wire.Invalidf("write_sharding: table %s was sharded once, so the store has it under another name, which %s would show: that is not supported yet", t.entry, what)
	}
	return refused
}

// objectOf returns the name of the object of a schema statement.
func objectOf(tree syntax.Statement) syntax.Name {
	switch t := tree.(type) {
	case *syntax.CreateTable:
		return t.Name
	case *syntax.AlterTable:
		return t.Name
	case *syntax.CreateType:
		return t.Name
	case *syntax.AlterType:
		return t.Name
	case *syntax.CreateIndex:
		return t.Table
	case *syntax.CreateView:
		return t.Select.From
	case *syntax.Drop:
		if t.Kind != syntax.KindKeyspace {
			return t.Name
		}
		return syntax.Name{Keyspace: t.Name.Name}
	case *syntax.CreateKeyspace:
		return syntax.Name{Keyspace: t.Name}
	case *syntax.AlterKeyspace:
		return syntax.Name{Keyspace: t.Name}
	case *syntax.Other:
		if t.Object == syntax.KindTrigger {
			return t.On
		}
	}
	return syntax.Name{}
}

// concerns says whether the router handles a statement: it is about a sharded table, creates one,
// or would show or change hidden objects.
func (v *view) concerns(tree syntax.Statement, keyspace string) bool {
	n := objectOf(tree)
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	table := v.tables[n.Keyspace][n.Name] != nil
	switch t := tree.(type) {
	case *syntax.CreateTable:
		return declares(t.With) || v.hasRules() || v.renamed(n, keyspace)
	case *syntax.AlterTable:
		return table || declares(t.With)
	case *syntax.CreateView:
		return table || v.renamed(t.Name, keyspace)
	case *syntax.CreateIndex:
		return table
	case *syntax.Drop:
		if t.Kind == syntax.KindTable {
			return table
		}
		return v.tables[n.Keyspace] != nil
	case *syntax.Other:
		return table && t.Verb == "CREATE" // a trigger: one that is there may be dropped
	case *syntax.CreateType, *syntax.AlterType:
		return v.tables[n.Keyspace] != nil
	case *syntax.Describe:
		return true
	}
	return false
}

// env returns what the rules of the language need to know.
func (c *change) env() *ddl.Env {
	return &ddl.Env{Keyspace: c.keyspace, Now: c.opts.Now().UnixMicro(), TableID: c.opts.Timeuuid}
}

// void answers a statement that changed nothing.
func (c *change) void() {
	c.req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)})
}

// physical sends a physical statement for the client.
func (c *change) physical(ctx context.Context, stmt syntax.Statement, hidden string) (*answer, error) {
	p := wire.Params{Consistency: c.params.Consistency}
	q := wire.Query{Text: []byte(syntax.Print(stmt)), Params: p}
	a, err := askStore(ctx, c.req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, c.req.Version, &q)})
	if err != nil {
		return nil, withoutName(err, hidden)
	}
	for i, w := range a.warnings {
		a.warnings[i] = hideName(w, hidden)
	}
	return a, nil
}

// finish answers once all nodes and this door know of the change.
func (c *change) finish(ctx context.Context, a *answer) error {
	c.catalog.Agree(ctx)
	if err := c.schemas.refresh(ctx); err != nil {
		// The change was made. The next refresh will see it.
		c.opts.Log.Warn("the schema cannot be read after a change", "error", err)
	}
	return a.reply(c.req, a.body)
}

// other passes on a statement such as CREATE TYPE and reads the schema again afterwards.
func (c *change) other(ctx context.Context) error {
	p := wire.Params{Consistency: c.params.Consistency}
	if c.params.Has(wire.QueryKeyspace) {
		p.SetKeyspace(c.params.Keyspace)
	}
	q := wire.Query{Text: []byte(c.text), Params: p}
	a, err := askStore(ctx, c.req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, c.req.Version, &q)})
	if err != nil {
		return err
	}
	return c.finish(ctx, a)
}

// errCatalog returns the error for a statement that failed at the catalogue. Such a failure does
// not come from the client or its rights.
func errCatalog(err error) error {
	var e *wire.Error
	if errors.Is(err, context.DeadlineExceeded) {
		return err // limited explains it
	}
	if errors.As(err, &e) {
		switch e.Code {
		case wire.CodeUnavailable, wire.CodeOverloaded, wire.CodeReadTimeout, wire.CodeWriteTimeout, wire.CodeCASWriteUnknown, wire.CodeIsBootstrapping:
			return err // drivers retry this error
		}
	}
	return wire.Errorf(wire.CodeServer, "evenkeel: the catalogue in keyspace %s cannot be written by the door's own account: %s", catalog.Keyspace, err)
}
