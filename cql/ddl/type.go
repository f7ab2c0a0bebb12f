// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

func (c *change) createType(stmt *syntax.CreateType) error {
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	if err := permit(keyspace, "CREATE", "<all tables in "+keyspace+">"); err != nil {
		return err
	}
	ks := c.old.Keyspaces[keyspace]
	if ks == nil {
		return noKeyspace(keyspace)
	}
	name := stmt.Name.Name
	if ks.Types[name] != nil {
		if stmt.IfNotExists {
			return nil
		}
		return invalid("A user type with name '%s' already exists", name)
	}
	var fields []string
	var types []*value.Type
	seen := make(map[string]bool, len(stmt.Fields))
	for _, f := range stmt.Fields {
		if seen[f.Name] {
			return invalid("Duplicate field name '%s' in type '%s'", f.Name, name)
		}
		seen[f.Name] = true
		fields = append(fields, f.Name)
	}
	for _, f := range stmt.Fields {
		if err := checkField(f.Type); err != nil {
			return err
		}
	}
	for _, f := range stmt.Fields {
		t, err := analysis.ResolveType(f.Type, ks)
		if err != nil {
			return err
		}
		types = append(types, t)
	}
	return c.putType(ks, value.UDTOf(keyspace, name, fields, types, false), wire.ChangeCreated)
}

// checkField refuses types that a field of a user-defined type may not have.
func checkField(t syntax.TypeRef) error {
	if !t.Custom && t.Name.Keyspace == "" && t.Name.Name == "counter" {
		return invalid("A user type cannot contain counters")
	}
	if userType(t) && !t.Frozen {
		return invalid("A user type cannot contain non-frozen UDTs")
	}
	return nil
}

// userType reports whether a reference can only be to a user-defined type.
func userType(t syntax.TypeRef) bool {
	if t.Custom || len(t.Params) > 0 {
		return false
	}
	if t.Name.Keyspace != "" {
		return true
	}
	_, err := value.ParseType(t.Name.Name, func(string) (*value.Type, error) { return nil, errNotNative })
	return err != nil
}

var errNotNative = invalid("not a native type")

func (c *change) alterType(stmt *syntax.AlterType) error {
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	if err := permit(keyspace, "ALTER", "<keyspace "+keyspace+">"); err != nil {
		return err
	}
	name := stmt.Name.Name
	ks := c.old.Keyspaces[keyspace]
	var old *value.Type
	if ks != nil {
		old = ks.Types[name]
	}
	if old == nil {
		if stmt.IfExists {
			return nil
		}
		return invalid("Type %s.%s doesn't exist", keyspace, name)
	}
	if stmt.AlterField != "" {
		return invalid("Altering field types is no longer supported")
	}
	fields, types := slices.Clone(old.Fields), slices.Clone(old.Elems)
	places := make(map[string]int, len(fields)) // of the names from before the statement
	seen := make(map[string]bool, len(fields))
	for i, f := range fields {
		places[f], seen[f] = i, true
	}
	used := keyUsers(ks, keyspace, name)
	for _, f := range stmt.Add {
		if seen[f.Name] {
			if stmt.AddIfNotExists {
				continue
			}
			return invalid("Cannot add field %s to type %s.%s: a field with name %s already exists", f.Name, keyspace, name, f.Name)
		}
		if err := checkField(f.Type); err != nil {
			return err
		}
		t, err := analysis.ResolveType(f.Type, ks)
		if err != nil {
			return err
		}
		if t.Uses(keyspace, name) {
			return invalid("Cannot add new field %s of type %s to user type %s.%s as it would create a circular reference",
				f.Name, qualified(t), keyspace, name)
		}
		if len(used) > 0 {
			return invalid("Cannot add new field %s of type %s to user type %s.%s as the type is being used in partition key by the following tables: %s",
				f.Name, qualified(t), keyspace, name, strings.Join(used, ", "))
		}
		seen[f.Name] = true
		fields, types = append(fields, f.Name), append(types, t)
	}
	for _, r := range stmt.Rename {
		i, there := places[r.From] // all renames of a statement begin with the old names
		if !there {
			if stmt.RenameIfExists {
				continue
			}
			return invalid("Unkown field %s in user type %s.%s", r.From, keyspace, name)
		}
		fields[i] = r.To
	}
	clear(seen)
	for _, f := range fields {
		if seen[f] {
			return invalid("Duplicate field name %s in type %s", f, keyspace)
		}
		seen[f] = true
	}
	if slices.Equal(fields, old.Fields) {
		return nil
	}
	return c.putType(ks, value.UDTOf(keyspace, name, fields, types, false), wire.ChangeUpdated)
}

