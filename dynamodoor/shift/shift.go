// SPDX-License-Identifier: Apache-2.0

// Package shift carries out requests on DynamoDB tables whose layout is being changed, and
// moves their items: by the acts that package dynamodoor/reshard says. A Scan of a table
// whose layout was changed once comes here, too.
//
// It promises:
//
//  1. An item whose places are the same in both layouts is read and written as ever.
//  2. What is under way is bounded by the request: of each of its items, a handful of
//     requests, one after another; retries are bounded, and end with the request.
//  3. Nothing hidden shows, and no stub.
//
// It keeps nothing between requests. It imports dynamo/…, dynamodoor/plan and
// dynamodoor/reshard.
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

// Table is a table whose layout is being changed, or was.
type Table struct {
	Old, New   *plan.Table // the same where no change is under way
	Step       reshard.Step
	Generation int64
	// Key is the one partition key whose layout is changed; Invalid: all keys' may be.
	Key attribute.Value
	// Settled is the generation in which the change was settled; 0: not yet.
	Settled int64
	// Floor is the generation in which a Scan must have begun to be gone on with.
	Floor int64
}

// Store is what requests are carried out on.
type Store struct {
	// Answer carries out a physical request.
	Answer func(ctx context.Context, q api.Request, use func(api.Response) error) error
	// Carry carries out a plan.
	Carry func(ctx context.Context, p plan.Plan, q api.Request, use func(api.Response) error) error
	// Retried carries something out, and again while the store throttles it.
	Retried func(ctx context.Context, do func() error) error
	// Stamp is another text each time.
	Stamp func() string
	// Of is the table with a name whose layout is being changed; nil for others.
	Of func(name string) *Table
	// Tables are all sharded tables; those that are being changed, in their old layout.
	Tables plan.Tables
}

// ErrBehind says that a position is of a later generation than the door knows of.
var ErrBehind = errors.New("a position of a later generation")

// errBusy is the error about an item that others change all the time.
var errBusy = exception.New(exception.ServiceUnavailable, "the item is being changed by others all the time, while its table gets another layout; try again")

// mostActs is how many acts one request on one item takes at most.
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
		return s.scan(ctx, q, use)
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

// in returns all tables, those that are being changed as they are in the old layout, or
// the new one.
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
	return s.Carry(ctx, p, q, use)
}

func is(err error, k exception.Kind) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Kind == k
}

// kept is an item in memory of its own; nil where there is none.
func kept(text attribute.Encoded) (attribute.Item, error) {
	if text == nil {
		return nil, nil
	}
	return new(attribute.Decoder).Item(append(attribute.Encoded{}, text...))
}
