// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
)

const (
	tellEvery = 2 * time.Second // interval at which the progress of reading a whole table is logged
	Patience  = time.Hour       // time for which a store may throttle that
)

// EachItem visits the items of a table, several at a time, with the rights of the client in the
// context. It logs doing and the number of visited items at intervals. It returns the number of
// items.
func (r *Runner) EachItem(ctx context.Context, table, doing string, scan func(segment, segments int) *api.Scan, visit func(context.Context, attribute.Item) error) (int64, error) {
	var count atomic.Int64
	done := make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.Log.Info("dynamodb: "+doing, "table", table, "items", count.Load())
			case <-done:
				return
			}
		}
	}()
	group, all := errgroup.WithContext(ctx)
	for segment := range r.Fanout {
		group.Go(func() error { return r.eachOf(all, scan(segment, r.Fanout), &count, visit) })
	}
	err := group.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("the client has gone after %d items of table %s; give it a longer timeout: %w", count.Load(), table, err)
	}
	return count.Load(), err
}

func (r *Runner) eachOf(ctx context.Context, q *api.Scan, count *atomic.Int64, visit func(context.Context, attribute.Item) error) error {
	for {
		var d attribute.Decoder
		var page []attribute.Item
		var last attribute.Item
		err := backend.Retried(ctx, time.Now().Add(Patience), func() error {
			return r.Backend.Answer(ctx, q, func(a api.Response) error {
				own, err := Own(a.(*api.ItemsResponse))
				if err != nil {
					return err
				}
				page, last = page[:0], own.LastKey
				for _, text := range own.Items {
					item, err := d.Item(text)
					if err != nil {
						return err
					}
					page = append(page, item)
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		for _, item := range page {
			if err := visit(ctx, item); err != nil {
				return err
			}
			count.Add(1)
		}
		if last == nil {
			return nil
		}
		next := *q
		next.Start = last
		q = &next
	}
}
