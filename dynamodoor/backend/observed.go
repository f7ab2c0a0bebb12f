// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/observe"
)

// Observed counts the requests to a store for the client's request in their context.
type Observed struct{ Store }

// Do implements Store.
func (o Observed) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	u := observe.Of(ctx)
	done := u.Asks(operation, nil)
	out, err := o.Store.Do(ctx, operation, body, dst)
	if done(codeOf(err)); err != nil {
		u.Fails(err)
	}
	return out, err
}

// Answer implements Store.
func (o Observed) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	u := observe.Of(ctx)
	done := u.Asks(q.Operation(), observe.Shards(ctx))
	err := o.Store.Answer(ctx, q, use)
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
