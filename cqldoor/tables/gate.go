// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"slices"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// The gate decides who handles a statement, before the door sends any of it to the store. It judges
// the text of a QUERY or PREPARE, each part of a BATCH, and the keyspace that comes with any of them.
// It judges a prepared statement by the text of its PREPARE: see package request.
//
// The gate judges reads and writes, the most frequent statements, by the table that they name
// (syntax.Target), and USE by its keyspace. In every other statement, even in one that the parser
// refuses, it looks for the catalogue's keyspace in the whole text (syntax.NamesKeyspace). The door
// answers a statement that names this keyspace as if there were no such keyspace.

// verdict is the gate's decision on a statement.
type verdict uint8

const (
	// unread: the statement must be read further. It is a schema statement, a statement on roles,
	// or unknown.
	unread verdict = iota
	// ToStore: the statement goes to the store unchanged.
	ToStore
	// toRouter: the statement is about a table that is sharded, hidden or unknown here, or it reads
	// a system table of which the door changes rows (Hides).
	toRouter
	// onCatalogue: the statement would read or write the catalogue.
	onCatalogue
)

// Judge judges a statement by its head. keyspace is the keyspace of an unqualified name. For a batch,
// the caller calls Judge with each table of the batch, as JudgeAll does.
func (v *View) Judge(h syntax.Head, keyspace string) verdict {
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	switch {
	case OnRows(h.Kind):
		switch {
		case keyspace == catalog.Keyspace:
			return onCatalogue
		case h.Name.Name == "":
			return unread // a text that could not be split into tokens
		case h.Kind == syntax.StatementSelect && Hides(keyspace, h.Name.Name):
			return toRouter
		case v.Tables[keyspace][h.Name.Name] != nil || v.Lacks(keyspace, h.Name.Name):
			return toRouter
		case len(v.unserved) > 0 && v.unserved[syntax.Name{Keyspace: keyspace, Name: h.Name.Name}]:
			return toRouter
		case len(v.Hidden) > 0 && v.Hidden[syntax.Name{Keyspace: keyspace, Name: h.Name.Name}]:
			return toRouter // the router reports that there is no such table
		}
		return ToStore
	case h.Kind == syntax.StatementUse:
		if h.Name.Name == catalog.Keyspace {
			return onCatalogue
		}
		return ToStore
	}
	return unread
}

// JudgeAll judges a statement by all tables that it names. The verdict on a batch is ToStore only if
// the verdict on each of its tables is ToStore.
func (v *View) JudgeAll(h syntax.Head, keyspace, text string) verdict {
	if h.Kind != syntax.StatementBatch {
		return v.Judge(h, keyspace)
	}
	is := unread
	for n := range syntax.Tables(text) {
		if is = v.Judge(syntax.Head{Kind: h.Kind, Name: n}, keyspace); is != ToStore {
			break
		}
	}
	return is
}

// OnRows reports whether statements of a kind read or write rows of tables. The gate judges these by
// their tables alone.
func OnRows(k syntax.StatementKind) bool {
	switch k {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete,
		syntax.StatementBatch, syntax.StatementTruncate:
		return true
	}
	return false
}

// Hides reports whether the door changes or hides rows of a system table. The result is the same if
// there is nothing to hide yet, because a statement that is prepared now is executed later.
func Hides(keyspace, table string) bool {
	switch keyspace {
	case "system_schema":
		return table == "tables" || table == "columns" || table == "keyspaces"
	case "system":
		return table == "size_estimates" || table == "table_estimates" || ShowsNodes(keyspace, table)
	}
	return false
}

// RefuseUnserved returns an error if a statement is on a table that this door cannot serve, or if it
// names a physical table that clients do not see.
func (v *View) RefuseUnserved(h syntax.Head, text, keyspace string) error {
	if err := v.refuseSecond(h, text, keyspace); err != nil || len(v.unserved) == 0 {
		return err
	}
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.unserved[n] && OnRows(h.Kind) {
			return wire.Errorf(wire.CodeServer, "evenkeel: table %s.%s is sharded in a way that this door does not know; serve it by a door of the release that created it", n.Keyspace, n.Name)
		}
	}
	return nil
}

