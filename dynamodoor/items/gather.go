// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/scatter"
)

// gather answers a Query over several shards by a request that reads all of them. Another request
// follows if a page of 1 MB lacks the size of the hidden attributes.
func (r *Runner) gather(ctx context.Context, f *plan.Fanout, use func(api.Response) error) error {
	ctx = shardKnown(ctx, f.Shards)
	result := f.Result()
	for after := f.Start; ; {
		q := f.Gather(result, after)
		if q == nil {
			return use(result.Answer())
		}
		err := r.Together.Gather(ctx, q, func(a *api.Gathered) (err error) {
			took(ctx, scatter.Stats{Rows: a.Read, Rounds: 1}, len(a.Items))
			if after, err = result.AddGathered(a); err != nil || after != nil {
				return err
			}
			return use(result.Answer())
		})
		if err != nil || after == nil {
			return err
		}
	}
}
