// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Announce sets the function by which the router tells clients that a door comes or goes. f sends the body of
// an EVENT to the clients that registered for it.
func (r *Router) Announce(f func(body []byte)) { r.schema.Doors.Nodes.Announce.Store(&f) }

// Events implements cqldoor.Router. It refreshes the state once for all events before clients see them.
// So a driver that reads the schema because of an event sees the new schema.
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
		// While there is no catalogue, no table is sharded.
		refresh = refresh || own || x.View.Load().Present
		if !own {
			schema = append(schema, body)
		}
	}
	before := x.View.Load()
	if refresh {
		x.RefreshOrLog(context.Background())
	}
	now := x.View.Load()
	for _, body := range schema {
		if body := now.ShownEvent(before, body); body != nil {
			out = append(out, body)
		}
	}
	return out
}
