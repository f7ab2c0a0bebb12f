// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/observe"
)

// Gatherer is a Store in the door's process that may read several partitions in one request.
type Gatherer interface {
	// Gathers reports whether the store answers a Gather.
	Gathers() bool
	// Gather carries out the request and passes the answer to use, which may change it but must
	// not keep it.
	Gather(ctx context.Context, q *api.Gather, use func(*api.Gathered) error) error
}

// GathererOf returns a store as a Gatherer whose requests are counted as Observed counts them. It
// returns nil if the store answers no Gather.
func GathererOf(s Store) Gatherer {
	if g, ok := s.(Gatherer); ok && g.Gathers() {
		return observedGatherer{g}
	}
	return nil
}

type observedGatherer struct{ Gatherer }

// Gather implements Gatherer.
func (o observedGatherer) Gather(ctx context.Context, q *api.Gather, use func(*api.Gathered) error) error {
	u := observe.Of(ctx)
	done := u.Asks(q.Query.Operation(), observe.Shards(ctx))
	err := o.Gatherer.Gather(ctx, q, use)
	if done(codeOf(err)); err != nil {
		u.Fails(err)
	}
	return err
}
