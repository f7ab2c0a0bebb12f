// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// For a table of strategy time, the directory (catalog.BucketsTable) has the buckets of each
// logical partition. The door adds a bucket before it sends the bucket's first item, once for each
// bucket, and remembers it for a while (plan.Bucket.Period). Reads ask the directory each time, because other doors add buckets too.
// A read of only a few buckets does not need the directory.

// mostPartitions is the number of physical partitions at which a page of a Query ends, although it
// is not full. Each page reads at least two parts, so that it comes further than the one before.
const mostPartitions = 1000

// errPermitted stands for an error that a client with the right to make a request would get.
var errPermitted = errors.New("items: the client may make the request")

// announce adds buckets to the directory, as far as this door has not added them. q is the client's
// request.
func (r *Runner) announce(ctx context.Context, q api.Request, buckets []plan.Bucket) error {
	if buckets == nil {
		return nil
	}
	return r.addBuckets(ctx, q, buckets, false)
}

// addBuckets adds buckets to the directory. anew says to add also those that this door has added.
func (r *Runner) addBuckets(ctx context.Context, q api.Request, buckets []plan.Bucket, anew bool) error {
	var missing [][]byte
	var scratch [256]byte
	now := r.Now()
	for i := range buckets {
		name := binary.BigEndian.AppendUint64(scratch[:0], uint64(buckets[i].Number()))
		name = binary.BigEndian.AppendUint64(name, uint64(buckets[i].Period(now)))
		name = buckets[i].AppendPartition(name)
		if r.added.Has(name) && !anew || slices.ContainsFunc(missing, func(m []byte) bool { return string(m) == string(name) }) {
			continue
		}
		missing = append(missing, slices.Clone(name))
	}
	if missing == nil {
		return nil
	}
	// The door adds buckets with its own rights, so the client's rights are checked first.
	if err := r.Permitted(ctx, q, errPermitted); err != errPermitted {
		return err
	}
	until := time.Now().Add(r.RetryFor)
	group, all := errgroup.WithContext(ctx)
	group.SetLimit(r.Fanout)
	for _, name := range missing {
		group.Go(func() error {
			number, partition := int64(binary.BigEndian.Uint64(name)), string(name[16:])
			err := backend.Retried(all, until, func() error { return r.Catalog.AddBucket(all, partition, number) })
			if err == nil {
				r.added.Add(name)
			}
			return err
		})
	}
	return tables.DoorError(group.Wait())
}

// byTime answers a Query that reads buckets of time, or the shards of a rollover, one after the other.
func (r *Runner) byTime(ctx context.Context, f *plan.Fanout, use func(api.Response) error) error {
	p := r.newPage(ctx, f)
	defer p.memory.close()
	partition := f.Partition()
	vain := &emptied{runner: r, fanout: f, partition: partition}
	defer vain.clean(ctx)
	list := func(from, to int64, down bool, limit int) (buckets []int64, err error) {
		err = backend.Retried(ctx, p.patience, func() error {
			buckets, err = r.Catalog.Buckets(ctx, partition, from, to, down, limit, vain.mark)
			return err
		})
		vain.listed = true
		return buckets, tables.DoorError(err)
	}
	after, last := f.Start, plan.Part{}
	parts, read := 0, 0
	for part, err := range f.Parts(list) {
		if err != nil {
			return err
		}
		if read += len(part.Shards); parts > 1 && read > mostPartitions && last.Ends {
			return use(p.result.AnswerAfter(last))
		}
		before, _ := p.result.Scanned()
		if answered, err := p.add(ctx, part.Shards, after, use); answered || err != nil {
			return err
		}
		if rows, _ := p.result.Scanned(); rows == before {
			vain.add(part)
		}
		after, last = nil, part // later buckets have only later rows
		parts++
	}
	return use(p.result.Answer())
}

// add adds the rows of shards after a row. If that fills the page, it answers the Query.
func (p *page) add(ctx context.Context, shards []int, after *plan.Row, use func(api.Response) error) (answered bool, err error) {
	if p.runner.Together == nil || !p.fanout.Gathers() {
		if answered, err = p.merge(ctx, shards, after, nil); answered && err == nil {
			err = use(p.result.Answer())
		}
		return answered, err
	}
	err = p.gather(ctx, shards, after, func() error {
		if !p.result.Full() {
			p.result.Own() // the next part comes in another answer
			return nil
		}
		answered = true
		return use(p.result.Answer())
	})
	return answered, err
}
