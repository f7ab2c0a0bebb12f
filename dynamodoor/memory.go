// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// What requests hold is taken from the door's budget: long bodies once they turn out to
// be long, and what a read can return before it begins. So who sends slowly, or does not
// take what was asked for, keeps memory from nobody but those who wait for it, and for no
// longer than their patience. Short bodies are bounded by the connections.

// shortBytes is how long a body is at most that is not counted.
const shortBytes = 64 << 10

// decoded is how many times a body's bytes count: what it is decoded to takes several
// times as much, of a list of numbers six times.
const decoded = 4

// onlyReads tells whether an operation has a long answer and changes nothing. Where there is no
// room for the answer of one, from a store without DynamoDB's limits, the request is refused.
func onlyReads(operation string) bool {
	o := api.OperationOf(operation)
	return o.Returns > 0 && !o.Writes
}

var errNoRoom = exception.New(exception.ServiceUnavailable, "%s", budget.ErrNoRoom)

// request returns the context of one request, whose accounts are the request's.
func (d *Door) request(ctx context.Context) context.Context {
	if !budget.Counts(ctx) { // it came without a connection
		ctx = budget.WithClient(ctx, d.others)
	}
	return budget.WithRequest(ctx)
}

// take has an account hold at least so many bytes. It waits for room.
func take(ctx context.Context, h *budget.Account, bytes int64) error {
	if more := bytes - h.Bytes(); more > 0 {
		err := h.Take(ctx, more)
		if errors.Is(err, budget.ErrNoRoom) {
			return errNoRoom
		}
		return err
	}
	return nil
}
