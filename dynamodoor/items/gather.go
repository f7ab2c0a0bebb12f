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
	ctx = shardKnown(ctx, f.Shards)
	memory := newMemory(ctx)
	defer memory.close()
	result := f.Result()
	for after := f.Start; ; {
		q := f.Gather(result, after)
		if q == nil {
			return use(result.Answer())
		}
		bytes := 0
		err := r.Together.Gather(ctx, q, func(a *api.Gathered) (err error) {
			if bytes = result.DecodesGathered(a); !memory.try(bytes) {
				return errLater // other requests need the engine's memory and its lane
			}
			took(ctx, scatter.Stats{Rows: a.Read, Rounds: 1}, len(a.Items))
			if after, err = result.AddGathered(a); err != nil || after != nil {
				return err
			}
			return use(result.Answer())
		})
		if errors.Is(err, errLater) {
			if err := memory.decode(ctx, bytes); err != nil {
				return err
			}
			continue
		}
		if err != nil || after == nil {
			return err
		}
	}
}
