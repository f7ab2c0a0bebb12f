// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"maps"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/definitions"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// unknown is a statement with those of its tables that the door does not know.
type unknown struct {
	x              *tables.Schemas
	relays         *request.Relays
	keyspace, text string
	tables         []syntax.Name
}

// look refreshes the door's schema if the store has one of the unknown tables.
func (u *unknown) look(ctx context.Context) error {
	for _, n := range u.tables {
		if !u.x.View.Load().Lacks(n.Keyspace, n.Name) {
			continue // another request has looked
		}
		found, err := u.x.Catalog.Exists(ctx, n.Keyspace, n.Name)
		if err != nil {
			return err
		}
		if found {
			return u.x.Refresh(ctx)
		}
	}
	return nil
}

// The door sends a statement on an unknown table to the store unchanged, because the store gives
// the best answer if there is no such table. But another door may create or drop a sharded table of
// that name while the statement is on its way. Then the store answers for the physical table: it
// refuses a key without the hidden column, or shows that column.
//
// A door inserts the entry into the catalogue before it creates the physical table. It removes the entry
// after all nodes have dropped the table. In between, nodes apply the schema in steps. A node does not
// change both at once: it can show a table in system_schema before it accepts statements on the table, or
// the other way round. So the store's answer counts only if both of these hold after it:
//
//   - The catalogue has no entry of the name. If it has one, the door reads the catalogue and the
//     schema again. Then the table is sharded, or clients see no such table.
//   - The schema still has the version that it had before. If not, a table may have come and gone
//     meanwhile, and the door sends the statement again.
//
// The door does not repeat a write that the store may have applied. A physical table takes no row without
// a shard. So the store has not applied such a write to a physical table.

// maxAsks is the largest number of times that the door sends a statement while the schema keeps changing.
const maxAsks = 8

// ask returns the answer to the statement. It returns nil if one of the tables is sharded. The door must
// then execute the statement.
func (u *unknown) ask(ctx context.Context, req *cqldoor.Request) (*wire.Message, error) {
	if err := u.look(ctx); err != nil {
		return nil, err
	}
	for range maxAsks {
		if settled, resp, err := u.judge(); settled {
			return resp, err
		}
		before := u.x.View.Load().Version
		resp, err := u.relays.Forward(ctx, req)
		if err != nil || len(u.tables) == 0 || !u.repeatable(req, resp) {
			return &resp, err
		}
		if err := u.lookAgain(ctx); err != nil {
			return nil, err
		}
		if settled, resp, err := u.judge(); settled {
			return resp, err
		}
		if u.x.View.Load().Version == before {
			return &resp, nil
		}
	}
	return nil, errSchemaChanges
}

// errSchemaChanges is the answer if the schema changes during every attempt.
var errSchemaChanges = wire.Errorf(wire.CodeOverloaded, "evenkeel: the schema changes faster than the store can be asked about the table; the request was not executed; try again")

// lookAgain refreshes the door's schema after the store has answered. It does so in the same case as look. It
// also does so if the schema has changed, or if the catalogue has an entry for one of the tables.
func (u *unknown) lookAgain(ctx context.Context) error {
	if err := u.look(ctx); err != nil {
		return err
	}
	if err := u.x.RefreshIfChanged(ctx); err != nil {
		return err
	}
	for _, n := range u.tables {
		if v := u.x.View.Load(); !v.Lacks(n.Keyspace, n.Name) || v.Pending[n] {
			continue
		}
		found, err := u.x.Catalog.Noted(ctx, n.Keyspace, n.Name)
		if err != nil {
			return err
		}
		if found {
			return u.x.Refresh(ctx)
		}
	}
	return nil
}

// judge reports whether the statement needs no answer from the store. That is so if one of the tables is
// sharded. It is also so if the catalogue has an entry for a table that does not exist. In that case judge
// returns the answer.
func (u *unknown) judge() (settled bool, resp *wire.Message, err error) {
	v, state := u.x.View.Load(), u.x.State.Load()
	if syntax.Target(u.text).Kind == syntax.StatementAlterTable && syntax.Mentions(u.text, catalog.Property) {
		return true, nil, nil // no store knows that property
	}
	for _, n := range u.tables {
		if state.Table(n.Keyspace, n.Name) != nil {
			settled = true
		}
	}
	for _, n := range u.tables {
		if v.Pending[n] && !settled {
			resp, err = u.absent(v, n)
			return true, resp, err
		}
	}
	return settled, nil, nil
}

// absent returns Cassandra's answer to the statement if there is no such table.
func (u *unknown) absent(v *tables.View, n syntax.Name) (*wire.Message, error) {
	keyspace := v.Physical.Keyspaces[n.Keyspace]
	if keyspace == nil {
		return nil, definitions.NoKeyspace(n.Keyspace)
	}
	tree, err := syntax.Parse(u.text)
	switch tree.(type) {
	case *syntax.CreateIndex:
		return nil, wire.Invalidf("Table '%s' doesn't exist", n.Name)
	case *syntax.CreateView:
		return nil, wire.Invalidf("Base table '%s' doesn't exist", n.Name)
	}
	if err == nil && !tables.OnRows(syntax.Target(u.text).Kind) {
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

// repeatable reports whether the door can send the statement again after the store has answered with resp,
// and does nothing twice by that.
func (u *unknown) repeatable(req *cqldoor.Request, resp wire.Message) bool {
	if resp.Op != wire.OpError {
		return req.Op == wire.OpPrepare || req.Op == wire.OpQuery && syntax.Target(u.text).Kind == syntax.StatementSelect
	}
	_, err := wire.ResultBody(req.Version, resp)
	refused := (*wire.Error)(nil)
	return errors.As(err, &refused) && refused.Code == wire.CodeInvalid
}
