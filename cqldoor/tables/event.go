// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// ShownEvent returns the body of a schema event as clients see it, or nil if they must not see it.
// before is the view that the door had when the event came. The rows of a logical table may be in a
// physical table of another name. For an event about that physical table, clients see an UPDATED of
// the logical table. For an event about the table that has the logical name itself, they see an
// UPDATED too. They do not see events about other hidden tables.
func (v *View) ShownEvent(before *View, body []byte) []byte {
	e, err := wire.ParseEvent(body)
	if err != nil || e.Schema.Target != wire.TargetTable {
		return body
	}
	at := syntax.Name{Keyspace: e.Schema.Keyspace, Name: e.Schema.Name}
	if v.Hidden[at] || before.Hidden[at] {
		t := v.logicalOf(at)
		if t == nil || t.Entry.Physical != at.Name {
			return nil
		}
		e.Schema.Change, e.Schema.Name = "UPDATED", t.Entry.Table
		return wire.AppendEvent(nil, &e)
	}
	if t := v.Tables[at.Keyspace][at.Name]; t != nil && t.Entry.Physical != at.Name {
		if e.Schema.Change = "UPDATED"; t.Entry.Table == at.Name {
			return wire.AppendEvent(nil, &e)
		}
	}
	return body
}
