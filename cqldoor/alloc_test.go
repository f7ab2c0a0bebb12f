// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
	"github.com/evenkeel/evenkeel/observe"
)

// AllocsPerForward is the allocations that one request makes on its way through a
// connection, from its header on to the encoded response.
func AllocsPerForward(t *testing.T, v wire.Version, op wire.Op, body []byte) float64 {
	way := forwardWay(t, observe.Observer{Requests: observe.NewRequests(Operations)}, v, op, body, 1)
	return allocs.PerRun(1000, way)
}

// BenchmarkForward is the way of an EXECUTE through a connection, measured and not.
func BenchmarkForward(b *testing.B) {
	e := wire.Execute{ID: make([]byte, 16)}
	body := wire.AppendExecute(nil, wire.V4, &e)
	for name, o := range map[string]observe.Observer{"measured": {Requests: observe.NewRequests(Operations)}, "unmeasured": {}} {
		for _, together := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/%d together", name, together), func(b *testing.B) {
				way := forwardWay(b, o, wire.V4, wire.OpExecute, body, together)
				b.ReportAllocs()
				for b.Loop() {
					way()
				}
			})
		}
	}
}

// forwardWay returns what takes one request through a connection, of so many that came in
// one read and are answered in one write.
func forwardWay(t testing.TB, o observe.Observer, v wire.Version, op wire.Op, body []byte, together int) func() {
	nc, other := net.Pipe()
	t.Cleanup(func() { nc.Close(); other.Close() })
	go func() {
		buf := make([]byte, 1<<16)
		for {
			if _, err := other.Read(buf); err != nil {
				return
			}
		}
	}()
	d, err := New(t.Context(), Options{Store: noStore{}, Router: claimsNothing{}, Observe: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	c := newConn(d, nc)
	t.Cleanup(func() { c.t.Close() })
	c.ctx = t.Context()
	c.state, c.version = stateReady, v
	c.t.Established(v, wire.NoCompression)
	c.setLink(echo{}, "ks")
	h := wire.Header{Version: v, Op: op, Stream: 7, Length: int32(len(body))}
	n := 0
	return func() {
		if n%together == 0 && c.measure.on() {
			c.measure.answered.Store(0)
			c.measure.present.begun = observe.Now()
		}
		c.guarded(h, body)
		if n++; n%100 == 0 {
			c.Flush()
			c.t.WaitPending(0)
		}
	}
}

type claimsNothing struct{}

func (claimsNothing) Spreads(string) bool                 { return false }
func (claimsNothing) Standing() Standing                  { return firm{} }
func (claimsNothing) Claims(h syntax.Head, _ string) bool { return h.Name.Name == "nothing" }
func (claimsNothing) ClaimsID(id []byte) (bool, *observe.Series) {
	return bytes.HasPrefix(id, []byte("x")), nil
}
func (claimsNothing) Prepared([]byte, string, string) {}
func (claimsNothing) Serve(context.Context, *Request) {}
func (claimsNothing) Events(_, out [][]byte) [][]byte { return out }

// firm stands by every answer.
type firm struct{}

func (firm) Term() uint32                                       { return 7 }
func (firm) Stands(term uint32, _ *wire.Arrival) bool           { return term == 7 }
func (firm) Review(context.Context, uint32, wire.Message) error { panic("an answer does not stand") }

type noStore struct{ store.Store }

func (noStore) Open(context.Context, store.LinkOptions) (store.Link, error) { return echo{}, nil }

// echo is a link that answers at once.
type echo struct{}

var result = make([]byte, 100)

func (echo) Forward(_ context.Context, req wire.Message, to store.Receiver, tag uint32) {
	to.Receive(tag, wire.Message{Op: wire.OpResult, Body: result})
}

func (echo) Send(_ context.Context, _ wire.Message, reply func(wire.Message)) {
	reply(wire.Message{Op: wire.OpError})
}
func (echo) Flush() {}
func (echo) Close() {}

// Whatever bytes come, the connection ends or goes on; nothing else happens.
func FuzzConn(f *testing.F) {
	frame := func(v wire.Version, op wire.Op, body []byte) []byte {
		return wire.AppendFrame(nil, wire.Header{Version: v, Op: op, Stream: 1}, body)
	}
	hello := wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.0.0"})
	lz4 := wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.0.0", wire.OptionCompression: "lz4"})
	var q wire.Query
	q.Text = []byte("SELECT * FROM system.local WHERE key='local'")
	text := wire.AppendQuery(nil, wire.V4, &q)
	f.Add([]byte{})
	f.Add(frame(wire.V5, wire.OpOptions, nil))
	f.Add(append(frame(wire.V4, wire.OpStartup, hello), frame(wire.V4, wire.OpQuery, text)...))
	f.Add(append(frame(wire.V4, wire.OpStartup, lz4), frame(wire.V4, wire.OpPrepare, text)...))
	f.Add(append(frame(wire.V4, wire.OpStartup, hello), frame(wire.V4, wire.OpRegister, wire.AppendRegister(nil, []string{wire.EventSchema}))...))
	var e wire.Encoder
	e.Established(wire.V5, wire.NoCompression)
	e.Frame(wire.Header{Version: wire.V5, Op: wire.OpQuery, Stream: 3}, text)
	e.Frame(wire.Header{Version: wire.V5, Op: wire.OpBatch, Stream: 4}, []byte{0, 0, 1, 1, 0, 1, 'x', 0, 0})
	f.Add(append(frame(wire.V5, wire.OpStartup, hello), e.Take(nil)...))
	d, err := New(f.Context(), Options{Store: openStore{}, Router: claimsNothing{}, MaxFrame: 1 << 16})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		nc, other := net.Pipe()
		done := make(chan struct{})
		go func() {
			newConn(d, nc).serve()
			close(done)
		}()
		go func() {
			buf := make([]byte, 1<<16)
			for {
				if _, err := other.Read(buf); err != nil {
					return
				}
			}
		}()
		other.Write(b)
		other.Close()
		<-done
		if n := d.Stats().Panics; n > 0 {
			t.Fatalf("%d panics", n)
		}
	})
}

type openStore struct{ noStore }

func (openStore) Authenticator(context.Context) (string, error) { return "", nil }
