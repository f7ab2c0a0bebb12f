// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// Items expire, and their buckets of time stay in the directory. A Query that reads such a bucket in
// vain marks it there. When the mark is old, a later Query removes the bucket.
//
// A door remembers for a while that it has added a bucket, and does not add it again meanwhile. So a door
// removes a bucket only when its mark is older than this while and a margin. A door that writes an item
// later first adds the bucket again, which removes the mark. If its request takes very long, it adds the
// bucket once more after the store's answer (see announced).

// margin is added to the time for which doors remember buckets: clocks of doors may differ, and requests
// may take long.
const margin = 2 * time.Hour

// cleanedAtOnce is the largest number of buckets that a Query marks or removes.
const cleanedAtOnce = 16

// emptied are the buckets that a Query reads in vain.
type emptied struct {
	runner    *Runner
	query     plan.Buckets
	partition string
	listed    bool            // the buckets are those that the directory has
	known     bool            // they were not read for this Query, so that their marks are not known
	found     bool            // such a bucket
	marks     map[int64]int64 // the marks of buckets, in seconds since 1970
	buckets   []int64
}

// add notes buckets without items.
func (e *emptied) add(buckets []int64) {
	if !e.listed || e.query.SharesEntries() { // another key may have items there
		return
	}
	now := e.runner.Now()
	for _, b := range buckets {
		if len(e.buckets) == cleanedAtOnce || !e.query.Within(b) || !e.query.Late(b, now) {
			continue
		}
		e.found = true
		if e.known {
			continue
		}
		if at, marked := e.marks[b]; !marked || now.Sub(time.Unix(at, 0)) > e.query.Remembered()+margin {
			e.buckets = append(e.buckets, b)
		}
	}
}

// mark notes the mark of a bucket.
func (e *emptied) mark(bucket, at int64) {
	if e.marks == nil {
		e.marks = make(map[int64]int64)
	}
	e.marks[bucket] = at
}

// clean marks or removes the buckets, with the door's own rights. If that fails, a later Query tries
// again. The door reads the directory again for that Query, because the marks are there.
func (e *emptied) clean(ctx context.Context) {
	if e.found {
		e.runner.recent.forget(e.partition)
	}
	if len(e.buckets) == 0 {
		return
	}
	within, cancel := context.WithTimeout(principal.With(context.WithoutCancel(ctx), principal.Principal{}), counting)
	defer cancel()
	group, all := errgroup.WithContext(within)
	group.SetLimit(e.runner.Fanout)
	for _, b := range e.buckets {
		group.Go(func() error {
			at, marked := e.marks[b]
			if !marked {
				return e.runner.Catalog.MarkBucket(all, e.partition, b, e.runner.Now().Unix())
			}
			if has, err := e.anyOf(all, b); has || err != nil {
				return err
			}
			return e.runner.Catalog.RemoveBucket(all, e.partition, b, at)
		})
	}
	if err := group.Wait(); err != nil {
		e.runner.Log.Warn("dynamodb: the door cannot remove buckets of time without items from the directory yet; a later Query tries again", "error", err)
	}
}

// anyOf reports whether a bucket has items.
func (e *emptied) anyOf(ctx context.Context, bucket int64) (has bool, err error) {
	for _, q := range e.query.AnyOf(bucket) {
		err := e.runner.Backend.Answer(ctx, q, func(a api.Response) error {
			has = has || a.(*api.ItemsResponse).ScannedCount > 0
			return nil
		})
		if has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// announced adds buckets again, after the store's answer to a request that began long ago.
func (r *Runner) announced(ctx context.Context, q api.Request, buckets []plan.Bucket, began time.Time) error {
	if buckets == nil || r.Now().Sub(began) < margin/2 {
		return nil
	}
	return r.addBuckets(ctx, q, buckets, true)
}
