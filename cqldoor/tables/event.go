// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// ShownEvent returns the body of a schema event as clients see it, or nil if they must not see it.
// If the event is about the physical table that has the rows and another name, clients see an
// UPDATED of the logical table. They do not see events of other hidden tables. If the event is
// about the first physical table, which had the logical name, clients also see an UPDATED.
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
