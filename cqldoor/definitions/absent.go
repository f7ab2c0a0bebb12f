// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
)

// NoKeyspace returns Cassandra's error for a keyspace that does not exist.
func NoKeyspace(name string) error { return wire.Invalidf("keyspace %s does not exist", name) }

// ErrReserved refuses a statement that creates, alters or drops the catalogue's keyspace.
var ErrReserved = wire.Invalidf("Keyspace '%s' is reserved: front doors keep there which tables are sharded", catalog.Keyspace)

// Absent returns the answer to a statement that names the catalogue. This is the error that Cassandra gives
// if there is no such keyspace. Absent returns nil if the statement then does nothing, as with IF EXISTS.
func Absent(req *cqldoor.Request, h syntax.Head, text, keyspace string) error {
	if keyspace == catalog.Keyspace {
		return wire.Invalidf("Keyspace '%s' does not exist", keyspace)
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return request.SyntaxError(err)
	}
	switch t := tree.(type) {
	case *syntax.Use:
		return wire.Invalidf("Keyspace '%s' does not exist", catalog.Keyspace)
	case *syntax.Describe:
		return wire.Invalidf("'%s' not found in keyspaces", catalog.Keyspace)
	case *syntax.CreateKeyspace, *syntax.AlterKeyspace:
		return ErrReserved
	case *syntax.Drop:
		if t.Kind == syntax.KindKeyspace {
			return ErrReserved
		}
		return applied(tree)
	case *syntax.CreateView:
		if t.Name.Keyspace != t.Select.From.Keyspace {
			return wire.Invalidf("Cannot create a materialized view on a table in a different keyspace")
		}
		return errNotThere
	case *syntax.CreateIndex:
		return errNotThere
	case *syntax.CreateTable:
		return inKeyspace(tree, t.Name)
	case *syntax.AlterTable:
		return inKeyspace(tree, t.Name)
	case *syntax.CreateType:
		return inKeyspace(tree, t.Name)
	case *syntax.AlterType:
		return inKeyspace(tree, t.Name)
	case *syntax.Other:
		return absentOther(req, t)
	}
	return NoKeyspace(catalog.Keyspace)
}

var errNotThere = wire.Invalidf("Keyspace '%s' doesn't exist", catalog.Keyspace)

// inKeyspace is Absent for a schema statement about an object. Either the object is in the catalogue's keyspace, or
// the object has a type from it.
func inKeyspace(tree syntax.Statement, object syntax.Name) error {
	if object.Keyspace == catalog.Keyspace {
		return applied(tree)
	}
	return foreignType(object.Keyspace)
}

// applied returns the error of a schema statement in a keyspace that does not exist, or nil.
func applied(tree syntax.Statement) error {
	_, err := ddl.Apply(&schema.Schema{}, tree, &ddl.Env{})
	return err
}

func foreignType(keyspace string) error {
	return wire.Invalidf("Statement on keyspace %s cannot refer to a user type in keyspace %s; user types can only be used in the keyspace they are defined in",
		keyspace, catalog.Keyspace)
}

// absentOther is Absent for a statement that package syntax does not parse further.
func absentOther(req *cqldoor.Request, t *syntax.Other) error {
	switch {
	case t.OnKind == syntax.KindFunction:
		return wire.Errorf(wire.CodeConfig, "Keyspace %s doesn't exist", t.On.Keyspace)
	case t.OnKind != "" && t.Object != syntax.KindTrigger && req.Username == "":
		return wire.Errorf(wire.CodeUnauthorized, "You have to be logged in and not anonymous to perform this request")
	case t.OnKind != "" && t.Object != syntax.KindTrigger:
		return noResource(t)
	}
	if t.Name.Keyspace != catalog.Keyspace {
		return foreignType(t.Name.Keyspace) // the function or aggregate has a type from the catalogue's keyspace
	}
	name := t.Name.Keyspace + "." + t.Name.Name
	switch {
	case t.Verb == "CREATE" && t.Object == syntax.KindAggregate:
		return wire.Errorf(wire.CodeConfig, "Keyspace %s doesn't exist", catalog.Keyspace)
	case t.Verb == "CREATE":
		return errNotThere
	case t.IfExists:
		return nil
	case t.Object == syntax.KindTrigger:
		return wire.Invalidf("Trigger '%s' on '%s.%s' doesn't exist", t.Name.Name, t.On.Keyspace, t.On.Name)
	case t.Object == syntax.KindView:
		return wire.Invalidf("Materialized view '%s' doesn't exist", name)
	}
	what, arguments := "Function", ""
	if t.Object == syntax.KindAggregate {
		what = "Aggregate"
	}
	if _, list, ok := strings.Cut(t.Text, "("); ok {
		arguments = "(" + list
	}
	return wire.Invalidf("%s '%s%s' doesn't exist", what, name, arguments)
}

// noResource returns the answer to a GRANT, REVOKE or LIST on something that does not exist.
func noResource(t *syntax.Other) error {
	of := ""
	switch t.OnKind {
	case syntax.KindTable:
		of = "table " + t.On.Keyspace + "." + t.On.Name
	case syntax.KindTables:
		of = "all tables in " + t.On.Keyspace
	case syntax.KindFunctions:
		of = "all functions in " + t.On.Keyspace
	default:
		of = "keyspace " + t.On.Keyspace
	}
	if t.Verb == "LIST" {
		return wire.Invalidf("<%s> doesn't exist", of)
	}
	return wire.Invalidf("Resource <%s> doesn't exist", of)
}
