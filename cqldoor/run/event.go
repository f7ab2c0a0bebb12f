// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Announce has clients told of the doors that come and go: f sends the body of an EVENT to
// those that registered for it.
func (r *Router) Announce(f func(body []byte)) { r.schema.nodes.announce.Store(&f) }

// Events implements cqldoor.Router. The state is brought up to date, once for all
// of them, before they are shown, so that a driver that reads the schema because of
// them sees the new one.
func (r *Router) Events(bodies, out [][]byte) [][]byte {
	x := r.schema
	refresh := false
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
		// Before there is a catalogue there is nothing to find.
		refresh = refresh || own || x.view.Load().present
		if !own {
			out = append(out, body)
		}
	}
	if refresh {
		x.refreshOrReport(context.Background())
	}
	return out
}
