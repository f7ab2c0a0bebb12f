// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// TestRequestsThatCameTogether has a client send many requests at once and read
// nothing, of a store that answers each on the spot: they wait with the client, not
// as responses in the door.
func TestRequestsThatCameTogether(t *testing.T) {
	const n, size = 200, 1 << 20
	answer := wire.Message{Op: wire.OpResult, Body: append(wire.AppendInt(nil, int32(wire.ResultVoid)), make([]byte, size)...)}
	m := &memory{answer: func(*memoryLink, wire.Message) (wire.Message, bool) { return answer, false }}
	_, addr := door(t, m, cqldoor.Options{MaxUnread: 2 << 20})
	c := connect(t, addr, wire.V4)
	for stream := range int16(n) {
		c.Append(wire.Header{Version: c.version, Op: wire.OpQuery, Stream: stream}, query(wire.V4, "SELECT * FROM t"))
	}
	c.Flush()
	eventually(t, "some are answered", func() bool { return len(m.requests()) > 2 })
	time.Sleep(200 * time.Millisecond)
	// What the sockets hold is the system's; it is some megabytes.
	if sent := len(m.requests()); sent > 30 {
		t.Errorf("%d requests of %d MiB each were carried out for a client that reads none", sent, size>>20)
	}
	for range n {
		if h, _ := c.next(); h.Op != wire.OpResult {
			t.Fatal(h.Op)
		}
	}
}
