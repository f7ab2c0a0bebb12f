// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/dynamodb/stream"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// Options configure a Store. The zero value works.
type Options struct {
	// Region and Account appear in ARNs. Defaults us-east-1 and 000000000000.
	Region, Account string

	// SweepInterval is the time between two looks for expired items and old tokens. Default 1
	// minute; negative: never.
	SweepInterval time.Duration

	// Clock tells the time; default time.Now.
	Clock func() time.Time

	// Capacity makes tables and indexes apply DynamoDB's limits. Default none.
	Capacity *throughput.Limits

	// IndexLag is the least age of the data that reads of global indexes return. Default 0: up to
	// date. Less than a millisecond is 0.
	IndexLag time.Duration

	// Logger receives messages for the operator. Default none.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Account == "" {
		o.Account = "000000000000"
	}
	if o.SweepInterval == 0 {
		o.SweepInterval = time.Minute
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// arn returns the Amazon Resource Name of a table.
func (o *Options) arn(table string) string {
	return "arn:aws:dynamodb:" + o.Region + ":" + o.Account + ":table/" + table
}

// base is what all parts of a store work on.
type base struct {
	space  *storage.Space
	tables *tables
	meter  *meter
	clock  func() time.Time
}

// Store is an open DynamoDB. It is safe for concurrent use. It sends each request to the part that
// carries it out.
type Store struct {
	*base
	options Options
	streams *stream.Store
	lanes   lanes
	lag     *lag // nil: indexes are up to date

	reads        *reader
	writes       *writer
	transactions *transactor
	definitions  *definer
	sweeper      *sweeper

	cancel  context.CancelFunc // ends what runs
	running sync.WaitGroup
}

// Open opens the DynamoDB that is stored in db. db must stay open until after Close.
func Open(db *storage.DB, o Options) (*Store, error) {
	o = o.withDefaults()
	space := db.Items()
	if err := checkFormat(space); err != nil {
		return nil, fmt.Errorf("open DynamoDB tables: %w", err)
	}
	streams, err := stream.Open(stream.Options{
		Space: space, Clock: o.Clock, Region: o.Region, Mark: func(b *pebble.Batch) error { return setFormat(b, space, formatStreams) },
	})
	if err != nil {
		return nil, fmt.Errorf("open DynamoDB tables: %w", err)
	}
	meter := &meter{limits: o.Capacity, clock: o.Clock, space: space}
	parts := &base{space: space, tables: &tables{space: space, streams: streams, meter: meter}, meter: meter, clock: o.Clock}
	if err := parts.tables.load(); err != nil {
		return nil, fmt.Errorf("open DynamoDB tables: %w", err)
	}
	s := &Store{base: parts, options: o, streams: streams, lanes: newLanes()}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if o.IndexLag >= time.Millisecond {
		s.lag = &lag{by: o.IndexLag, clock: o.Clock}
		s.lag.take(space.Pebble)
		s.running.Go(func() { s.lag.run(ctx, space.Pebble) })
	}
	s.reads = &reader{parts, s.lag}
	s.writes = &writer{parts, new(stripes), streams}
	tokens := &tokens{parts, s.writes.locks}
	s.transactions = &transactor{s.writes, tokens}
	filler := &filler{writer: s.writes, log: o.Logger, ctx: ctx, running: &s.running}
	s.definitions = &definer{parts, &s.options, streams, filler}
	filler.resume()
	s.sweeper = &sweeper{s.writes, tokens, o.SweepInterval, o.Logger}
	if o.SweepInterval > 0 {
		s.running.Go(func() { s.sweeper.run(ctx) })
	}
	return s, nil
}

// Close waits for the goroutines that the store has started. Requests must have ended.
func (s *Store) Close() error {
	s.cancel()
	s.running.Wait()
	if s.lag != nil {
		return s.lag.close()
	}
	return nil
}
