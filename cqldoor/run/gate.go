// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// The gate decides who handles a statement before any of it is sent to the store. It judges the
// text of a QUERY or PREPARE, each part of a BATCH, and the keyspace that comes with any of them.
// The gate has checked the text of each prepared id: see prepared_ids.go.
//
// Reads and writes, the most frequent statements, are judged by the table that they name
// (syntax.Target). In all other statements, also those that the parser does not accept, the gate
// looks for the catalogue's keyspace in the whole text (syntax.NamesKeyspace). A statement that
// names it is answered as if there were no such keyspace.

// verdict is the gate's decision on a statement.
type verdict uint8

const (
	// unread: the statement must be read further. It is a schema statement, a statement on roles,
	// or unknown.
	unread verdict = iota
	// ofStore: the statement goes to the store unchanged.
	ofStore
	// ofRouter: the statement is about a table that is sharded or unknown here, or it reads the
	// schema.
	ofRouter
	// ofCatalogue: the statement would read or write the catalogue.
	ofCatalogue
)

// errReserved refuses a keyspace of the catalogue's name.
var errReserved = wire.Invalidf("Keyspace '%s' is reserved: front doors keep there which tables are sharded", catalog.Keyspace)

// Claims implements cqldoor.Router.
func (r *Router) Claims(h syntax.Head, keyspace string) bool {
	if r.schema.view.Load().judge(h, keyspace) != ofStore {
		return true
	}
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	return r.schema.doors.lease.Over() && ofRows(h.Kind) && !strings.HasPrefix(keyspace, "system")
}

// judge judges a statement by its head. A batch is judged table by table.
func (v *view) judge(h syntax.Head, keyspace string) verdict {
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	switch {
	case ofRows(h.Kind):
		switch {
		case keyspace == catalog.Keyspace:
			return ofCatalogue
		case h.Name.Name == "":
			return unread // a text that could not be split into tokens
		case h.Kind == syntax.StatementSelect && hides(keyspace, h.Name.Name):
			return ofRouter
		case v.tables[keyspace][h.Name.Name] != nil || v.lacks(keyspace, h.Name.Name):
			return ofRouter
		case len(v.unserved) > 0 && v.unserved[syntax.Name{Keyspace: keyspace, Name: h.Name.Name}]:
			return ofRouter
		case len(v.hidden) > 0 && v.hidden[syntax.Name{Keyspace: keyspace, Name: h.Name.Name}]:
			return ofRouter // the router reports that there is no such table
		}
		return ofStore
	case h.Kind == syntax.StatementUse:
		if h.Name.Name == catalog.Keyspace {
			return ofCatalogue
		}
		return ofStore
	}
	return unread
}

// judgeAll judges a statement by all tables that it names.
func (v *view) judgeAll(h syntax.Head, keyspace, text string) verdict {
	if h.Kind != syntax.StatementBatch {
		return v.judge(h, keyspace)
	}
	is := unread
	for n := range syntax.Tables(text) {
		if is = v.judge(syntax.Head{Kind: h.Kind, Name: n}, keyspace); is != ofStore {
			break
		}
	}
	return is
}

// ofRows says whether statements of a kind read or write rows of tables. These are judged by
// their tables alone.
func ofRows(k syntax.StatementKind) bool {
	switch k {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete,
		syntax.StatementBatch, syntax.StatementTruncate:
		return true
	}
	return false
}

// hides says whether the door changes or hides rows of a system table. It does so even while
// nothing is hidden yet, because a statement prepared now is executed later.
func hides(keyspace, table string) bool {
	switch keyspace {
	case "system_schema":
		return table == "tables" || table == "columns" || table == "keyspaces"
	case "system":
		return table == "size_estimates" || table == "table_estimates" || ofNodes(keyspace, table)
	}
	return false
}

// refuseUnserved returns an error if a statement is on a table that this door cannot serve.
func (v *view) refuseUnserved(h syntax.Head, text, keyspace string) error {
	if err := v.refuseSecond(h, text, keyspace); err != nil || len(v.unserved) == 0 {
		return err
	}
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.unserved[n] && ofRows(h.Kind) {
			return wire.Errorf(wire.CodeServer, "evenkeel: table %s.%s is sharded in a way that this door does not know; serve it by a door of the release that created it", n.Keyspace, n.Name)
		}
	}
	return nil
}

