// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"slices"
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

// changeLimit bounds the time of a schema statement. The statement goes on if its client leaves.
const changeLimit = time.Minute

// ddl executes a schema statement and answers.
func (x *definer) ddl(ctx context.Context, req *cqldoor.Request, tree syntax.Statement, keyspace, text string, params *wire.Params) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeLimit)
	defer cancel()
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

// createTable creates a sharded table, declared by the statement or by a shard rule.
func (c *change) createTable(ctx context.Context, stmt *syntax.CreateTable) error {
	if c.view.Load().renamed(stmt.Name, c.keyspace) {
		return c.taken(ctx, stmt.Name.Name, stmt.IfNotExists)
	}
	ruling, err := c.rules.of(ctx, c.keyspace, stmt)
	if err != nil {
		return err
	}
	stmt = ruling.stmt
	if !declares(stmt.With) {
		return c.other(ctx)
	}
	if err := c.mayCreate(ctx, stmt.Name.Name); err != nil {
		return err
	}
	declared, err := shardingOf(stmt.With)
	if err != nil {
		return err
	}
	s, err := c.catalog.Schema(ctx, c.keyspace)
	if err != nil {
		return err
	}
	// The backend checks the options.
	logical := *stmt
	logical.With = nil
	unfit := refuseForNow(stmt)
	if unfit != nil && ruling.name == "" {
		return unfit
	}
	result, err := ddl.Apply(s, &logical, c.env())
	if err != nil {
		return err
	}
	if result.Change == nil {
		c.void() // IF NOT EXISTS, and it exists
		return nil
	}
	if unfit != nil {
		return ruling.refuse(unfit)
	}
	table := result.Schema.Table(c.keyspace, stmt.Name.Name)
	layout, warnings, err := declared.layout(table)
	if err != nil {
		return ruling.refuse(err)
	}
	if err := checkDefaultTTL(stmt.With, layout); err != nil {
		return ruling.refuse(err)
	}
	warnings = append(append(ruling.warnings(), warnings...), advice(stmt, table, layout)...)
	e := &catalog.Entry{
		Keyspace: c.keyspace, Table: stmt.Name.Name, Physical: stmt.Name.Name, Layout: layout, Statement: syntax.Print(stmt), Rule: ruling.label,
	}
	var a *answer
	var refusal error
	_, err = c.catalog.Create(ctx, e, s.Keyspaces[c.keyspace], func(ctx context.Context) error {
		// From here on doors know the table as one that is being created, and do not show it. An
		// earlier plain table of that name is gone, but other doors may still know it.
		if err := c.schemas.refresh(ctx); err != nil {
			c.opts.Log.Warn("the schema cannot be read before a change", "error", err)
		}
		c.doors.waitForDoors(ctx)
		a, refusal = c.physical(ctx, physicalTable(stmt, table, layout), layout.Column)
		return refusal
	})
	exists := &wire.Error{Code: wire.CodeAlreadyExists}
	switch {
	case errors.Is(err, catalog.ErrExists) || errors.Is(err, exists):
		return c.exists(stmt.Name.Name, stmt.IfNotExists)
	case refusal != nil:
		return refusal
	case err != nil:
		return errCatalog(err)
	}
	a.warnings = append(a.warnings, warnings...)
	ruling.log(c.opts.Log, e)
	return c.finish(ctx, a)
}

// taken refuses to create a table or view with the name of a table whose physical table has another
// name. The store would create it.
func (c *change) taken(ctx context.Context, table string, ifNotExists bool) error {
	if err := c.mayCreate(ctx, table); err != nil {
		return err
	}
	return c.exists(table, ifNotExists)
}

// exists answers a statement that would create a table which exists.
func (c *change) exists(table string, ifNotExists bool) error {
	if ifNotExists {
		c.void()
		return nil
	}
	return &wire.Error{Code: wire.CodeAlreadyExists, Keyspace: c.keyspace, Table: table,
		Message: "Table '" + c.keyspace + "." + table + "' already exists"}
}

