// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// Permitted returns err, or the store's error if the client has no right to make the request at
// all.
func (r *Runner) Permitted(ctx context.Context, q api.Request, err error) error {
	if err == nil || !r.Tables.Shared() || principal.Of(ctx) == (principal.Principal{}) {
		return err
	}
	on, ok := q.(api.ItemRequest)
	if !ok {
		return err // the store gets the request anyway
	}
	refused := r.Backend.Answer(ctx, on.Instead(NoKey(), noIndex), func(api.Response) error { return nil })
	var e *exception.Error
	if errors.As(refused, &e) && (e.Kind == exception.Validation || e.Kind == exception.TransactionCanceled || e.Kind == exception.ResourceNotFound) {
		return err
	}
	if refused == nil {
		return err
	}
	return refused
}

// ToldOf returns err if the client may read the table, and the store's refusal otherwise.
func (r *Runner) ToldOf(ctx context.Context, name string, err error) error {
	return r.Permitted(ctx, &api.Scan{Read: api.Read{Table: name}}, err)
}

// noIndex is a name that no index has.
const noIndex = "evenkeel.none"

// NoKey returns a key that no item has.
func NoKey() attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: "evenkeel.none", Value: attribute.String("none")})
}