// near says whether a statement may be about a sharded table although neither its head nor a
// parser tells so.
func (v *view) near(h syntax.Head, keyspace string) bool {
	n := h.Name
	switch h.Kind {
	case syntax.StatementDropKeyspace:
		return v.tables[n.Name] != nil
	case syntax.StatementDescribe:
		return v.present
	case syntax.StatementCreateIndex, syntax.StatementCreateView:
		n = h.On
	case syntax.StatementCreateTable, syntax.StatementAlterTable, syntax.StatementDropTable,
		syntax.StatementCreateType, syntax.StatementAlterType, syntax.StatementDropType:
	default:
		return false
	}
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	return v.tables[n.Keyspace] != nil || h.Kind == syntax.StatementCreateTable
}

// namesCatalogue says whether a statement would read or write the catalogue. keyspace is the
// keyspace of unqualified names.
func (v *view) namesCatalogue(h syntax.Head, text, keyspace string) bool {
	if keyspace == catalog.Keyspace {
		return true
	}
	if h.Kind != syntax.StatementBatch {
		switch v.judge(h, keyspace) {
		case ofCatalogue:
			return true
		case unread:
			return syntax.NamesKeyspace(text, catalog.Keyspace) || describesCatalogue(h, text)
		}
		return false
	}
	any := false
	for n := range syntax.Tables(text) {
		any = true
		if n.Keyspace == catalog.Keyspace {
			return true
		}
	}
	return !any && syntax.NamesKeyspace(text, catalog.Keyspace)
}

// describesCatalogue says whether a statement is DESCRIBE evenkeel, where the keyspace's name
// stands alone.
func describesCatalogue(h syntax.Head, text string) bool {
	if h.Kind != syntax.StatementDescribe {
		return false
	}
	tree, err := syntax.Parse(text)
	d, ok := tree.(*syntax.Describe)
	return err == nil && ok && d.What == "" && d.Name == syntax.Name{Name: catalog.Keyspace}
}

// absent returns the answer to a statement that names the catalogue: the one that Cassandra gives
// if there is no such keyspace. It returns nil if there is nothing to do in that case, as with IF
// EXISTS.
func absent(req *cqldoor.Request, h syntax.Head, text, keyspace string) error {
	if keyspace == catalog.Keyspace {
		return wire.Invalidf("Keyspace '%s' does not exist", keyspace)
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return syntaxError(err)
	}
	switch t := tree.(type) {
	case *syntax.Use:
		return wire.Invalidf("Keyspace '%s' does not exist", catalog.Keyspace)
	case *syntax.Describe:
		return wire.Invalidf("'%s' not found in keyspaces", catalog.Keyspace)
	case *syntax.CreateKeyspace, *syntax.AlterKeyspace:
		return errReserved
	case *syntax.Drop:
		if t.Kind == syntax.KindKeyspace {
			return errReserved
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
	return noKeyspace(catalog.Keyspace)
}

var errNotThere = wire.Invalidf("Keyspace '%s' doesn't exist", catalog.Keyspace)

// inKeyspace is absent for a schema statement of an object that names the catalogue itself or
// through a type.
func inKeyspace(tree syntax.Statement, object syntax.Name) error {
	if object.Keyspace == catalog.Keyspace {
		return applied(tree)
	}
	return foreignType(object.Keyspace)
}

// applied returns the result of a schema statement in a keyspace that does not exist.
func applied(tree syntax.Statement) error {
	_, err := ddl.Apply(&schema.Schema{}, tree, &ddl.Env{})
	return err
}

func foreignType(keyspace string) error {
	return wire.Invalidf("Statement on keyspace %s cannot refer to a user type in keyspace %s; user types can only be used in the keyspace they are defined in",
		keyspace, catalog.Keyspace)
}

// absentOther is absent for a statement that is not parsed further.
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
		return foreignType(t.Name.Keyspace) // the type of a function or aggregate
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

// isStores says whether serveOther passes a statement on.
func (v *view) isStores(h syntax.Head, keyspace, text string) bool {
	if passed, _ := v.plain(h, keyspace, text); passed {
		return true
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return !v.near(h, keyspace)
	}
	return !v.concerns(tree, keyspace)
}

// plain says whether DDL is about a plain table, and whether the schema must be read again after
// it. That is so if there are sharded tables in the same keyspace: a statement may name both.
func (v *view) plain(h syntax.Head, keyspace, text string) (passed, refreshed bool) {
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	tables := v.tables[keyspace]
	switch {
	case h.Kind == syntax.StatementCreateTable:
		return !syntax.Mentions(text, catalog.Property) && !v.hasRules() && !v.renamed(h.Name, keyspace), tables != nil
	case h.Kind == syntax.StatementAlterTable:
		return tables[h.Name.Name] == nil && !syntax.Mentions(text, catalog.Property), tables != nil
	case h.Kind == syntax.StatementDropTable:
		return tables[h.Name.Name] == nil, tables != nil
	}
	return false, false
}
