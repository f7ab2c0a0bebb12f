// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// errLater says that the request waits for memory, and then reads again.
var errLater = errors.New("items: the request waits for memory")

// gather answers a Query over several shards by a request that reads all of them. Another request
// follows if a page of 1 MB lacks the size of the hidden attributes.
func (r *Runner) gather(ctx context.Context, f *plan.Fanout, use func(api.Response) error) error {
	p := r.newPage(ctx, f)
	defer p.memory.close()
	answered := false
	err := p.gather(ctx, f.Shards, f.Start, func() error {
		answered = true
		return use(p.result.Answer())
	})
	if err != nil || answered {
		return err
	}
	return use(p.result.Answer())
}

// gather adds the rows of shards after a row, as far as the page takes them. It calls end while it
// has the memory of the last answer, unless no request is needed.
func (p *page) gather(ctx context.Context, shards []int, after *plan.Row, end func() error) error {
	ctx = shardKnown(ctx, shards)
	for begin := after; ; {
		q := p.query.Gather(p.result, shards, after)
		if q == nil {
			return nil
		}
		bytes := 0
		err := p.runner.Together.Gather(ctx, q, func(a *api.Gathered) (err error) {
			if bytes = p.result.DecodesGathered(a); !p.memory.try(bytes) {
				return errLater // other requests need the engine's memory and its lane
			}
			if after == begin {
				p.vain = a.Vain
			}
			took(ctx, scatter.Stats{Rows: a.Read, Rounds: 1}, len(a.Items))
			if after, err = p.result.AddGathered(a); err != nil || after != nil {
				return err
			}
			return end()
		})
		if errors.Is(err, errLater) {
			if err := p.memory.decode(ctx, bytes); err != nil {
				return err
			}
			continue
		}
		if err != nil || after == nil {
			return err
		}
	}
}
