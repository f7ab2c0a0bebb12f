// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"maps"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// A statement on a table that is not known goes to the store as it came: the store says best
// that there is no such table. But another door may create a sharded table of that name, or
// drop one, while the statement is on its way. Then the store answers for the physical table:
// it refuses a key without its hidden column, or shows that column.
//
// A door brings the entry into the catalogue before the physical table is created, and takes it
// away after all nodes have dropped that. In between the store's own schema is read in steps: a
// node can show a table in system_schema before or after its statements can name it. So the
// store's answer counts only if, after it,
//
//   - the catalogue has no entry of the name. If it has one, the catalogue and the schema are
//     read anew, and then the table is sharded, or there is none for clients.
//   - the version of the schema is the one from before. Else a table may have come and gone
//     meanwhile, and the statement is sent again.
//
// A write that may have been applied is not sent again. It was not applied to a physical table,
// which takes no row without a shard.

// unknown is a statement, and the tables of it that are not known.
type unknown struct {
	x              *schemas
	keyspace, text string
	tables         []syntax.Name
}

// settle serves a QUERY or PREPARE on tables that are not known.
func (x *schemas) settle(ctx context.Context, req *cqldoor.Request, keyspace, text string, tables []syntax.Name) error {
	resp, err := (&unknown{x, keyspace, text, tables}).ask(ctx, req)
	switch {
	case err != nil:
		return err
	case resp != nil:
		req.Reply(*resp)
		return nil
	}
	return x.r.serveKnown(ctx, req, keyspace, text)
}

// relay sends a QUERY or PREPARE on tables that are not sharded, as far as this door knows, and
// answers with its response.
func (x *schemas) relay(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	if tables := x.unknownTables(syntax.Target(text), keyspace, text); len(tables) > 0 {
		return x.settle(ctx, req, keyspace, text, tables)
	}
	return x.r.relay(ctx, req)
}

// maxAsks is how often a statement is sent while the schema goes on changing.
const maxAsks = 8

// ask gives the answer to the statement. It is nil where the statement is the door's to carry
// out, since a table of it is sharded.
func (u *unknown) ask(ctx context.Context, req *cqldoor.Request) (*wire.Message, error) {
	if err := u.look(ctx); err != nil {
		return nil, err
	}
	for range maxAsks {
		if settled, resp, err := u.judge(); settled {
			return resp, err
		}
		before := u.x.view.Load().version
		resp, err := u.x.r.forward(ctx, req)
		if err != nil || len(u.tables) == 0 || !u.repeatable(req, resp) {
			return &resp, err
		}
		if err := u.lookAgain(ctx); err != nil {
			return nil, err
		}
		if settled, resp, err := u.judge(); settled {
			return resp, err
		}
		if u.x.view.Load().version == before {
			return &resp, nil
		}
	}
	return nil, errSchemaChanges
}

// errSchemaChanges is the answer where a name is never the same for as long as it takes to ask.
var errSchemaChanges = wire.Errorf(wire.CodeOverloaded, "evenkeel: the schema changes faster than the store can be asked about the table; the request was not executed; try again")

// look brings what is known up to date where the store has one of the tables.
func (u *unknown) look(ctx context.Context) error {
	for _, n := range u.tables {
		if !u.x.view.Load().lacks(n.Keyspace, n.Name) {
			continue // another request has looked
		}
		found, err := u.x.catalog.Exists(ctx, n.Keyspace, n.Name)
		if err != nil {
			return err
		}
		if found {
			return u.x.refresh(ctx)
		}
	}
	return nil
}

// lookAgain does so after the store has answered: also where the catalogue has an entry, or the
// schema has changed.
func (u *unknown) lookAgain(ctx context.Context) error {
	if err := u.look(ctx); err != nil {
		return err
	}
	if err := u.x.fresh(ctx); err != nil {
		return err
	}
	for _, n := range u.tables {
		if v := u.x.view.Load(); !v.lacks(n.Keyspace, n.Name) || v.pending[n] {
			continue
		}
		found, err := u.x.catalog.Noted(ctx, n.Keyspace, n.Name)
		if err != nil {
			return err
		}
		if found {
			return u.x.refresh(ctx)
		}
	}
	return nil
}

// judge says whether the statement needs no answer of the store: because one of the tables is
// sharded, or because the catalogue has an entry of one of which there is no table. For that
// it gives the answer.
func (u *unknown) judge() (settled bool, resp *wire.Message, err error) {
	v, state := u.x.view.Load(), u.x.r.state.Load()
	for _, n := range u.tables {
		if state.Table(n.Keyspace, n.Name) != nil {
			settled = true
		}
	}
	for _, n := range u.tables {
		if v.pending[n] && !settled {
			resp, err = u.absent(v, n)
			return true, resp, err
		}
	}
	return settled, nil, nil
}

// absent is Cassandra's answer to the statement where there is no such table.
func (u *unknown) absent(v *view, n syntax.Name) (*wire.Message, error) {
	keyspace := v.physical.Keyspaces[n.Keyspace]
	if keyspace == nil {
		return nil, noKeyspace(n.Keyspace)
	}
	tree, err := syntax.Parse(u.text)
	switch tree.(type) {
	case *syntax.CreateIndex:
		return nil, wire.Invalidf("Table '%s' doesn't exist", n.Name)
	case *syntax.CreateView:
		return nil, wire.Invalidf("Base table '%s' doesn't exist", n.Name)
	}
	if err == nil && !ofRows(syntax.Target(u.text).Kind) {
		without := *keyspace
		without.Tables = maps.Clone(keyspace.Tables)
		delete(without.Tables, n.Name)
		s := &schema.Schema{Keyspaces: map[string]*schema.Keyspace{n.Keyspace: &without}}
		result, err := ddl.Apply(s, tree, &ddl.Env{Keyspace: u.keyspace})
		switch {
		case err != nil:
			return nil, err
		case result.Change == nil: // IF EXISTS
			return &wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)}, nil
		}
	}
	return nil, wire.Invalidf("table %s does not exist", n.Name)
}

// repeatable says whether the statement, which the store has answered, can be sent again
// without doing anything twice.
func (u *unknown) repeatable(req *cqldoor.Request, resp wire.Message) bool {
	if resp.Op != wire.OpError {
		return req.Op == wire.OpPrepare || req.Op == wire.OpQuery && syntax.Target(u.text).Kind == syntax.StatementSelect
	}
	_, err := resultOf(req.Version, resp)
	refused := (*wire.Error)(nil)
	return errors.As(err, &refused) && refused.Code == wire.CodeInvalid
}
