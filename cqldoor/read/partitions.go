// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/scatter"
)

// reader reads the logical partitions of one bound statement for one client.
type reader struct {
	merger
	dir   plan.Directory
	hurry time.Time           // time after which a page ends before the next partition; zero: never
	shows *[]*request.Holding // collects the memory of pages whose rows are shown later; nil: the reader returns it at once
	only  *oneShard           // for a scan: the rows of a partition that the reader shows; nil: all
	total int                 // how many rows of all partitions the page will probably need; 0: all
}

// newReader returns a reader for a request of a client. If p and b are nil, the caller makes the fetches.
func (r *Reads) newReader(ctx context.Context, l store.Link, v wire.Version, params *wire.Params, p *plan.Select, b *analysis.BoundSelect) *reader {
	x := &reader{dir: r.Buckets.Directory(ctx)}
	x.fetcher = fetcher{ctx: ctx, reads: r, link: request.Forwarder(l), version: v, plan: p, bound: b, patience: time.Now().Add(r.RetryFor), memory: request.NewMemory(ctx)}
	if r.Timeout > 0 {
		x.hurry = r.Now().Add(r.Timeout / 2)
	}
	x.params = wire.Params{Consistency: params.Consistency}
	if p != nil && p.Quorum && rule.On(rule.QuorumInChange) {
		x.params.Consistency = AtLeastQuorum(params.Consistency)
	}
	if params.Has(wire.QuerySerialConsistency) {
		x.params.SetSerialConsistency(params.SerialConsistency)
	}
	if params.Has(wire.QueryNowInSeconds) {
		x.params.SetNowInSeconds(params.NowInSeconds)
	}
	x.params.SetSkipMetadata(true)
	return x
}

// Shards executes a physical read for a client, and returns the shards of its rows in any order. The
// read selects the shard column first.
func (r *Reads) Shards(ctx context.Context, req *cqldoor.Request, params *wire.Params, f plan.Fetch) (shards []int, err error) {
	x := r.newReader(ctx, req.Link, req.Version, params, nil, nil)
	err = x.drain(listed(placed(scatter.Unplaced, f)), func(cells [][]byte) error {
		shard, ok := shardValue(cells[0])
		if !ok {
			return fmt.Errorf("read: a read of shards brought a shard of %d bytes", len(cells[0]))
		}
		shards = append(shards, shard)
		return nil
	})
	return shards, err
}

// hurried reports whether a page should end soon. A page that takes too long is an error. If a statement
// names many partitions with few rows, the next page can begin where this one ends.
func (x *reader) hurried() bool { return !x.hurry.IsZero() && x.reads.Now().After(x.hurry) }
