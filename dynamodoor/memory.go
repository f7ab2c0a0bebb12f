// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"bytes"
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// The door's budget covers what requests hold: long bodies, once they turn out to be long, and,
// before a read begins, what it can return. A client that sends slowly, or does not take its
// answer, thus keeps memory only from requests that wait for it, and no longer than their patience.
// The number of connections limits short bodies.

// shortBytes is the largest length of a body that is not counted.
const shortBytes = 64 << 10

const (
	// decoded is the factor with which a body's bytes count: the body, the item that is written, and
	// the copies of both.
	decoded = 4

	// perComma is how many bytes count besides for each comma of a body, because the values of lists
	// and sets are separated by commas. A decoded value takes 16 to 32 bytes, twice as much while its
	// list grows, and a number's digits 16.
	perComma = 80
)

// decodes returns how many bytes count for a body.
func decodes(body []byte) int64 {
	return decoded*int64(len(body)) + perComma*int64(bytes.Count(body, []byte{','}))
}

// onlyReads reports whether an operation has a long answer and changes nothing. If the store does
// not have DynamoDB's limits and there is no room for the answer, the door refuses the request.
func onlyReads(o *api.Operation) bool {
	return o.Returns > 0 && !o.Writes
}

var errNoRoom = exception.New(exception.ServiceUnavailable, "%s", budget.ErrNoRoom)

// request returns the context of one request, whose accounts belong to the request.
func (d *Door) request(ctx context.Context) context.Context {
	if !budget.Counts(ctx) { // the request came without a connection
		ctx = budget.WithClient(ctx, d.others)
	}
	return budget.WithRequest(ctx)
}

// take makes an account hold at least a number of bytes. It waits for room.
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
