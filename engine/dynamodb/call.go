// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/dynamodb/stream"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// Call is the memory of one request and its answer. It is for one goroutine.
type Call struct {
	// Decoder is for the request.
	Decoder api.Decoder

	stored attribute.Decoder // of items that are read
	arena  []byte            // what they are decoded from, and what the answer shares
	key    []byte
	value  []byte
	held   held
	item   api.ItemResponse
	gather gatherer

	changes []stream.Change // of items, for streams
	service bool            // the service itself writes, not a client
	charges []charge        // costs of writes, if there are limits

	memory  budget.Account
	wanted  int64 // bytes of decoded items, as the budget counts them
	kept    int64 // bytes of the items that a page keeps, as the budget counts them
	lacking int64 // what the call needed when there was no room
}

var calls = sync.Pool{New: func() any { return new(Call) }}

// NewCall returns memory for a request.
func NewCall() *Call { return calls.Get().(*Call) }

// keptBytes is the largest amount of memory that a call keeps for the next request.
const keptBytes = 256 << 10

// Release returns the memory for reuse. The request and its answer must not be used any more.
func (c *Call) Release() {
	c.memory.Close()
	if cap(c.arena)+cap(c.value)+c.gather.size() > keptBytes {
		return
	}
	c.gather.forget()
	c.Decoder.Release()
	c.stored.Release()
	c.arena = c.arena[:0]
	c.item = api.ItemResponse{}
	clear(c.changes)
	c.changes, c.service = c.changes[:0], false
	clear(c.charges)
	c.charges = c.charges[:0]
	calls.Put(c)
}

// keep copies p into the call's memory. What does not fit gets new memory; earlier copies stay where
// they are.
func (c *Call) keep(p []byte) []byte {
	if cap(c.arena)-len(c.arena) < len(p) {
		c.arena = make([]byte, 0, max(len(p), min(2*cap(c.arena), keptBytes/2), 1<<10))
	}
	n := len(c.arena)
	c.arena = append(c.arena, p...)
	return c.arena[n:len(c.arena):len(c.arena)]
}

// Has reports whether the store has an operation. Layers in front of the store implement PartiQL
// and Reshard with the other operations.
func (s *Store) Has(operation string) bool {
	o := api.OperationOf(operation)
	return o.New != nil && o.About != api.Statements && o.About != api.Layouts
}

// Do executes one operation with this request body and appends the answer's body to dst. An error
// is an *exception.Error; any other error is internal.
func (s *Store) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	q, ok := api.New(operation)
	if !ok {
		return dst, exception.New(exception.UnknownOperation, "")
	}
	c := NewCall()
	defer c.Release()
	if err := q.Decode(&c.Decoder, body); err != nil {
		return dst, err
	}
	answer, err := s.Execute(ctx, c, q)
	if err != nil {
		return dst, err
	}
	return answer.AppendJSON(dst), nil
}

// Answer executes a decoded request and calls use with the answer. use must not keep it.
func (s *Store) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	c := NewCall()
	defer c.Release()
	r, err := s.Execute(ctx, c, q)
	if err != nil {
		return err
	}
	return use(r)
}

// Execute executes a decoded request. The answer shares the memory of c and of the request.
func (s *Store) Execute(ctx context.Context, c *Call, q api.Request) (api.Response, error) {
	r, err := whenThereIsRoom(ctx, s, c, func() (api.Response, error) { return s.inTurn(ctx, c, q) })
	return r, visible(err)
}

// visible returns an error as clients see it.
func visible(err error) error {
	if errors.Is(err, storage.ErrFull) || errors.Is(err, storage.ErrFailed) {
		return exception.New(exception.InternalServerError, "%s", err.Error())
	}
	return err
}

func (s *Store) execute(ctx context.Context, c *Call, q api.Request) (api.Response, error) {
	switch q := q.(type) {
	case *api.GetItem:
		return s.reads.getItem(c, q)
	case *api.PutItem:
		return s.writes.putItem(c, q)
	case *api.UpdateItem:
		return s.writes.updateItem(c, q)
	case *api.DeleteItem:
		return s.writes.deleteItem(c, q)
	case *api.Query:
		return s.reads.query(ctx, c, q)
	case *api.Scan:
		return s.reads.scan(ctx, c, q)
	case *api.BatchGetItem:
		return s.reads.batchGetItem(ctx, c, q)
	case *api.BatchWriteItem:
		return s.writes.batchWriteItem(ctx, c, q)
	case *api.TransactGetItems:
		return s.reads.transactGetItems(ctx, c, q)
	case *api.TransactWriteItems:
		return s.transactions.transactWriteItems(ctx, c, q)
	case *api.CreateTable:
		return s.definitions.createTable(q)
	case *api.UpdateTable:
		return s.definitions.updateTable(q)
	case *api.DeleteTable:
		return s.definitions.deleteTable(q)
	case *api.DescribeTable:
		return s.definitions.describeTable(q)
	case *api.DescribePartitions:
		return s.definitions.describePartitions(q)
	case *api.ListTables:
		return s.definitions.listTables(q)
	case *api.TagResource:
		return s.definitions.tagResource(q)
	case *api.UntagResource:
		return s.definitions.untagResource(q)
	case *api.ListTagsOfResource:
		return s.definitions.listTags(q)
	case *api.UpdateTimeToLive:
		return s.definitions.updateTimeToLive(q)
	case *api.DescribeTimeToLive:
		return s.definitions.describeTimeToLive(q)
	case *api.ExecuteStatement, *api.BatchExecuteStatement, *api.ExecuteTransaction:
		return nil, exception.New(exception.UnknownOperation, "")
	case *api.ListStreams:
		return s.streams.List(q)
	case *api.DescribeStream:
		return s.streams.Describe(q)
	case *api.GetShardIterator:
		return s.streams.Iterator(q)
	case *api.GetRecords:
		return s.streams.Records(ctx, q)
	case *api.DescribeLimits:
		return describeLimits()
	case *api.DescribeEndpoints:
		return describeEndpoints(s.options.Region)
	}
	// The layer in front of the store turns PartiQL into these operations.
	return nil, exception.New(exception.UnknownOperation, "")
}
