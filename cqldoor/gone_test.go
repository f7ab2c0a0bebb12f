// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// TestRequestsOfClientsThatHaveGone lets a client send requests and disconnect. The door must
// report that to the store and the router. The router must not begin any more of the requests, and
// the door must count those on which the store still works.
func TestRequestsOfClientsThatHaveGone(t *testing.T) {
	const running, asked = 64, 100
	var begun, ended atomic.Int32
	p := &picky{serve: func(_ context.Context, r *cqldoor.Request) {
		r.Go(func(ctx context.Context) {
			begun.Add(1)
			<-ctx.Done()
			ended.Add(1)
			r.Error(ctx.Err())
		})
	}}
	m := &memory{answer: hold}
	d, addr := door(t, m, cqldoor.Options{Router: p})
	c := connect(t, addr, wire.V4)
	c.send(0, wire.OpQuery, 0, query(wire.V4, "SELECT * FROM theirs"))
	for i := range int16(asked) {
		c.send(1+i, wire.OpQuery, 0, query(wire.V4, "SELECT * FROM mine"))
	}
	eventually(t, "as many have begun as may", func() bool { return begun.Load() == running && d.Stats().InFlight == asked+1 })
	if m.asked[0].Err() != nil {
		t.Error("the store is told that nobody waits while the client is there")
	}
	c.Close()
	<-m.asked[0].Done()
	eventually(t, "the store alone is at work", func() bool { return d.Stats().InFlight == 1 })
	if begun.Load() != running || ended.Load() != running {
		t.Errorf("%d of the router's requests have begun and %d ended, of %d at a time", begun.Load(), ended.Load(), running)
	}
	if s := d.Stats(); s.Connections != 0 {
		t.Errorf("%d connections", s.Connections)
	}
	m.release(void)
	if s := d.Stats(); s.InFlight != 0 {
		t.Errorf("%d requests in flight after the last answer", s.InFlight)
	}
}

// TestRequestsThatHaveEnded asks the store for more than a request waits for: the
// store is told when the request has ended.
func TestRequestsThatHaveEnded(t *testing.T) {
	p := &picky{serve: func(_ context.Context, r *cqldoor.Request) {
		link := r.Link
		r.Go(func(ctx context.Context) {
			link.Send(ctx, wire.Message{Op: wire.OpQuery, Body: query(wire.V4, "SELECT 1")}, func(wire.Message) {})
			r.Reply(void)
		})
	}}
	m := &memory{answer: hold}
	d, addr := door(t, m, cqldoor.Options{Router: p})
	c := connect(t, addr, wire.V4)
	c.ask(wire.OpQuery, query(wire.V4, "SELECT * FROM mine"))
	<-m.asked[0].Done()
	if s := d.Stats(); s.Connections != 1 {
		t.Errorf("%d connections", s.Connections)
	}
	m.release(void)
}
