// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// searches is the number of times that the door searches again for an item that has left its place.
const searches = 4

// search carries out a request on items that may be in any shard.
func (r *Runner) search(ctx context.Context, s *plan.Search, q api.Request, by *uses, use func(api.Response) error) error {
	if err := r.find(ctx, s); err != nil {
		return err
	}
	for range searches {
		p, err := s.Plan()
		if err != nil {
			return r.Permitted(ctx, q, err)
		}
		err = r.carryOut(ctx, p, q, func(a api.Response) error {
			s.Answer(a)
			return use(a)
		})
		if !s.Guarded() || !exception.Is(err, exception.ConditionalCheckFailed) {
			return err
		}
		// Either the client's condition does not hold, or the item has left its place.
		again, e := r.plan(ctx, q, by)
		if e != nil {
			return e
		}
		next, ok := again.(*plan.Search)
		if !ok {
			return err // the table no longer has such items
		}
		if e := r.find(ctx, next); e != nil {
			return e
		}
		if next.Same(s) {
			return err
		}
		s = next
	}
	return exception.New(exception.ServiceUnavailable, "the item is deleted and made again all the time; try again")
}

// find searches for the items.
func (r *Runner) find(ctx context.Context, s *plan.Search) error {
	until := time.Now().Add(r.RetryFor)
	var group *errgroup.Group
	group, ctx = errgroup.WithContext(ctx)
	group.SetLimit(r.Fanout)
	var mu sync.Mutex // serializes the answers
	for get := range s.Gets() {
		if ctx.Err() != nil {
			break // a request has failed
		}
		group.Go(func() error {
			return backend.Retried(ctx, until, func() error {
				err := r.Backend.Answer(ctx, get, func(a api.Response) error {
					mu.Lock()
					defer mu.Unlock()
					rest, err := s.Found(get, a.(*api.BatchGetResponse))
					get = rest
					return err
				})
				if err != nil || get == nil {
					return err
				}
				return exception.New(exception.ProvisionedThroughputExceeded, "%d shards of an item could not be read", len(get.Tables[0].Keys))
			})
		})
	}
	return group.Wait()
}
