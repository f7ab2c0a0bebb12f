// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
)

// TestACureHoldsNoLock prepares a statement again, and then executes it again, on a connection that
// each of these messages makes full. The connection tells its owner, which may send other requests
// at once, also on this connection. So the connection must not be locked meanwhile.
func TestACureHoldsNoLock(t *testing.T) {
	near, far := net.Pipe()
	var c *conn
	var told, locked atomic.Int32
	tr := transport.New(near, transport.Options{Unread: 1000, Paced: func() {
		told.Add(1)
		if !c.mu.TryLock() {
			locked.Add(1)
			return
		}
		c.mu.Unlock()
	}})
	defer tr.Close()
	prep := newPrepared(1 << 20)
	c = newConn(tr, wire.V5, &host{}, nil, prep)
	result := wire.Message{Op: wire.OpResult, Body: preparedAs(wire.V5, byKey)}
	id, said, _ := preparedResult(result)
	prep.put(id, statement{text: strings.Repeat(" ", 600), said: said})

	to := make(answers, 1)
	stream, _ := c.queue(wire.Message{Op: wire.OpExecute, Body: executeWith(byKey, wire.One, make([]byte, 600))}, to, 0)
	unprepared := (&wire.Error{Code: wire.CodeUnprepared, ID: id, Message: "not found"}).Append(nil, wire.V5)
	c.response(wire.Header{Op: wire.OpError, Stream: stream}, unprepared, nil)
	if n := told.Load(); n != 1 {
		t.Fatalf("the second PREPARE has made the connection full %d times", n)
	}
	go io.Copy(io.Discard, far)
	eventually(t, "the PREPARE is written", func() bool { return told.Load() == 2 && tr.Pending() == 0 })

	tr.Append(wire.Header{Version: wire.V5, Op: wire.OpOptions}, make([]byte, 600))
	c.mu.Lock()
	cures := 0
	for i := range c.slots {
		if u, ok := c.slots[i].to.(*cure); ok && cures == 0 {
			cures++
			c.mu.Unlock()
			u.Receive(0, result)
			c.mu.Lock()
		}
	}
	c.mu.Unlock()
	if n := told.Load(); cures != 1 || n != 3 {
		t.Fatalf("%d cures have made the connection full %d times", cures, n-2)
	}
	if n := locked.Load(); n > 0 {
		t.Errorf("%d times the connection was locked when it told its owner", n)
	}
}

// answers receives the opcodes of responses.
type answers chan wire.Op

func (a answers) Receive(_ uint32, resp wire.Message) { a <- resp.Op }
func (answers) Flush()                                {}

// TestRoomAfterACureThatFails lets one request use all room of a host. It is UNPREPARED, and the
// statement cannot be prepared again. The request that waits for its room is sent then.
func TestRoomAfterACureThatFails(t *testing.T) {
	s := newServer(t)
	var prepares atomic.Int32
	held := make(chan func(), 1)
	s.handle = func(ss *session, h wire.Header, body []byte) {
		switch {
		case h.Op == wire.OpPrepare && prepares.Add(1) == 1:
			ss.reply(h, wire.OpResult, preparedAs(h.Version, byKey))
		case h.Op == wire.OpPrepare:
			ss.fail(h, wire.Invalidf("the table is gone"))
		case h.Op == wire.OpExecute:
			held <- func() {
				ss.fail(h, &wire.Error{Code: wire.CodeUnprepared, ID: []byte(byKey), Message: "not found"})
			}
		default:
			ss.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
		}
	}
	l := open(t, connectTo(t, Options{ConnsPerHost: 1, InFlight: 1}, s), store.LinkOptions{})
	ask(t, l, wire.OpPrepare, wire.AppendPrepare(nil, wire.V5, &wire.Prepare{Text: []byte(byKey)}))
	got := make(answers, 2)
	l.Forward(t.Context(), wire.Message{Op: wire.OpExecute, Body: executeWith(byKey, wire.One, keyOf(1))}, got, 0)
	l.Flush()
	unprepared := <-held
	l.Forward(t.Context(), wire.Message{Op: wire.OpQuery, Body: query(wire.V5, "SELECT a")}, got, 0)
	l.Flush()
	unprepared()
	for i, want := range []wire.Op{wire.OpError, wire.OpResult} {
		select {
		case op := <-got:
			if op != want {
				t.Errorf("answer %d is %s", i, op)
			}
		case <-time.After(patience):
			t.Fatalf("%d requests are answered", i)
		}
	}
}

// TestRoomAfterARequestIsGivenUp lets one request use all room of a host that never answers it. When
// the door gives it up, the request that waits for its room is sent.
func TestRoomAfterARequestIsGivenUp(t *testing.T) {
	s := newServer(t)
	var came atomic.Int32
	s.handle = func(ss *session, h wire.Header, body []byte) {
		if came.Add(1) > 1 {
			ss.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
		}
	}
	cl := connectTo(t, Options{ConnsPerHost: 1, InFlight: 1, RequestTimeout: time.Second}, s)
	l := open(t, cl, store.LinkOptions{})
	got := make(answers, 2)
	for range 2 {
		l.Forward(t.Context(), wire.Message{Op: wire.OpQuery, Body: query(wire.V5, "SELECT a")}, got, 0)
		l.Flush()
	}
	eventually(t, "the first request has come", func() bool { return came.Load() == 1 })
	for range 2 {
		cl.beat()
	}
	eventually(t, "the request that waits is sent", func() bool { return came.Load() > 1 })
	if first, second := <-got, <-got; !(first == wire.OpError && second == wire.OpResult || first == wire.OpResult && second == wire.OpError) {
		t.Errorf("the requests are answered by %s and %s", first, second)
	}
}
