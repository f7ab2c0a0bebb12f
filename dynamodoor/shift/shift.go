// SPDX-License-Identifier: Apache-2.0

// Package shift carries out requests on DynamoDB tables whose layout is being changed, and moves
// their items, by the acts of package dynamodoor/reshard. It also carries out Scans of a table
// whose layout was changed once.
//
// It promises:
//
//  1. An item whose places are equal in both layouts is read and written as usual.
//  2. The work of a request is bounded: for each of its items a handful of requests, one after
//     another. Retries are bounded, and end with the request.
//  3. No answer shows a hidden attribute or a stub.
//  4. An item's bucket of time is in the directory before the item is put there.
//  5. The place of an item in a layout of strategy rollover is asked for only when Store.Know, or the caller,
//     has found out the shards of its partition key.
//
// It keeps nothing between requests. It imports dynamo/…, dynamodoor/plan and dynamodoor/reshard.
package shift

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// Table is a table whose layout is being changed, or was changed.
type Table struct {
	Old, New   *plan.Table // equal if no change is under way
	Step       reshard.Step
	Generation int64
	Began      int64 // the generation in which the change began
	// Key is the one partition key of the change; Invalid: the change concerns all keys.
	Key attribute.Value
	// Settled is the generation in which the change was settled; 0: it is not settled.
	Settled int64
	// Floor is the oldest generation of a Scan that can continue.
	Floor int64
}

// Store is the interface on which requests are carried out.
type Store struct {
	// Answer carries out a physical request.
	Answer func(ctx context.Context, q api.Request, use func(api.Response) error) error
	// Own carries out a physical request with the door's rights.
	Own func(ctx context.Context, q api.Request, use func(api.Response) error) error
	// Carry carries out a plan. resolve selects the rows of a Query to return; nil: all.
	Carry func(ctx context.Context, p plan.Plan, q api.Request, resolve func([]plan.Row) ([]plan.Row, error), use func(api.Response) error) error
	// Announce adds buckets of time to the directory. It returns a function to call when the store has
	// answered the request that puts items into them. q is the client's request, or the door's own.
	Announce func(ctx context.Context, q api.Request, buckets []plan.Bucket) (answered func() error, err error)
	// Know finds out the shards of partition keys, of which it gets the logical keys of items, for a table
	// whose old or new layout is one of strategy rollover. These shards do not change during the change.
	Know func(ctx context.Context, t *Table, keys []attribute.Item) error
	// Retried calls do, and calls it again while the store throttles it.
	Retried func(ctx context.Context, do func() error) error
	// Stamp returns a different text each time.
	Stamp func() string
	// Of returns the table with a name if its layout is being changed, and nil otherwise.
	Of func(name string) *Table
	// Seconds returns the names of the first physical tables of tables that have a second one, by its
	// name.
	Seconds func() map[string]string
	// Tables finds a sharded table. While a table's layout is being changed, it returns the table
	// with the old layout.
	Tables plan.Tables
}

// Rolls reports whether shards of partition keys in the table are those of a rollover while its layout is
// being changed.
func (t *Table) Rolls() bool { return t.Step != reshard.None && (t.Old.Rolls() || t.New.Rolls()) }

// Rolling returns the table for one request. rolled is that of plan.Table.Rolling.
func (t *Table) Rolling(rolled func(name string, hash attribute.Value) *plan.Rolled) *Table {
	in := *t
	in.Old, in.New = t.Old.Rolling(rolled), t.New.Rolling(rolled)
	if reshard.None < t.Step && t.Step < reshard.Settled {
		in.New = in.New.MovingFrom(in.Old)
	}
	return &in
}

// know finds out the shards of partition keys, if that is necessary.
func (s *Store) know(ctx context.Context, t *Table, keys ...attribute.Item) error {
	if !t.Rolls() || len(keys) == 0 {
		return nil
	}
	return s.Know(ctx, t, keys)
}

// ErrBehind reports that a position belongs to a later generation than the door knows. Either the door
// does not know of a change yet, or the position is of an entry that the table has no more.
var ErrBehind = exception.Invalid("The provided starting key is invalid: it is from an earlier table of this name, or from a change of the table's layout that was taken back; begin the read anew")

// errBusy is the error for an item that others change all the time.
var errBusy = exception.New(exception.ServiceUnavailable, "the item is being changed by others all the time, while its table gets another layout; try again")

// mostActs is the largest number of acts of one request on one item.
const mostActs = 100

// Do carries out a request.
func (s *Store) Do(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q := q.(type) {
	case *api.GetItem:
		return s.get(ctx, q, use)
	case *api.PutItem:
		return s.write(ctx, q, s.Of(q.Table), q.Item, use)
	case *api.UpdateItem:
		return s.write(ctx, q, s.Of(q.Table), q.Key, use)
	case *api.DeleteItem:
		return s.write(ctx, q, s.Of(q.Table), q.Key, use)
	case *api.Query:
		return s.query(ctx, q, use)
	case *api.Scan:
		return s.scan(ctx, q, s.Of(q.Table), use)
	case *api.BatchGetItem:
		return s.batchGet(ctx, q, use)
	case *api.BatchWriteItem:
		return s.batchWrite(ctx, q, use)
	case *api.TransactGetItems:
		return s.transactGet(ctx, q, use)
	case *api.TransactWriteItems:
		return s.transactWrite(ctx, q, use)
	}
	return fmt.Errorf("operation %s on a table whose layout is being changed", q.Operation())
}

// in returns a lookup of tables by name. During a change of a table's layout, the lookup gives the
// table in its new layout if now is true, and in its old layout otherwise.
func (s *Store) in(now bool) plan.Tables {
	return func(name string) *plan.Table {
		t := s.Of(name)
		switch {
		case t == nil:
			return s.Tables(name)
		case now:
			return t.New
		}
		return t.Old
	}
}

// carry carries out a request with its tables in one layout.
func (s *Store) carry(ctx context.Context, q api.Request, now bool, use func(api.Response) error) error {
	p, err := plan.Make(q, s.in(now))
	if err != nil {
		return err
	}
	if p == nil {
		return s.Answer(ctx, q, use)
	}
	return s.Carry(ctx, p, q, nil, use)
}

func is(err error, k exception.Kind) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Kind == k
}

// kept returns an item in its own memory, or nil if there is none.
func kept(text attribute.Encoded) (attribute.Item, error) {
	if text == nil {
		return nil, nil
	}
	return new(attribute.Decoder).Item(append(attribute.Encoded{}, text...))
}
