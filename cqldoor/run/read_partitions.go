// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// reader reads the logical partitions of one bound statement for one client.
type reader struct {
	merger
	dir   plan.Directory
	hurry time.Time   // time after which a page ends before the next partition; zero: never
	shows *[]*holding // collects the memory of pages whose rows are shown later; nil: it is returned at once
	only  *oneShard   // for a scan: only these rows of a partition are shown; nil: all
	total int         // how many rows of all partitions will probably be wanted; 0: all
}

// newReader returns a reader for a request of a client. p and b may be nil: then the caller names the fetches.
func (r *reads) newReader(ctx context.Context, l store.Link, v wire.Version, params *wire.Params, p *plan.Select, b *analysis.BoundSelect) *reader {
	x := &reader{dir: r.buckets.directory(ctx)}
	x.fetcher = fetcher{ctx: ctx, reads: r, link: forwarder(l), version: v, plan: p, bound: b, patience: time.Now().Add(r.retryFor), memory: newMemory(ctx)}
	if r.timeout > 0 {
		x.hurry = r.now().Add(r.timeout / 2)
	}
	x.params = wire.Params{Consistency: params.Consistency}
	if p != nil && p.Quorum && rule.On(rule.QuorumInChange) {
		x.params.Consistency = quorum(params.Consistency)
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
