// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Items that a request decodes are counted against the budget of its context, if that has one (see
// package budget). A decoded item can take a hundred times its stored bytes. A request that finds no
// room gives up its locks and its place in a lane, waits, and begins again. It has changed nothing
// until then.

const (
	// shortDecoded is the number of bytes of decoded items up to which a request does not count.
	shortDecoded = 64 << 10

	// perValue is about how many bytes each value of an item takes: decoded, copied by an update,
	// and encoded again. A list of strings of one character took 900 for each, most of them for a
	// short time.
	perValue = 160

	// keptTimes is how many times an item that is read counts: the answer's body is another copy, and
	// is copied while it grows.
	keptTimes = 3

	// keptStep is the number of bytes in whose multiples the items that are read are counted.
	keptStep = 256 << 10
)

// errLater says that the request waits for memory, and then begins again.
var errLater = errors.New("items: the request waits for memory")

// room makes room for an item that is about to be decoded, or returns errLater.
func (c *Call) room(item attribute.Encoded) error {
	if !c.memory.On() {
		return nil
	}
	c.wanted += int64(len(item)) + perValue*int64(bytes.Count(item, []byte{'{'}))
	return c.reserve(c.wanted + c.keeps())
}

// roomToKeep makes room for so many bytes of an item that the call is about to keep, or returns
// errLater.
func (c *Call) roomToKeep(bytes int) error {
	if !c.memory.On() {
		return nil
	}
	c.kept += keptTimes * int64(bytes)
	return c.reserve(c.wanted + c.keeps())
}

// keeps returns the bytes that count for the items that the call keeps.
func (c *Call) keeps() int64 { return c.kept / keptStep * keptStep }

// reserve makes the call hold at least so many bytes, or returns errLater.
func (c *Call) reserve(bytes int64) error {
	if more := bytes - c.memory.Bytes(); bytes > shortDecoded && more > 0 && !c.memory.Try(more) {
		c.lacking = bytes
		return errLater
	}
	return nil
}

// dropDecoded ends the use of the items that the call has decoded.
func (c *Call) dropDecoded() {
	c.stored.Reset()
	c.wanted = 0
}

// whenThereIsRoom executes a request. If the request finds no memory, it waits and begins again.
func whenThereIsRoom[R any](ctx context.Context, s *Store, c *Call, execute func() (R, error)) (r R, err error) {
	if s.options.Capacity == nil { // DynamoDB's limits bound the work; a request that began again would be charged twice
		c.memory.Close()
		c.memory = budget.Open(ctx)
		defer func() { c.memory.Shrink(c.keeps()) }()
	}
	for {
		c.wanted, c.kept = 0, 0
		if r, err = execute(); !errors.Is(err, errLater) {
			return r, err
		}
		// The request asks for twice what it holds, so that it begins again a few times only, however
		// many items it decodes.
		more := max(c.lacking, 2*c.memory.Bytes()) - c.memory.Bytes()
		c.beginAgain()
		if err := c.memory.Take(ctx, more); errors.Is(err, budget.ErrNoRoom) {
			return r, exception.New(exception.ServiceUnavailable, "%s", err)
		} else if err != nil {
			return r, err
		}
	}
}

// beginAgain drops what the call has of an answer.
func (c *Call) beginAgain() {
	c.stored.Reset()
	c.arena = nil
	c.item = api.ItemResponse{}
	clear(c.changes)
	clear(c.charges)
	c.changes, c.charges = c.changes[:0], c.charges[:0]
}