// dropTable drops a sharded table.
func (c *change) dropTable(ctx context.Context, stmt *syntax.Drop) error {
	t := c.view.Load().tables[c.keyspace][stmt.Name.Name]
	if t == nil {
		return c.other(ctx)
	}
	if t.entry.Second != nil {
		if err := underChange(t.entry, "DROP"); err != nil {
			return err
		}
		return wire.Invalidf("write_sharding: DROP is not possible yet: a table that the last change of the layout of %s has left is being dropped; wait until that is over", t.entry)
	}
	physical := *stmt
	physical.Name = syntax.Name{Keyspace: c.keyspace, Name: t.entry.Physical}
	var a *answer
	var refusal error
	err := c.catalog.Drop(ctx, t.entry, func(ctx context.Context) error {
		if a, refusal = c.physical(ctx, &physical, t.entry.Layout.Column); refusal == nil {
			c.catalog.Agree(ctx) // the entry stays until all nodes have dropped the table
		}
		return refusal
	})
	switch {
	case refusal != nil:
		return refusal
	case errors.Is(err, catalog.ErrGone) && stmt.IfExists:
		c.void()
		return nil
	case errors.Is(err, catalog.ErrGone):
		return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, stmt.Name.Name)
	case err != nil:
		return errCatalog(err)
	}
	a.body = logicalResult(a.body, t.entry.Physical, t.entry.Table)
	c.doors.waitForDoors(ctx)
	return c.finish(ctx, a)
}

// errCatalog returns the error for a statement that failed at the catalogue. Such a failure does
// not come from the client or its rights.
func errCatalog(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		switch e.Code {
		case wire.CodeUnavailable, wire.CodeOverloaded, wire.CodeReadTimeout, wire.CodeWriteTimeout, wire.CodeCASWriteUnknown, wire.CodeIsBootstrapping:
			return err // drivers retry this error
		}
	}
	return wire.Errorf(wire.CodeServer, "evenkeel: the catalogue in keyspace %s cannot be written by the door's own account: %s", catalog.Keyspace, err)
}

// dropKeyspace drops a keyspace and the entries of its tables.
func (c *change) dropKeyspace(ctx context.Context, stmt *syntax.Drop) error {
	a, err := c.physical(ctx, stmt, "")
	if err != nil {
		return err
	}
	// The catalogue may have more entries than this door has read.
	entries, _, err := c.catalog.Load(ctx)
	c.catalog.Agree(ctx)
	if err == nil {
		gone := slices.DeleteFunc(entries, func(e *catalog.Entry) bool { return e.Keyspace != stmt.Name.Name })
		err = c.catalog.Forget(ctx, gone)
	}
	if err != nil {
		c.opts.Log.Warn("entries of a keyspace that was dropped stay in the catalogue", "keyspace", stmt.Name.Name, "error", err)
	}
	c.doors.waitForDoors(ctx)
	return c.finish(ctx, a)
}

// shardPlain shards a table that has no shards. If there is no such table, the error is
// Cassandra's.
func (c *change) shardPlain(ctx context.Context, stmt *syntax.AlterTable) error {
	there := c.view.Load().names.Has(c.keyspace, stmt.Name.Name)
	switch {
	case there:
		return c.alterPlain(ctx, stmt)
	case stmt.IfExists:
		c.void()
		return nil
	}
	return wire.Invalidf("Table '%s.%s' doesn't exist", c.keyspace, stmt.Name.Name)
}

// alterTable changes the columns or options of a sharded table.
func (c *change) alterTable(ctx context.Context, stmt *syntax.AlterTable) error {
	t := c.view.Load().tables[c.keyspace][stmt.Name.Name]
	if t == nil && declares(stmt.With) {
		return c.shardPlain(ctx, stmt)
	}
	if t == nil {
		return c.other(ctx)
	}
	if err := c.mayAlter(ctx, t); err != nil {
		return err
	}
	if err := refuseTimed(stmt, t.entry.Layout); err != nil {
		return err
	}
	if len(stmt.With) == 1 && stmt.With[0].Name == catalog.Property {
		declared, err := shardingOf(stmt.With)
		if err != nil {
			return err
		}
		if done, err := c.alterStill(ctx, t, declared); done || err != nil {
			return err
		}
	}
	physical := *stmt
	physical.Name = syntax.Name{Keyspace: c.keyspace, Name: t.entry.Physical}
	if declares(stmt.With) {
		return c.alterLayout(ctx, t, stmt)
	}
	if err := refuseChange(stmt, t.entry.Layout); err != nil {
		return err
	}
	if len(stmt.With) == 0 || t.entry.Second != nil {
		if err := underChange(t.entry, "altering it"); err != nil {
			return err
		}
	}
	if len(stmt.With) == 0 {
		result, err := ddl.Apply(c.state.Load().Schema, stmt, c.env())
		if err != nil {
			return err
		}
		if result.Change == nil {
			c.void()
			return nil
		}
		physical.Drop = without(physical.Drop, t.entry.Layout.Column) // DROP IF EXISTS of a column that does not exist
	}
	a, err := c.physical(ctx, &physical, t.entry.Layout.Column)
	if err != nil {
		return c.view.Load().logicalError(err)
	}
	a.body = logicalResult(a.body, t.entry.Physical, t.entry.Table)
	return c.finish(ctx, a)
}

func without(names []string, name string) []string {
	var out []string
	for _, n := range names {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}
