package cqldoor

import (
	"github.com/evenkeel/evenkeel/cql/wire"
)

// eventTypes are what clients may REGISTER for; a connection's registered is a
// set of bits by index.
var eventTypes = [...]string{wire.EventTopology, wire.EventStatus, wire.EventSchema}

const registeredSchema = 1 << 2

func (c *conn) register(h wire.Header, body []byte) {
	types, err := wire.ParseRegister(body)
	if err != nil {
		c.d.counts.malformed.Add(1)
		c.replyError(h.Stream, wire.AsError(err))
		return
	}
	set := uint32(0)
next:
	for _, t := range types {
		for i, known := range eventTypes {
			if t == known {
				set |= 1 << i
				continue next
			}
		}
		c.replyError(h.Stream, wire.Errorf(wire.CodeProtocol, "Invalid value '%s' for Type", t))
		return
	}
	c.registered.Or(set)
	c.reply(h.Stream, wire.OpReady, nil)
}

// event shows an event of the store to the clients that registered for it.
//
// Only changes of the schema are: the nodes that come and go are the backend's,
// and a driver that heard of them would connect to them, round the door.
func (d *Door) event(body []byte) {
	var shown [][]byte
	if body != nil {
		if e, err := wire.ParseEvent(body); err != nil || e.Type != wire.EventSchema {
			return
		}
		shown = append(shown, body)
	}
	if d.opts.Router != nil {
		shown = d.opts.Router.Event(body, nil)
	}
	for _, b := range shown {
		d.Announce(b)
	}
}

// Announce sends the body of a SCHEMA_CHANGE event to the clients that registered
// for it: for changes that the backend does not see, too.
func (d *Door) Announce(body []byte) {
	d.mu.Lock()
	conns := make([]*conn, 0, len(d.conns))
	for c := range d.conns {
		if c.registered.Load()&registeredSchema != 0 {
			conns = append(conns, c)
		}
	}
	d.mu.Unlock()
	for _, c := range conns {
		// A client that has registered is past its handshake: its version is settled.
		c.t.Append(wire.Header{Version: c.version, Response: true, Stream: -1, Op: wire.OpEvent}, body)
		c.t.Flush()
	}
}
