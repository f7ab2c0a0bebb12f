// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Announce sets the function that tells clients of doors that come and go. f sends the body of an
// EVENT to the clients that registered for it.
func (r *Router) Announce(f func(body []byte)) { r.schema.doors.nodes.announce.Store(&f) }

// Events implements cqldoor.Router. It refreshes the state once for all events before they are
// shown. So a driver that reads the schema because of an event sees the new one.
func (r *Router) Events(bodies, out [][]byte) [][]byte {
	x := r.schema
	refresh := false
	var schema [][]byte
	for _, body := range bodies {
		if body == nil {
			refresh = true
			continue
		}
		e, err := wire.ParseEvent(body)
		if err != nil || e.Type != wire.EventSchema {
			out = append(out, body)
			continue
		}
		own := e.Schema.Keyspace == catalog.Keyspace
		// While there is no catalogue, there is nothing to find.
		refresh = refresh || own || x.view.Load().present
		if !own {
			schema = append(schema, body)
		}
	}
	before := x.view.Load()
	if refresh {
		x.refreshOrLog(context.Background())
	}
	now := x.view.Load()
	for _, body := range schema {
		if body := now.shownEvent(before, body); body != nil {
			out = append(out, body)
		}
	}
	return out
}

// shownEvent returns the body of a schema event as clients see it, or nil if they must not see it.
// If the event is about the physical table that has the rows and another name, clients see an
// UPDATED of the logical table. They do not see events of other hidden tables. If the event is
// about the first physical table, which had the logical name, clients also see an UPDATED.
func (v *view) shownEvent(before *view, body []byte) []byte {
	e, err := wire.ParseEvent(body)
	if err != nil || e.Schema.Target != wire.TargetTable {
		return body
	}
	at := syntax.Name{Keyspace: e.Schema.Keyspace, Name: e.Schema.Name}
	if v.hidden[at] || before.hidden[at] {
		t := v.logicalOf(at)
		if t == nil || t.entry.Physical != at.Name {
			return nil
		}
		e.Schema.Change, e.Schema.Name = "UPDATED", t.entry.Table
		return wire.AppendEvent(nil, &e)
	}
	if t := v.tables[at.Keyspace][at.Name]; t != nil && t.entry.Physical != at.Name {
		if e.Schema.Change = "UPDATED"; t.entry.Table == at.Name {
			return wire.AppendEvent(nil, &e)
		}
	}
	return body
}

// logicalOf returns the logical table whose rows are in the physical table n, or nil if there is
// none.
func (v *view) logicalOf(n syntax.Name) *sharded {
	for _, t := range v.tables[n.Keyspace] {
		if t.entry.Physical == n.Name {
			return t
		}
	}
	return nil
}
