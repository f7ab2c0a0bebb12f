// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"context"
	"sync"
)

// Client is a sender of requests, such as a connection. It has its own flow in each lane. The
// zero value is ready. It is safe for concurrent use.
type Client struct {
	mu    sync.Mutex
	flows map[*Lane]*Flow
}

// key is a Client's in contexts.
type key struct{}

// With returns the context of a client's requests.
func With(ctx context.Context, c *Client) context.Context { return context.WithValue(ctx, key{}, c) }

// FlowOf returns the flow, in a lane, of the context's client. A request without a known client
// gets a flow of its own.
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
