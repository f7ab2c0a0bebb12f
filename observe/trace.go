// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
)

// Tracer makes the spans of requests. Package observe/otlp implements it.
type Tracer interface {
	// Start begins the span of a client's request. traceparent describes the client's own span
	// (W3C Trace Context, §3.2); "" if there is none.
	Start(name, traceparent, tracestate string) Span
}

// Span is a client's request, or a request that the door sends for it. Its methods are safe for
// concurrent use.
type Span interface {
	// Child begins the span of a request to the store. shards are the shards that it visits, if
	// any.
	Child(name string, shards []int) Span

	// End ends the span. code is the code of the error that was the answer; "" for none.
	End(code string)
}

type shardsKey struct{}

// WithShards returns a context that says which shards a request to the store reads. It returns
// ctx itself if the request is not traced.
func WithShards(ctx context.Context, traced bool, shards []int) context.Context {
	if !traced {
		return ctx
	}
	return context.WithValue(ctx, shardsKey{}, slices.Clone(shards))
}

// Shards returns the shards of WithShards.
func Shards(ctx context.Context) []int {
	shards, _ := ctx.Value(shardsKey{}).([]int)
	return shards
}

// Observer receives what a door reports of its requests. Either field may be nil.
type Observer struct {
	Requests *Requests
	Tracer   Tracer
}
