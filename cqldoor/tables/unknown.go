// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// A door learns of other doors' tables from events. An event can come later than the other door's
// answer to the client that has created the table. Suppose that a door passed on a statement on a
// table that it does not know: the store would answer for the physical table. So the door first looks
// for such a table in the store, and reads the catalogue if there is one.

// Lacks reports whether the door knows no table or view of this name that clients can use. They cannot
// use a sharded table that is being created or dropped, although the store may have its physical table.
func (v *View) Lacks(keyspace, name string) bool {
	if keyspace == "" || name == "" || strings.HasPrefix(keyspace, "system") {
		return false
	}
	return !v.Names.Has(keyspace, name) || len(v.Pending) > 0 && v.Pending[syntax.Name{Keyspace: keyspace, Name: name}]
}

// UnknownTables returns those tables of a statement that the door does not know.
func (x *Schemas) UnknownTables(h syntax.Head, keyspace, text string) []syntax.Name {
	v, state := x.View.Load(), x.State.Load()
	if h.Kind != syntax.StatementBatch {
		if n := Target(h, keyspace); v.Lacks(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil {
			return []syntax.Name{n}
		}
		return nil
	}
	var all []syntax.Name
	for n := range syntax.Tables(text) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.Lacks(n.Keyspace, n.Name) && state.Table(n.Keyspace, n.Name) == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}