// qualified formats a type as messages about ALTER TYPE do: user-defined types with their keyspace.
func qualified(t *value.Type) string {
	s := t.String()
	var walk func(t *value.Type)
	walk = func(t *value.Type) {
		if t.Kind == value.UDT {
			s = strings.Replace(s, t.Name, t.Keyspace+"."+t.Name, 1)
			return
		}
		for _, e := range t.Elems {
			walk(e)
		}
	}
	walk(t)
	return s
}

// keyUsers returns the tables whose partition key uses a type.
func keyUsers(ks *schema.Keyspace, keyspace, name string) []string {
	var users []string
	for _, table := range slices.Sorted(maps.Keys(ks.Tables)) {
		if slices.ContainsFunc(ks.Tables[table].PartitionKey, func(c *schema.Column) bool { return c.Type.Uses(keyspace, name) }) {
			users = append(users, keyspace+"."+table)
		}
	}
	return users
}

// putType adds or replaces a type. It replaces every use of the type in the keyspace too.
func (c *change) putType(ks *schema.Keyspace, t *value.Type, kind string) error {
	n := ks.WithType(t)
	for _, name := range slices.Sorted(maps.Keys(n.Types)) {
		if u := n.Types[name]; u != ks.Types[name] && u.CountParts(value.MaxParts) > value.MaxParts {
			return analysis.TooManyParts(u)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Tables)) {
		table := n.Tables[name]
		if table == ks.Tables[name] {
			continue
		}
		for _, col := range table.All() {
			if col.Type.CountParts(value.MaxParts) > value.MaxParts {
				return analysis.TooManyParts(col.Type)
			}
		}
	}
	c.put(n.Name, n, wire.SchemaChange{Change: kind, Target: wire.TargetType, Name: t.Name})
	return nil
}

func (c *change) dropType(stmt *syntax.Drop) error {
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	if err := permit(keyspace, "DROP", "<all tables in "+keyspace+">"); err != nil {
		return err
	}
	name := stmt.Name.Name
	ks := c.old.Keyspaces[keyspace]
	if ks == nil || ks.Types[name] == nil {
		if stmt.IfExists {
			return nil
		}
		return invalid("Type '%s.%s' doesn't exist", keyspace, name)
	}
	var types, tables []string
	for _, other := range slices.Sorted(maps.Keys(ks.Types)) {
		if other != name && ks.Types[other].Uses(keyspace, name) {
			types = append(types, other)
		}
	}
	if len(types) > 0 {
		return invalid("Cannot drop user type '%s.%s' as it is still used by user types %s", keyspace, name, strings.Join(types, ", "))
	}
	for _, table := range slices.Sorted(maps.Keys(ks.Tables)) {
		for _, col := range ks.Tables[table].Columns {
			if col.Type.Uses(keyspace, name) {
				tables = append(tables, table)
				break
			}
		}
	}
	if len(tables) > 0 {
		return invalid("Cannot drop user type '%s.%s' as it is still used by tables %s", keyspace, name, strings.Join(tables, ", "))
	}
	n := *ks
	n.Types = maps.Clone(ks.Types)
	delete(n.Types, name)
	c.put(keyspace, &n, wire.SchemaChange{Change: wire.ChangeDropped, Target: wire.TargetType, Name: name})
	return nil
}
