// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// A door learns of other doors' tables from events. An event can come later than the other door's
// answer to the client that has created the table. So a door does not pass on at once a statement
// on a table that it does not know: the store would answer for the physical table. The door first
// looks for such a table and reads the catalogue if there is one.

// lacks reports whether the door knows no table of that name that clients can use. The store may
// have the physical table of one that is being created or dropped.
func (v *view) lacks(keyspace, name string) bool {
	if keyspace == "" || name == "" || strings.HasPrefix(keyspace, "system") {
		return false
	}
	return !v.names.Has(keyspace, name) || len(v.pending) > 0 && v.pending[syntax.Name{Keyspace: keyspace, Name: name}]
}

// target returns the table whose rights and rows a statement needs.
func target(h syntax.Head, keyspace string) syntax.Name {
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

// unknownTables returns the tables of a statement that the door does not know.
func (x *schemas) unknownTables(h syntax.Head, keyspace, text string) []syntax.Name {
	v, state := x.view.Load(), x.state.Load()
	if h.Kind != syntax.StatementBatch {
		if n := target(h, keyspace); v.lacks(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil {
			return []syntax.Name{n}
		}
		return nil
	}
	var all []syntax.Name
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.lacks(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// unknown is a statement with its tables that the door does not know.
type unknown struct {
	x              *schemas
	relays         *relays
	keyspace, text string
	tables         []syntax.Name
}

// look refreshes the door's schema if the store has one of the unknown tables.
func (u *unknown) look(ctx context.Context) error {
	for _, n := range u.tables {
		if !u.x.view.Load().lacks(n.Keyspace, n.Name) {
			continue // another request has looked
		}
		found, err := u.x.catalog.Exists(ctx, n.Keyspace, n.Name)
		if err != nil {
			return err
		}
		if found {
			return u.x.refresh(ctx)
		}
	}
	return nil
}
