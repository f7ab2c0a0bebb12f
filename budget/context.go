// SPDX-License-Identifier: Apache-2.0

package budget

import "context"

type key struct{}

// WithClient returns a context for the requests of a client.
func WithClient(ctx context.Context, c *Client) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, c)
}

// requestContext is a context whose accounts all belong to one request.
type requestContext struct {
	context.Context
	request request
}

func (c *requestContext) Value(k any) any {
	if k == (key{}) {
		return &c.request
	}
	return c.Context.Value(k)
}

// WithRequest returns a context whose accounts all belong to one request of the context's client.
func WithRequest(ctx context.Context) context.Context {
	c, ok := ctx.Value(key{}).(*Client)
	if !ok {
		return ctx
	}
	return &requestContext{ctx, request{of: c.of, client: c}}
}

// Counts reports whether accounts of the context are counted.
func Counts(ctx context.Context) bool { return ctx.Value(key{}) != nil }

// Open opens an account of the context's request. If the context has no request, the account is a
// request of its own.
func Open(ctx context.Context) Account {
	switch v := ctx.Value(key{}).(type) {
	case *request:
		return Account{request: v}
	case *Client:
		return Account{request: &request{of: v.of, client: v}}
	}
	return Account{}
}
