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
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// For a table of strategy time, the directory (catalog.BucketsTable) has the buckets of each
// logical partition. The door adds a bucket before it sends the bucket's first item, once for each
// bucket, and remembers it for a while (plan.Bucket.Period). If there can be other doors, reads ask the
// directory each time, because these add buckets too. A door that is alone remembers the last buckets of
// the partitions that it has read (recent). A read of only a few buckets does not need the directory.

// mostPartitions is the number of physical partitions at which a page of a Query ends, although it
// is not full. Each page reads at least two parts, so that it comes further than the one before.
const mostPartitions = 1000

// atOnce is the number of buckets of one shard that a store in this process reads in one request. It reads
// them one after the other, and stops when the page is full.
const atOnce = 12

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

// addBuckets adds buckets to the directory. If anew is set, it also adds those that this door has
// added before.
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
				r.recent.add(partition, number)
				r.added.Add(name)
			}
			return err
		})
	}
	return tables.DoorError(group.Wait())
}

// inTurn answers a Query that reads the shards of a rollover one after the other.
func (r *Runner) inTurn(ctx context.Context, f *plan.Fanout, use func(api.Response) error) error {
	p := r.newPage(ctx, f)
	defer p.memory.close()
	after := f.Start
	for i := range f.Shards {
		if answered, err := p.add(ctx, f.Shards[i:i+1], after, use); answered || err != nil {
			return err
		}
		after = nil // later shards have only later rows
	}
	return use(p.result.Answer())
}

// byBuckets answers a Query that reads buckets of time one after the other.
func (r *Runner) byBuckets(ctx context.Context, f *plan.Fanout, use func(api.Response) error) error {
	p := r.newPage(ctx, f)
	defer p.memory.close()
	all := f.Buckets()
	vain := &emptied{runner: r, query: all, partition: all.Partition()}
	defer vain.clean(ctx)
	var least func(read int) int
	switch {
	case r.Together != nil && f.Gathers() && f.InOrder:
		least = func(int) int { return atOnce }
	case f.Limited():
		least = func(read int) int {
			rows, bytes := p.result.Scanned()
			return timebucket.Expected(f.Page(rows, bytes), rows, read)
		}
	}
	after, last := f.Start, plan.Part{}
	parts, read := 0, 0
	for part, err := range all.Parts(r.buckets(ctx, p, vain), least) {
		if err != nil {
			return err
		}
		if read += len(part.Shards); parts > 1 && read > mostPartitions {
			return use(p.result.AnswerUntil(all.End(last)))
		}
		before, _ := p.result.Scanned()
		answered, err := p.add(ctx, part.Shards, after, use)
		if rows, _ := p.result.Scanned(); err == nil && rows == before {
			vain.add(part.Buckets)
		} else if err == nil {
			for _, i := range p.vain {
				vain.add(part.Buckets[i : i+1])
			}
		}
		if answered || err != nil {
			return err
		}
		after, last = nil, part // later buckets have only later rows
		parts++
	}
	return use(p.result.Answer())
}

// bySlices answers a Query on a table whose layout is being changed to or from buckets of time. resolve
// selects the rows to return.
func (r *Runner) bySlices(ctx context.Context, f *plan.Fanout, resolve func([]plan.Row) ([]plan.Row, error), use func(api.Response) error) error {
	p := r.newPage(ctx, f)
	defer p.memory.close()
	list := func(partition string, last int64) timebucket.Directory {
		return r.directory(ctx, partition, last, p.patience, func(int64, int64) {}, new(bool))
	}
	var last *plan.Slice
	after, parts, read := f.Start, 0, 0
	for s, err := range f.Slices(list) {
		if err != nil {
			return err
		}
		if read += len(s.Shards); parts > 1 && read > mostPartitions {
			return use(p.result.AnswerUntil(last.End()))
		}
		p.query = s.Query
		full, err := p.merge(ctx, s.Shards, after, resolve)
		if err != nil {
			return err
		}
		if full {
			break
		}
		after, last = nil, s // later slices have only later rows
		parts++
	}
	return use(p.result.Answer())
}

// buckets returns the directory for a page.
func (r *Runner) buckets(ctx context.Context, p *page, vain *emptied) timebucket.Directory {
	list := r.directory(ctx, vain.partition, vain.query.Last(), p.patience, vain.mark, &vain.known)
	return func(from, to int64, down bool, limit int) ([]int64, error) {
		vain.listed = true
		return list(from, to, down, limit)
	}
}

// directory returns the directory of a logical partition whose last possible bucket is last. It sets known
// if the last result was in memory, so that mark was not called.
func (r *Runner) directory(ctx context.Context, partition string, last int64, patience time.Time, mark func(bucket, at int64), known *bool) timebucket.Directory {
	alone := !r.Tables.Shared()
	return func(from, to int64, down bool, limit int) (buckets []int64, err error) {
		var began uint32
		if alone {
			some, ok, at := r.recent.list(partition, from, to, down, limit)
			if *known = ok; ok {
				return some, nil
			}
			began = at
		}
		err = backend.Retried(ctx, patience, func() error {
			buckets, err = r.Catalog.Buckets(ctx, partition, from, to, down, limit, mark)
			return err
		})
		if err == nil && alone {
			r.recent.keep(partition, from, to, down, limit, buckets, last, began)
		}
		return buckets, tables.DoorError(err)
	}
}

// add adds the rows of shards after a row. If that fills the page, it answers the Query.
func (p *page) add(ctx context.Context, shards []int, after *plan.Row, use func(api.Response) error) (answered bool, err error) {
	p.vain = nil
	if p.runner.Together == nil || !p.query.Gathers() {
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
