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
	for _, f := range stmt.Fields {
		if slices.Contains(fields, f.Name) {
			return invalid("Duplicate field name '%s' in type '%s'", f.Name, name)
		}
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
	c.putType(ks, value.UDTOf(keyspace, name, fields, types, false), wire.ChangeCreated)
	return nil
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
	for _, f := range stmt.Add {
		if slices.Contains(fields, f.Name) {
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
		if used := keyUsers(ks, keyspace, name); len(used) > 0 {
			return invalid("Cannot add new field %s of type %s to user type %s.%s as the type is being used in partition key by the following tables: %s",
				f.Name, qualified(t), keyspace, name, strings.Join(used, ", "))
		}
		fields, types = append(fields, f.Name), append(types, t)
	}
	for _, r := range stmt.Rename {
		i := slices.Index(old.Fields, r.From) // all renames of a statement begin with the old names
		if i < 0 {
			if stmt.RenameIfExists {
				continue
			}
			return invalid("Unkown field %s in user type %s.%s", r.From, keyspace, name)
		}
		fields[i] = r.To
	}
	for i, f := range fields {
		if slices.Contains(fields[:i], f) {
			return invalid("Duplicate field name %s in type %s", f, keyspace)
		}
	}
	if slices.Equal(fields, old.Fields) {
		return nil
	}
	c.putType(ks, value.UDTOf(keyspace, name, fields, types, false), wire.ChangeUpdated)
	return nil
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
func (c *change) putType(ks *schema.Keyspace, t *value.Type, kind string) {
	n := *ks
	n.Types = maps.Clone(ks.Types)
	if n.Types == nil {
		n.Types = map[string]*value.Type{}
	}
	n.Types[t.Name] = t
	if kind == wire.ChangeUpdated {
		replaceType(&n, t)
	}
	c.put(n.Name, &n, wire.SchemaChange{Change: kind, Target: wire.TargetType, Name: t.Name})
}

// replaceType replaces the earlier form of t, at any depth, in all types and tables of a keyspace.
func replaceType(ks *schema.Keyspace, t *value.Type) {
	changed := []*value.Type{t}
	for len(changed) > 0 {
		t := changed[0]
		changed = changed[1:]
		for name, u := range ks.Types {
			if name == t.Name {
				continue
			}
			if r := u.Replace(t); r != u {
				ks.Types[name] = r
				changed = append(changed, r)
			}
		}
		tables := maps.Clone(ks.Tables)
		for name, table := range tables {
			tables[name] = replaceInTable(table, t)
		}
		ks.Tables = tables
	}
}

func replaceInTable(t *schema.Table, u *value.Type) *schema.Table {
	uses := false
	for _, col := range t.Columns {
		uses = uses || col.Type.Uses(u.Keyspace, u.Name)
	}
	if !uses {
		return t
	}
	return rebuild(t, func(cols []*schema.Column) []*schema.Column {
		for i, col := range cols {
			if r := col.Type.Replace(u); r != col.Type {
				n := *col
				n.Type = r
				cols[i] = &n
			}
		}
		return cols
	})
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
