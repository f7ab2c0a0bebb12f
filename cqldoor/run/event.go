package run

import (
	"context"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Event implements cqldoor.Router. The state is brought up to date before the
// event is shown, so that a driver that reads the schema because of it sees the
// new one.
func (r *Router) Event(body []byte, out [][]byte) [][]byte {
	x := r.schema
	if body == nil {
		x.refreshOrReport(context.Background())
		return out
	}
	e, err := wire.ParseEvent(body)
	if err != nil || e.Type != wire.EventSchema {
		return append(out, body)
	}
	own := e.Schema.Keyspace == catalog.Keyspace
	// Before there is a catalogue there is nothing to find.
	if own || x.view.Load().present {
		x.refreshOrReport(context.Background())
	}
	if own {
		return out
	}
	return append(out, body)
}
