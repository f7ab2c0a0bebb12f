// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

func (c *change) alterTable(stmt *syntax.AlterTable) error {
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	if err := permit(keyspace, "ALTER", "<table "+keyspace+"."+stmt.Name.Name+">"); err != nil {
		return err
	}
	p, err := c.tableProperties(stmt.With)
	if err != nil {
		return err
	}
	t := c.old.Table(keyspace, stmt.Name.Name)
	if t == nil {
		if stmt.IfExists {
			return nil
		}
		return invalid("Table '%s.%s' doesn't exist", keyspace, stmt.Name.Name)
	}
	ks := c.old.Keyspaces[keyspace]
	n, err := c.alter(ks, t, stmt, p)
	if err != nil || n == t {
		return err
	}
	c.put(keyspace, withTable(ks, n.Name, n), wire.SchemaChange{Change: wire.ChangeUpdated, Target: wire.TargetTable, Name: n.Name})
	return nil
}

func (c *change) alter(ks *schema.Keyspace, t *schema.Table, stmt *syntax.AlterTable, p *properties) (*schema.Table, error) {
	switch {
	case stmt.AlterColumn != "" && stmt.AlterType != nil:
		return nil, invalid("Altering column types is no longer supported")
	case stmt.AlterColumn != "":
		return nil, invalid("Column masks (MASKED WITH) are not supported by the embedded engine")
	case stmt.DropCompactStorage:
		return nil, invalid("DROP COMPACT STORAGE is disabled. Enable in cassandra.yaml to use.")
	case len(stmt.Add) > 0:
		return addColumns(ks, t, stmt)
	case len(stmt.Drop) > 0:
		return c.dropColumns(t, stmt)
	case len(stmt.Rename) > 0:
		return renameColumns(t, stmt)
	}
	return c.alterOptions(t, p)
}

func addColumns(ks *schema.Keyspace, t *schema.Table, stmt *syntax.AlterTable) (*schema.Table, error) {
	var added []*schema.Column
	names := make(map[string]bool, len(stmt.Add))
	for _, def := range stmt.Add {
		if def.Mask != nil {
			return nil, invalid("Column masks (MASKED WITH) are not supported by the embedded engine")
		}
		typ, err := analysis.ResolveType(def.Type, ks)
		if err != nil {
			return nil, err
		}
		if t.Columns[def.Name] != nil || names[def.Name] {
			if stmt.AddIfNotExists {
				continue
			}
			return nil, invalid("Column with name '%s' already exists", def.Name)
		}
		kind := schema.Regular
		if def.Static {
			kind = schema.Static
		}
		if err := checkAdded(t, def.Name, typ, kind); err != nil {
			return nil, err
		}
		names[def.Name] = true
		added = append(added, &schema.Column{Name: def.Name, Type: typ, Kind: kind, Position: -1})
	}
	if len(added) == 0 {
		return t, nil
	}
	for _, col := range added {
		switch counter := col.Type.Kind == value.Counter; {
		case counter && !t.Counter:
			return nil, configError("%s.%s: Cannot have a counter column (\"%s\") in a non counter table", t.Keyspace, t.Name, col.Name)
		case !counter && t.Counter:
			return nil, configError("%s.%s: Cannot have a non counter column (\"%s\") in a counter table", t.Keyspace, t.Name, col.Name)
		}
	}
	return rebuild(t, func(cols []*schema.Column) []*schema.Column { return append(cols, added...) }), nil
}

func checkAdded(t *schema.Table, name string, typ *value.Type, kind schema.ColumnKind) error {
	if kind == schema.Static && len(t.Clustering) == 0 {
		return errStatic
	}
	if nested(typ) {
		return invalid("Non-frozen UDTs with nested non-frozen collections are not supported for column %s", name)
	}
	dropped, ok := t.Dropped[name]
	if !ok {
		return nil
	}
	if !readsAs(expandVectors(typ), dropped.Type) {
		return invalid("Cannot add a column '%s' of type %s, incompatible with previously dropped column '%s' of type %s",
			name, typ, name, dropped.Type)
	}
	if dropped.Kind != kind {
		return invalid("Cannot re-add previously dropped column '%s' of kind %s, incompatible with previous kind %s",
			name, kindName(kind), kindName(dropped.Kind))
	}
	if t.Counter {
		return invalid("Cannot re-add previously dropped counter column %s", name)
	}
	return nil
}

func kindName(k schema.ColumnKind) string {
	if k == schema.Static {
		return "STATIC"
	}
	return "REGULAR"
}

