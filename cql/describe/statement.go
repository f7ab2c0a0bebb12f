// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Env describes the server that answers a DESCRIBE.
type Env struct {
	Keyspace string // the connection's keyspace; "" for none

	// Virtual says whether a keyspace is virtual. System says whether it is one of Cassandra's
	// own (including virtual ones).
	Virtual, System func(keyspace string) bool

	Cluster     string
	Partitioner string              // class without its package
	Snitch      string              // class without its package
	Ranges      map[string][]string // token to nodes; for DESCRIBE CLUSTER WITH INTERNALS
}

// Answer is the result of a DESCRIBE: columns of table system.describe, all of type text except
// the last one of DESCRIBE CLUSTER WITH INTERNALS.
type Answer struct {
	Columns []wire.Column
	Rows    [][][]byte
}

// Statement answers a DESCRIBE. Errors are *wire.Error.
func Statement(stmt *syntax.Describe, s *schema.Schema, env *Env) (*Answer, error) {
	d := describer{s: s, env: env, internals: stmt.Internals}
	switch stmt.What {
	case "CLUSTER":
		return d.cluster(), nil
	case "KEYSPACES", "TABLES", "TYPES", "FUNCTIONS", "AGGREGATES":
		return d.list(stmt.What)
	}
	var err error
	switch stmt.What {
	case "SCHEMA":
		d.schema(stmt.Full)
	case "KEYSPACE":
		err = d.keyspace(stmt.Name.Name, stmt.Only)
	case "TABLE":
		err = d.element(stmt.Name, d.table)
	case "TYPE":
		err = d.element(stmt.Name, d.userType)
	case "INDEX":
		err = d.element(stmt.Name, d.index)
	case "MATERIALIZED VIEW":
		err = d.element(stmt.Name, missing("Materialized view"))
	case "FUNCTION":
		err = d.element(stmt.Name, missing("User defined function"))
	case "AGGREGATE":
		err = d.element(stmt.Name, missing("User defined aggregate"))
	default:
		err = d.any(stmt.Name)
	}
	if err != nil {
		return nil, err
	}
	return &Answer{Columns: columns("keyspace_name", "type", "name", "create_statement"), Rows: d.rows}, nil
}

func columns(names ...string) []wire.Column {
	cols := make([]wire.Column, len(names))
	for i, n := range names {
		cols[i] = wire.Column{Keyspace: "system", Table: "describe", Name: n, Type: value.Native(value.Text)}
	}
	return cols
}

type describer struct {
	s         *schema.Schema
	env       *Env
	internals bool
	rows      [][][]byte
}

func (d *describer) add(fields ...string) {
	row := make([][]byte, len(fields))
	for i, f := range fields {
		row[i] = []byte(f)
	}
	d.rows = append(d.rows, row)
}

func (d *describer) cluster() *Answer {
	cols := columns("cluster", "partitioner", "snitch")
	d.add(d.env.Cluster, d.env.Partitioner, d.env.Snitch)
	if d.internals {
		text := value.Native(value.Text)
		cols = append(cols, wire.Column{Keyspace: "system", Table: "describe", Name: "range_ownership",
			Type: value.MapOf(text, value.ListOf(text, false), false)})
		ranges := value.AppendCount(nil, len(d.env.Ranges))
		for _, token := range names(d.env.Ranges) {
			nodes := value.AppendCount(nil, len(d.env.Ranges[token]))
			for _, n := range d.env.Ranges[token] {
				nodes = value.AppendPart(nodes, []byte(n))
			}
			ranges = value.AppendPart(value.AppendPart(ranges, []byte(token)), nodes)
		}
		d.rows[0] = append(d.rows[0], ranges)
	}
	return &Answer{Columns: cols, Rows: d.rows}
}

// list answers the listings: of the current keyspace, if there is one.
func (d *describer) list(what string) (*Answer, error) {
	for _, ks := range names(d.s.Keyspaces) {
		if what == "KEYSPACES" {
			d.add(Name(ks), "keyspace", Name(ks))
			continue
		}
		if d.env.Keyspace != "" && d.env.Keyspace != ks {
			continue
		}
		switch what {
		case "TABLES":
			for _, t := range names(d.s.Keyspaces[ks].Tables) {
				d.add(Name(ks), "table", Name(t))
			}
		case "TYPES":
			for _, t := range names(d.s.Keyspaces[ks].Types) {
				d.add(Name(ks), "type", Name(t))
			}
		}
	}
	return &Answer{Columns: columns("keyspace_name", "type", "name"), Rows: d.rows}, nil
}

