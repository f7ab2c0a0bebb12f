// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"fmt"
	"maps"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Env holds the inputs for executing a statement.
type Env struct {
	Keyspace string // the connection's keyspace; "" for none
	Now      int64  // microseconds since 1970; recorded as the time at which a column was dropped

	// DataCenters are the data centres that NetworkTopologyStrategy may name. Each value is the
	// number of nodes.
	DataCenters map[string]int

	// Keyspaces allows the features that only Amazon Keyspaces has: CustomProperties and Tags of
	// tables, keyspaces in one Region.
	Keyspaces bool

	// TableID returns the id of a new table, a version 1 UUID.
	TableID func() [16]byte
}

// nodes returns the number of nodes in all data centres.
func (e *Env) nodes() int {
	n := 0
	for _, c := range e.DataCenters {
		n += c
	}
	return n
}

// Result is the result of a statement.
type Result struct {
	Schema   *schema.Schema     // the given schema itself if nothing changed
	Change   *wire.SchemaChange // nil if nothing changed
	Warnings []string
}

// Apply executes a DDL statement on a schema. Errors are *wire.Error.
func Apply(s *schema.Schema, stmt syntax.Statement, env *Env) (*Result, error) {
	c := change{old: s, env: env}
	err := c.apply(stmt)
	if err != nil {
		return nil, err
	}
	r := &Result{Schema: s, Warnings: c.warnings}
	if c.changed != nil {
		r.Schema, r.Change = c.new, c.changed
	}
	return r, nil
}

// change is a statement that is being executed.
type change struct {
	old, new *schema.Schema
	env      *Env
	changed  *wire.SchemaChange
	warnings []string
}

func (c *change) apply(stmt syntax.Statement) error {
	switch stmt := stmt.(type) {
	case *syntax.CreateKeyspace:
		return c.createKeyspace(stmt)
	case *syntax.AlterKeyspace:
		return c.alterKeyspace(stmt)
	case *syntax.CreateTable:
		return c.createTable(stmt)
	case *syntax.AlterTable:
		return c.alterTable(stmt)
	case *syntax.CreateType:
		return c.createType(stmt)
	case *syntax.AlterType:
		return c.alterType(stmt)
	case *syntax.Drop:
		return c.drop(stmt)
	case *syntax.CreateIndex:
		return invalid("CREATE INDEX is not supported by the embedded engine")
	case *syntax.CreateView:
		return invalid("CREATE MATERIALIZED VIEW is not supported by the embedded engine")
	case *syntax.Other:
		return c.other(stmt)
	}
	return invalid("not a statement that changes the schema")
}

// other handles statements on what the engine cannot have: DROP IF EXISTS of it changes nothing.
func (c *change) other(stmt *syntax.Other) error {
	switch stmt.Object {
	case syntax.KindFunction, syntax.KindAggregate, syntax.KindTrigger:
		if stmt.Verb == "DROP" && stmt.IfExists {
			_, err := c.keyspaceOf(stmt.Name)
			return err
		}
	}
	return invalid("%s is not supported by the embedded engine", otherName(stmt))
}

func otherName(o *syntax.Other) string {
	if o.Object == "" {
		return o.Verb
	}
	return o.Verb + " " + string(o.Object)
}

// keyspaceOf returns the keyspace of a name.
func (c *change) keyspaceOf(n syntax.Name) (string, error) {
	if n.Keyspace != "" {
		return n.Keyspace, nil
	}
	if c.env.Keyspace == "" {
		return "", errNoKeyspace
	}
	return c.env.Keyspace, nil
}

// put replaces a keyspace, or removes it if ks is nil, and records the change.
func (c *change) put(name string, ks *schema.Keyspace, ch wire.SchemaChange) {
	all := maps.Clone(c.old.Keyspaces)
	if all == nil {
		all = map[string]*schema.Keyspace{}
	}
	if ks == nil {
		delete(all, name)
	} else {
		all[name] = ks
	}
	c.new = &schema.Schema{Keyspaces: all}
	ch.Keyspace = name
	c.changed = &ch
}

// withTable returns the keyspace with one table replaced, or removed if t is nil.
func withTable(ks *schema.Keyspace, name string, t *schema.Table) *schema.Keyspace {
	n := *ks
	n.Tables = maps.Clone(ks.Tables)
	if n.Tables == nil {
		n.Tables = map[string]*schema.Table{}
	}
	if t == nil {
		delete(n.Tables, name)
	} else {
		n.Tables[name] = t
	}
	return &n
}

func (c *change) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}
