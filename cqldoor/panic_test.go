// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// frail is a picky router that panics when it is asked about the table bad.
type frail struct{ *picky }

func (f frail) Claims(h syntax.Head, keyspace string) bool {
	if h.Name.Name == "bad" {
		panic("it is asked about a bad table")
	}
	return f.picky.Claims(h, keyspace)
}

// TestAPanicLeavesNothingInFlight lets the router and the store panic while the door routes a
// request. The request does not count any more, so a call that waits for earlier requests returns.
// The client gets one answer, or learns that its connection has ended.
func TestAPanicLeavesNothingInFlight(t *testing.T) {
	m := &memory{answer: func(_ *memoryLink, req wire.Message) (wire.Message, bool) {
		if text, err := wire.QueryText(req.Body); err == nil && strings.Contains(string(text), "breaks") {
			panic("the store breaks")
		}
		return void, false
	}}
	under := &premise{holds: true}
	p := &picky{serve: func(_ context.Context, r *cqldoor.Request) {
		if r.Op == wire.OpQuery {
			r.Pass(r.Message)
			return
		}
		r.PassUnder(wire.Message{Op: wire.OpQuery, Body: query(wire.V4, "SELECT breaks FROM mine")}, under, 0, false)
	}}
	eras := new(cqldoor.Eras)
	d, addr := door(t, m, cqldoor.Options{Router: frail{p}, Eras: eras})
	promised := int32(0)
	for _, test := range []struct {
		name, text string
		op         wire.Op
		closed     bool // the store may have got the request
	}{
		{"in the router", "SELECT * FROM bad", wire.OpQuery, false},
		{"in the store", "SELECT * FROM breaks", wire.OpQuery, true},
		{"in the store, at a read of the door's own tables", "SELECT breaks FROM system.local", wire.OpQuery, true},
		{"in the store, at a PREPARE", "SELECT breaks FROM system.other", wire.OpPrepare, true},
		{"in the store, for the router", "SELECT breaks FROM mine", wire.OpQuery, true},
		{"in the store, under a premise", "mine456789abcdef", wire.OpExecute, true},
		{"in the store, under a premise, kept", "SELECT kept FROM mine", wire.OpBatch, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := connect(t, addr, wire.V4)
			before := d.Stats().Panics
			var body []byte
			switch test.op {
			case wire.OpQuery:
				body = query(wire.V4, test.text)
			case wire.OpPrepare:
				body = wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(test.text)})
			case wire.OpExecute:
				body = execute(wire.V4, test.text)
			case wire.OpBatch:
				body = batch(wire.V4, wire.BatchStatement{Text: []byte(test.text)})
			}
			if test.closed {
				c.send(1, test.op, 0, body)
				c.wantClosed()
			} else {
				c.wantError(test.op, body, wire.CodeServer)
				if h, _ := c.ask(wire.OpQuery, query(wire.V4, "SELECT 1")); h.Op != wire.OpResult {
					t.Errorf("then: %s", h.Op)
				}
			}
			if n := d.Stats().Panics - before; n != 1 {
				t.Errorf("%d panics are counted", n)
			}
			if test.op == wire.OpExecute || test.op == wire.OpBatch {
				promised++
			}
			if n := under.ended.Load(); n != promised {
				t.Errorf("%d premises have ended, of %d", n, promised)
			}
			eventually(t, "nothing is in flight", func() bool { return d.Stats().InFlight == 0 })
			if err := eras.Passed(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
