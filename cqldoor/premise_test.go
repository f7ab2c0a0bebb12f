// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// premise is a Premise whose answer the test chooses. It counts the calls.
type premise struct {
	holds    bool
	asked    atomic.Int32
	ended    atomic.Int32
	reviewed func(r *cqldoor.Request, resp wire.Message)
}

func (p *premise) Holds(*wire.Arrival) bool { p.asked.Add(1); return p.holds }
func (p *premise) End(uint32)               { p.ended.Add(1) }

func (p *premise) Review(_ context.Context, r *cqldoor.Request, resp wire.Message) {
	p.reviewed(r, resp)
}

// TestPremise passes requests on under a premise that holds or does not when the store
// has answered.
func TestPremise(t *testing.T) {
	const theirs = "backend890abcdef"
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		for _, c := range []struct {
			name               string
			keep, query, fails bool // how it is passed on, and whether the store refuses it
			holds              bool
			code               wire.Code // of the answer; 0: the store's
		}{
			{name: "holds", holds: true},
			{name: "holds, kept", keep: true, holds: true},
			{name: "holds, QUERY", query: true, holds: true},
			{name: "does not", code: wire.CodeWriteTimeout},
			{name: "does not, kept", keep: true, code: wire.CodeWriteTimeout},
			{name: "does not, QUERY", query: true, code: wire.CodeWriteTimeout},
			{name: "refused", fails: true, code: wire.CodeUnprepared},
			{name: "refused, kept", fails: true, keep: true, code: wire.CodeUnprepared},
		} {
			const id = "mine456789abcdef"
			p := &premise{holds: c.holds}
			sent, body := wire.OpExecute, execute(v, id)
			if c.query {
				sent, body = wire.OpQuery, query(v, "SELECT * FROM mine")
			}
			p.reviewed = func(r *cqldoor.Request, resp wire.Message) {
				if kept := c.keep || c.query; (string(r.Body) == string(body)) != kept || r.Op != sent || wire.KindOf(resp.Body) != wire.ResultVoid {
					t.Errorf("v%d %s: review of %s %q, %q", v, c.name, r.Op, r.Body, resp.Body)
				}
				r.Error(wire.Errorf(wire.CodeWriteTimeout, "nobody knows"))
			}
			router := &picky{serve: func(_ context.Context, r *cqldoor.Request) {
				r.PassUnder(wire.Message{Op: wire.OpExecute, Body: execute(r.Version, theirs)}, p, r.Connection(), c.keep)
			}}
			m := &memory{answer: func(l *memoryLink, req wire.Message) (wire.Message, bool) {
				if !c.fails {
					return void, false
				}
				e := wire.Error{Code: wire.CodeUnprepared, ID: []byte(theirs), Message: "not found"}
				return wire.Message{Op: wire.OpError, Body: e.Append(nil, v)}, false
			}}
			d, addr := door(t, m, cqldoor.Options{Router: router})
			client := connect(t, addr, v)
			for n := range int32(3) { // the same stream again
				client.send(1, sent, 0, body)
				h, answer := client.next()
				if c.code == 0 {
					if h.Op != wire.OpResult {
						t.Errorf("v%d %s: %s", v, c.name, h.Op)
					}
				} else if e := asError(t, v, h, answer, c.code); c.fails && string(e.ID) != id {
					t.Errorf("v%d %s: of id %q", v, c.name, e.ID)
				}
				eventually(t, "it has ended", func() bool { return p.ended.Load() == n+1 && d.Stats().InFlight == 0 })
				if asked := p.asked.Load(); c.fails && asked > 0 || !c.fails && asked != n+1 {
					t.Errorf("v%d %s: asked %d times", v, c.name, asked)
				}
			}
		}
	}
}
