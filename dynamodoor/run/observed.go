// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/scatter"
)

// observed counts what is asked of a backend, for the request that the context tells of.
type observed struct{ Backend }

// Do implements Backend.
func (o observed) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	u := observe.Of(ctx)
	done := u.Asks(operation, nil)
	out, err := o.Backend.Do(ctx, operation, body, dst)
	if done(codeOf(err)); err != nil {
		u.Fails(err)
	}
	return out, err
}

// Answer implements Backend.
func (o observed) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	u := observe.Of(ctx)
	done := u.Asks(q.Operation(), observe.Shards(ctx))
	err := o.Backend.Answer(ctx, q, use)
	if done(codeOf(err)); err != nil {
		u.Fails(err)
	}
	return err
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return exception.Of(err).Kind.Name()
}

// took counts what a page of several shards took, and how many rows it has.
func took(ctx context.Context, s scatter.Stats, rows int) {
	if u := observe.Of(ctx); u != nil {
		u.Fan.Reads.Store(true)
		u.Fan.Rounds.Add(int64(s.Rounds))
		u.Fan.Read.Add(int64(s.Rows))
		u.Fan.Returned.Add(int64(rows))
	}
}

// shardKnown returns a context that tells the span of a request which shard it reads.
func shardKnown(ctx context.Context, shards []int) context.Context {
	u := observe.Of(ctx)
	return observe.WithShards(ctx, u != nil && u.Span != nil, shards)
}
