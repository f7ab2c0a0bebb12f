// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/requestid"
)

// Store is a store of plain tables.
type Store interface {
	// Has reports whether the store has an operation.
	Has(operation string) bool
	// Do carries out an operation whose request has this body, and appends the answer's body to
	// dst.
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)
	// Answer carries out a decoded request and passes the answer to use, which must not keep it.
	Answer(ctx context.Context, q api.Request, use func(api.Response) error) error
}

// Door sends requests with the door's own rights instead of those of the client.
type Door struct{ Store }

// Do implements Store.
func (s Door) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	return s.Store.Do(requestid.With(principal.With(ctx, principal.Principal{}), nil), operation, body, dst)
}

// Answer implements Store.
func (s Door) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	return s.Store.Answer(requestid.With(principal.With(ctx, principal.Principal{}), nil), q, use)
}

// Ignore ignores an answer.
func Ignore(api.Response) error { return nil }
