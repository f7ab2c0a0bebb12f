// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// TestRequestsCountAsTheyArrive lets clients announce long requests and send a part of them. The
// door must read only as many as it has memory for. A client that waits in vain must get an error,
// and can go on.
func TestRequestsCountAsTheyArrive(t *testing.T) {
	const size, length = 64 << 20, 1 << 20
	b := budget.New(size, 50*time.Millisecond)
	_, addr := door(t, &memory{}, cqldoor.Options{Memory: b})
	held := func(n int64) func() bool { return func() bool { return b.Stats().Held == n } }
	text := make([]byte, length-7)
	for i := range text {
		text[i] = ' '
	}
	copy(text, "SELECT 1")
	whole := wire.AppendFrame(nil, wire.Header{Version: wire.V4, Op: wire.OpQuery, Stream: 7}, query(wire.V4, string(text)))
	each := 8 * int64(binary.BigEndian.Uint32(whole[5:]))

	first := connect(t, addr, wire.V4)
	if _, err := first.NetConn().Write(whole[:5000]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is announced is counted", held(each))
	if _, err := first.NetConn().Write(whole[5000:]); err != nil {
		t.Fatal(err)
	}
	if h, _ := first.next(); h.Op != wire.OpResult {
		t.Errorf("got %s", h.Op)
	}
	eventually(t, "nothing is held once it has been read", held(0))

	others := b.Client()
	others.Hold(size)
	hold := budget.Open(budget.WithClient(t.Context(), others))
	hold.Add(each)
	if _, err := first.NetConn().Write(whole); err != nil {
		t.Fatal(err)
	}
	h, body := first.next()
	asError(t, wire.V4, h, body, wire.CodeOverloaded)
	if h.Stream != 7 {
		t.Errorf("stream %d", h.Stream)
	}
	if h, _ := first.ask(wire.OpQuery, query(wire.V4, "SELECT 1")); h.Op != wire.OpResult {
		t.Errorf("then %s", h.Op)
	}
	hold.Close()
	others.Hold(-size)
	if _, err := first.NetConn().Write(whole[:5000]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is counted again", held(each))
	first.Close()
	eventually(t, "a client that goes holds nothing", held(0))
}
