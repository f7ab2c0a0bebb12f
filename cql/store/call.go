// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Call sends a request and waits for its response. It returns the body of a RESULT without its
// prefix, which the caller owns, or the error.
func Call(ctx context.Context, l Link, v wire.Version, req wire.Message) ([]byte, error) {
	type answer struct {
		body []byte
		err  error
	}
	done := make(chan answer, 1)
	l.Send(ctx, req, func(resp wire.Message) {
		body, err := wire.ResultBody(v, resp)
		done <- answer{append([]byte(nil), body...), err}
	})
	select {
	case a := <-done:
		return a.body, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