// Near reports whether a statement that the parser refuses may be about a sharded table. It judges by
// the head: the statement is on a keyspace with sharded tables, or it may create or show such a table.
func (v *View) Near(h syntax.Head, keyspace string) bool {
	n := h.Name
	switch h.Kind {
	case syntax.StatementDropKeyspace:
		return v.Tables[n.Name] != nil
	case syntax.StatementDescribe:
		return v.Present
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
	return v.Tables[n.Keyspace] != nil || h.Kind == syntax.StatementCreateTable
}

// NamesCatalogue reports whether a statement would read or write the catalogue. keyspace is the
// keyspace of unqualified names.
func (v *View) NamesCatalogue(h syntax.Head, text, keyspace string) bool {
	if keyspace == catalog.Keyspace {
		return true
	}
	if h.Kind != syntax.StatementBatch {
		switch v.Judge(h, keyspace) {
		case onCatalogue:
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

// describesCatalogue reports whether a statement is DESCRIBE evenkeel. There the keyspace's name
// stands alone, so syntax.NamesKeyspace does not find it.
func describesCatalogue(h syntax.Head, text string) bool {
	if h.Kind != syntax.StatementDescribe {
		return false
	}
	tree, err := syntax.Parse(text)
	d, ok := tree.(*syntax.Describe)
	return err == nil && ok && d.What == "" && d.Name == syntax.Name{Name: catalog.Keyspace}
}

// PassesOn reports whether the definer (package definitions) passes a statement on to the store.
func (v *View) PassesOn(h syntax.Head, keyspace, text string) bool {
	if passed, _ := v.Plain(h, keyspace, text); passed {
		return true
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return !v.Near(h, keyspace)
	}
	return !v.Concerns(tree, keyspace)
}

// Plain returns two answers about DDL. passed: it is about a plain table, so the door passes it on.
// refreshed: the door must read the schema again after it. The door must do so if the keyspace has
// sharded tables, because one statement may name tables of both kinds.
func (v *View) Plain(h syntax.Head, keyspace, text string) (passed, refreshed bool) {
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	tables := v.Tables[keyspace]
	switch {
	case h.Kind == syntax.StatementCreateTable:
		return !syntax.Mentions(text, catalog.Property) && !v.HasRules() && !v.Renamed(h.Name, keyspace), tables != nil
	case h.Kind == syntax.StatementAlterTable:
		return tables[h.Name.Name] == nil && !syntax.Mentions(text, catalog.Property), tables != nil
	case h.Kind == syntax.StatementDropTable:
		return tables[h.Name.Name] == nil, tables != nil
	}
	return false, false
}

// ObjectOf returns the name of the object that a schema statement is about. For a trigger, and for the
// CREATE of an index or a view, it returns the table that the object is on. For a keyspace, it sets
// only Name.Keyspace.
func ObjectOf(tree syntax.Statement) syntax.Name {
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

// Concerns reports whether the router handles a schema statement itself. It does so if the statement
// is about a sharded table, may create one, or would show or change hidden objects.
func (v *View) Concerns(tree syntax.Statement, keyspace string) bool {
	n := ObjectOf(tree)
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	table := v.Tables[n.Keyspace][n.Name] != nil
	switch t := tree.(type) {
	case *syntax.CreateTable:
		return Declares(t.With) || v.HasRules() || v.Renamed(n, keyspace)
	case *syntax.AlterTable:
		return table || Declares(t.With)
	case *syntax.CreateView:
		return table || v.Renamed(t.Name, keyspace)
	case *syntax.CreateIndex:
		return table
	case *syntax.Drop:
		if t.Kind == syntax.KindTable {
			return table
		}
		return v.Tables[n.Keyspace] != nil
	case *syntax.Other:
		return table && t.Verb == "CREATE" // a trigger: one that is there may be dropped
	case *syntax.CreateType, *syntax.AlterType:
		return v.Tables[n.Keyspace] != nil
	case *syntax.Describe:
		return true
	}
	return false
}

// Declares reports whether write_sharding is among a statement's properties.
func Declares(with syntax.Properties) bool {
	return slices.ContainsFunc(with, func(p syntax.Property) bool { return p.Name == catalog.Property })
}

// HasRules reports whether there may be shard rules: their table exists.
func (v *View) HasRules() bool { return v.Names.Has(catalog.Keyspace, catalog.RulesTable) }

// Target returns the table that a statement reads, writes or changes. The client needs rights on it.
// For a new index or view, that is the table that it is on. Target returns an empty name for other
// statements.
func Target(h syntax.Head, keyspace string) syntax.Name {
	n := h.Name
	switch h.Kind {
	case syntax.StatementSelect, syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete,
		syntax.StatementTruncate, syntax.StatementAlterTable, syntax.StatementDropTable:
	case syntax.StatementCreateIndex, syntax.StatementCreateView:
		n = h.On
	default:
		return syntax.Name{}
	}
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	return n
}
