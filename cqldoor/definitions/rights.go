// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"cmp"
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// The door itself answers some schema statements, because they are wrong or there is nothing to
// do. Cassandra would check the client's rights first. So the door first sends Cassandra a statement
// that needs the same right and changes nothing. The functions below send such statements. They return
// nil if the client has the right, and otherwise Cassandra's error.

// mayCreate checks that the client may create tables in the keyspace. It sends a statement that
// every server refuses because its key is not among its columns.
func (c *change) mayCreate(ctx context.Context, table string) error {
	return c.may(ctx, &syntax.CreateTable{
		Name:         syntax.Name{Keyspace: c.keyspace, Name: table},
		Columns:      []syntax.ColumnDef{{Name: "a", Type: syntax.TypeRef{Name: syntax.Name{Name: "int"}}}},
		PartitionKey: []string{"b"},
	})
}

// mayAlter checks that the client may alter a sharded table. It sends a statement that adds, with IF NOT EXISTS, a
// column that the table already has.
func (c *change) mayAlter(ctx context.Context, t *tables.Sharded) error {
	column := cmp.Or(t.Entry.Layout.Column, t.Physical.PartitionKey[0].Name)
	return c.may(ctx, &syntax.AlterTable{
		Name:           syntax.Name{Keyspace: c.keyspace, Name: t.Entry.Physical},
		AddIfNotExists: true,
		Add:            []syntax.ColumnDef{{Name: column, Type: syntax.TypeRef{Name: syntax.Name{Name: "int"}}}},
	})
}

// mayRead checks that the client may read a table. It sends a SELECT of one row.
func (c *change) mayRead(ctx context.Context, t *schema.Table) error {
	return c.may(ctx, &syntax.Select{
		From:      syntax.Name{Keyspace: c.keyspace, Name: t.Name},
		Limit:     &syntax.Constant{Kind: syntax.ConstInteger, Text: "1"},
		Selectors: []syntax.Selector{{Expr: &syntax.Column{Name: t.PartitionKey[0].Name}}},
	})
}

// mayTrigger checks that the client may create triggers. It sends a CREATE TRIGGER with a class that no server has.
func (c *change) mayTrigger(ctx context.Context, t *syntax.Other) error {
	text := syntax.AppendIdent([]byte("CREATE TRIGGER "), t.Name.Name)
	text = syntax.AppendName(append(text, " ON "...), syntax.Name{Keyspace: c.keyspace, Name: t.On.Name})
	return c.may(ctx, &syntax.Other{Text: string(text) + " USING 'evenkeel.NoSuchTrigger'"})
}

// may sends a statement for the client. If the store's error is about the statement itself, the client has the
// right, and may returns nil.
func (c *change) may(ctx context.Context, stmt syntax.Statement) error {
	if c.req.Username == "" {
		return nil // without accounts there are no rights
	}
	q := wire.Query{Text: []byte(syntax.Print(stmt)), Params: wire.Params{Consistency: wire.One}}
	_, err := store.Call(ctx, c.req.Link, c.req.Version, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, c.req.Version, &q)})
	var e *wire.Error
	if errors.As(err, &e) {
		switch e.Code {
		case wire.CodeInvalid, wire.CodeConfig, wire.CodeSyntax, wire.CodeAlreadyExists:
			return nil
		}
	}
	return err
}