// schema describes all keyspaces. It includes the system's only if full is set.
func (d *describer) schema(full bool) {
	for _, name := range names(d.s.Keyspaces) {
		if full || !d.env.System(name) {
			d.addKeyspace(d.s.Keyspaces[name], false)
		}
	}
}

func (d *describer) keyspace(name string, only bool) error {
	if name == "" {
		if name = d.env.Keyspace; name == "" {
			return errNoKeyspace
		}
	}
	ks := d.s.Keyspaces[name]
	if ks == nil {
		return notFound(name)
	}
	d.addKeyspace(ks, only)
	return nil
}

var errNoKeyspace = wire.Invalidf("No keyspace specified and no current keyspace")

func notFound(name string) error { return wire.Invalidf("'%s' not found in keyspaces", name) }

func (d *describer) addKeyspace(ks *schema.Keyspace, only bool) {
	text := Keyspace(ks)
	if d.env.Virtual(ks.Name) {
		text = VirtualKeyspace(ks.Name)
	}
	d.add(Name(ks.Name), "keyspace", Name(ks.Name), text)
	if only {
		return
	}
	for _, t := range ks.TypesInOrder() {
		d.add(Name(ks.Name), "type", Name(t.Name), Type(t))
	}
	for _, name := range names(ks.Tables) {
		d.addTable(ks.Tables[name])
	}
}

func (d *describer) addTable(t *schema.Table) {
	text := Table(t, d.internals)
	if d.env.Virtual(t.Keyspace) {
		text = VirtualTable(t)
	}
	d.add(Name(t.Keyspace), "table", Name(t.Name), text)
	for i := range t.Indexes {
		d.add(Name(t.Keyspace), "index", Name(t.Indexes[i].Name), Index(t, &t.Indexes[i]))
	}
}

// element describes one element of a keyspace.
func (d *describer) element(n syntax.Name, add func(ks *schema.Keyspace, name string) error) error {
	keyspace := n.Keyspace
	if keyspace == "" {
		if keyspace = d.env.Keyspace; keyspace == "" {
			return errNoKeyspace
		}
	}
	ks := d.s.Keyspaces[keyspace]
	if ks == nil {
		return notFound(keyspace)
	}
	return add(ks, n.Name)
}

func (d *describer) table(ks *schema.Keyspace, name string) error {
	t := ks.Tables[name]
	if t == nil {
		return wire.Invalidf("Table '%s' not found in keyspace '%s'", name, ks.Name)
	}
	d.addTable(t)
	return nil
}

func (d *describer) userType(ks *schema.Keyspace, name string) error {
	t := ks.Types[name]
	if t == nil {
		return wire.Invalidf("User defined type '%s' not found in '%s'", name, ks.Name)
	}
	d.add(Name(ks.Name), "type", Name(name), Type(t))
	return nil
}

func (d *describer) index(ks *schema.Keyspace, name string) error {
	for _, t := range ks.Tables {
		if i := slices.IndexFunc(t.Indexes, func(i schema.Index) bool { return i.Name == name }); i >= 0 {
			d.add(Name(ks.Name), "index", Name(name), Index(t, &t.Indexes[i]))
			return nil
		}
	}
	return wire.Invalidf("Table for existing index '%s' not found in '%s'", name, ks.Name)
}

func missing(kind string) func(ks *schema.Keyspace, name string) error {
	return func(ks *schema.Keyspace, name string) error {
		return wire.Invalidf("%s '%s' not found in '%s'", kind, name, ks.Name)
	}
}

// any answers DESCRIBE name: it looks for a keyspace, then for a table or an index.
func (d *describer) any(n syntax.Name) error {
	if n.Keyspace == "" && d.s.Keyspaces[n.Name] != nil {
		return d.keyspace(n.Name, false)
	}
	keyspace := n.Keyspace
	if keyspace == "" {
		if keyspace = d.env.Keyspace; keyspace == "" {
			return notFound(n.Name)
		}
	}
	ks := d.s.Keyspaces[keyspace]
	if ks == nil {
		return notFound(keyspace)
	}
	if d.table(ks, n.Name) == nil || d.index(ks, n.Name) == nil {
		return nil
	}
	return wire.Invalidf("'%s' not found in keyspace '%s'", n.Name, keyspace)
}
