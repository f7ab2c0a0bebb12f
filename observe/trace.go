// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"
)

// Tracer makes the spans of requests. The one that is used is in observe/otlp.
type Tracer interface {
	// Start begins the span of a client's request. traceparent is what the client says of
	// its own span (W3C Trace Context, §3.2); empty where it says nothing.
	Start(name, traceparent, tracestate string) Span
}

// Span is one request of a client, or one that the door sends for it. Its methods may be
// called from several goroutines.
type Span interface {
	// Child begins the span of a request to the store, of these shards, if it is of any.
	Child(name string, shards []int) Span

	// End ends it. code is that of the error that it was answered with, empty for none.
	End(code string)
}

type shardsKey struct{}

// WithShards returns a context that says which shards a request to the store reads. It is
// ctx itself where no span is to be told.
func WithShards(ctx context.Context, traced bool, shards []int) context.Context {
	if !traced {
		return ctx
	}
	return context.WithValue(ctx, shardsKey{}, slices.Clone(shards))
}

// Shards are those of WithShards.
func Shards(ctx context.Context) []int {
	shards, _ := ctx.Value(shardsKey{}).([]int)
	return shards
}

// Observer is what a door is given to tell of its requests. Either may be nil.
type Observer struct {
	Requests *Requests
	Tracer   Tracer
}
