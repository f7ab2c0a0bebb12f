// SPDX-License-Identifier: Apache-2.0

package run

import (
	"reflect"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// sameTable says whether a table is still the one on which statements were prepared, with the
// same columns. If not, Cassandra forgets such statements.
func sameTable(a, b *schema.Table) bool {
	return b != nil && a.ID == b.ID && reflect.DeepEqual(a.All(), b.All()) && a.Options["default_time_to_live"] == b.Options["default_time_to_live"]
}

// current returns the statement planned on the present schema. If its table has changed, the
// client must prepare it again, as with Cassandra, and so learns of the table's present columns.
func (x *statements) current(s *statement) (*statement, error) {
	st := x.state.Load()
	if s.state.Value() == st {
		return s, nil
	}
	// When a table changes, many requests are under way that were planned before. The first of them
	// that comes here plans the statement anew for all.
	if k := x.cache.known.get(s.id[:]); k != nil && k.statement != nil && k.statement.state.Value() == st && k.statement.text == s.text {
		return k.statement, nil
	}
	for _, t := range s.tables() {
		if !sameTable(t, st.Schema.Table(t.Keyspace, t.Name)) || st.Table(t.Keyspace, t.Name) == nil {
			return nil, unprepared(s.id[:])
		}
	}
	fresh, err := x.newStatement(st, s.keyspace, s.text)
	if err != nil {
		return nil, err
	}
	x.cache.prepared(fresh)
	return fresh, nil
}