// expand returns a type with tuples instead of user-defined types, because the type of a dropped
// column must outlive them.
func expand(t *value.Type) *value.Type {
	if t.Kind == value.UDT {
		elems := make([]*value.Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = expand(e)
		}
		return value.TupleOf(elems...)
	}
	return withElems(t, expand)
}

// expandVectors expands the vectors in a type. Cassandra takes tuples for user-defined types that
// are dropped, except in vectors, so a vector of such a type can be added again.
func expandVectors(t *value.Type) *value.Type {
	if t.Kind == value.Vector {
		return expand(t)
	}
	return withElems(t, expandVectors)
}

// withElems returns a type with its element types replaced.
func withElems(t *value.Type, replace func(*value.Type) *value.Type) *value.Type {
	var n *value.Type
	for i, e := range t.Elems {
		x := replace(e)
		if x == e {
			continue
		}
		if n == nil {
			copied := *t
			copied.Elems = slices.Clone(t.Elems)
			n = &copied
		}
		n.Elems[i] = x
	}
	if n == nil {
		return t
	}
	return n
}

func (c *change) dropColumns(t *schema.Table, stmt *syntax.AlterTable) (*schema.Table, error) {
	when := c.env.Now
	if stmt.DropTimestamp != nil {
		k, ok := stmt.DropTimestamp.(*syntax.Constant)
		if !ok {
			return nil, syntaxError("the timestamp of a dropped column must be a constant")
		}
		n, err := strconv.ParseInt(k.Text, 10, 64)
		if err != nil {
			return nil, syntaxError("Invalid timestamp %s", k.Text)
		}
		when = n
	}
	gone := map[string]bool{}
	dropped := maps.Clone(t.Dropped)
	if dropped == nil {
		dropped = map[string]schema.Dropped{}
	}
	for _, name := range stmt.Drop {
		if gone[name] {
			continue // DROP (d, d) drops d once
		}
		col := t.Columns[name]
		if col == nil {
			if stmt.DropIfExists {
				continue
			}
			return nil, invalid("Column %s was not found in table '%s.%s'", name, t.Keyspace, t.Name)
		}
		if col.Kind == schema.PartitionKey || col.Kind == schema.Clustering {
			return nil, invalid("Cannot drop PRIMARY KEY column %s", name)
		}
		if col.Type.Kind == value.UDT && col.Type.Multicell() {
			return nil, invalid("Cannot drop non-frozen column %s of user type %s", name, col.Type)
		}
		gone[name] = true
		dropped[name] = schema.Dropped{Type: expand(col.Type), Kind: col.Kind, Time: when}
	}
	if len(gone) == 0 {
		return t, nil
	}
	n := rebuild(t, func(cols []*schema.Column) []*schema.Column {
		return slices.DeleteFunc(cols, func(c *schema.Column) bool { return gone[c.Name] })
	})
	n.Dropped = dropped
	return n, nil
}

func renameColumns(t *schema.Table, stmt *syntax.AlterTable) (*schema.Table, error) {
	cols := slices.Clone(t.All())
	places := make(map[string]int, len(cols))
	for i, c := range cols {
		places[c.Name] = i
	}
	for _, r := range stmt.Rename {
		i, there := places[r.From]
		if !there {
			return nil, invalid("Undefined column name %s in table %s.%s", r.From, t.Keyspace, t.Name)
		}
		if k := cols[i].Kind; k != schema.PartitionKey && k != schema.Clustering {
			return nil, invalid("Cannot rename non PRIMARY KEY column %s", r.From)
		}
		if _, there := places[r.To]; there {
			return nil, invalid("Cannot rename column %s to %s in table '%s.%s'; another column with that name already exists",
				r.From, r.To, t.Keyspace, t.Name)
		}
		n := *cols[i]
		n.Name = r.To
		cols[i] = &n
		delete(places, r.From)
		places[r.To] = i
	}
	return rebuild(t, func([]*schema.Column) []*schema.Column { return cols }), nil
}

func (c *change) alterOptions(t *schema.Table, p *properties) (*schema.Table, error) {
	options, err := tableOptions(p, t.Options)
	if err != nil {
		return nil, err
	}
	if err := p.known(tableProperty); err != nil {
		return nil, err
	}
	if err := c.customOptions(p, t, options); err != nil {
		return nil, err
	}
	if p.has("id") {
		return nil, configError("Cannot alter table id.")
	}
	if err := checkCounterTTL(t.Counter, options); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(options, t.Options) {
		return t, nil
	}
	n := *t
	n.Options = options
	return &n, nil
}
