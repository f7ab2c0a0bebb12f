// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// longMessage is the length up to which a request is not counted. Short requests are bounded by
// the number of connections and of requests in flight.
const longMessage = 64 << 10

// decoded is the factor by which a long request counts: it is copied, and binding a list of many
// short values takes six times its bytes.
const decoded = 8

// expect waits, before a request is read, until there is room for its length. The connection
// holds the room until the next request is read. The client's next requests wait meanwhile.
// expect reports whether there was room.
func (c *conn) expect(length int) bool {
	c.arriving.Close()
	if c.memory == nil || length <= longMessage {
		return true
	}
	c.arriving = budget.Open(c.ctx)
	return c.arriving.Take(c.ctx, decoded*int64(length)) == nil
}

// expectParse waits until there is memory to parse the text of a long request. conn calls it before
// the router parses the text.
func (c *conn) expectParse(text int) *wire.Error {
	more := int64(syntax.Parsed-decoded) * int64(text)
	if text <= longMessage || c.arriving.Try(more) {
		return nil
	}
	c.fwd.Flush() // requests that came before do not wait
	c.t.Flush()
	if c.arriving.Take(c.ctx, more) != nil {
		c.d.counts.overloaded.Add(1)
		return errNoRoom
	}
	return nil
}

// passedOver answers a request for which there was no room.
func (c *conn) passedOver(h wire.Header) {
	c.d.counts.overloaded.Add(1)
	c.replyError(h.Stream, errNoRoom)
}

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "evenkeel: %v", budget.ErrNoRoom)
