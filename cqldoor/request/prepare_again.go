// SPDX-License-Identifier: Apache-2.0

package request

import (
	"reflect"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// sameTable reports whether a table is still the one on which clients prepared statements, with the same
// columns. If not, Cassandra forgets these statements.
func sameTable(a, b *schema.Table) bool {
	return b != nil && a.ID == b.ID && reflect.DeepEqual(a.All(), b.All()) && a.Options["default_time_to_live"] == b.Options["default_time_to_live"]
}

// Current returns the statement as planned on the present state. If its table has changed, Current returns
// UNPREPARED. As with Cassandra, the client must prepare the statement again, and so learns the table's
// present columns.
func (x *Statements) Current(s *Statement) (*Statement, error) {
	st := x.State.Load()
	if s.state.Value() == st {
		return s, nil
	}
	// When a table changes, many requests of the statement arrive at once. The first of them plans the
	// statement again for all.
	if k := x.Cache.Known.Get(s.ID[:]); k != nil && k.Statement != nil && k.Statement.state.Value() == st && k.Statement.Text == s.Text {
		return k.Statement, nil
	}
	for _, t := range s.Tables() {
		if !sameTable(t, st.Schema.Table(t.Keyspace, t.Name)) || st.Table(t.Keyspace, t.Name) == nil {
			return nil, Unprepared(s.ID[:])
		}
	}
	fresh, err := x.newStatement(st, s.Keyspace, s.Text)
	if err != nil {
		return nil, err
	}
	x.Cache.Prepared(fresh)
	return fresh, nil
}
