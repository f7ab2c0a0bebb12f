// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"

	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/observe"
)

// fan returns the counters of a reader's requests to the store, or nil if nobody counts them.
func (x *fetcher) fan() *observe.Fan {
	if e, ok := x.link.(*request.Coordinator); ok {
		return &e.Fan
	}
	return nil
}

// shardsKnown returns the reader's context. If the client's request is traced, the context says which
// shards a read asks.
func (x *fetcher) shardsKnown(shards []int) context.Context {
	e, ok := x.link.(*request.Coordinator)
	return observe.WithShards(x.ctx, ok && e.Span != nil, shards)
}
