// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"context"
	"sync"
)

// Client is who sends requests, such as a connection: it has a flow of its own in each
// lane that they come to. The zero value is ready. It is safe for concurrent use.
type Client struct {
	mu    sync.Mutex
	flows map[*Lane]*Flow
}

// key is a Client's in contexts.
type key struct{}

// With returns the context of a client's requests.
func With(ctx context.Context, c *Client) context.Context { return context.WithValue(ctx, key{}, c) }

// FlowOf returns the flow, in a lane, of the client whose request it is. A request of
// nobody known is a client of its own.
func (l *Lane) FlowOf(ctx context.Context) *Flow {
	c, _ := ctx.Value(key{}).(*Client)
	if c == nil {
		return new(Flow)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.flows[l]
	if f == nil {
		if c.flows == nil {
			c.flows = make(map[*Lane]*Flow)
		}
		f = new(Flow)
		c.flows[l] = f
	}
	return f
}
