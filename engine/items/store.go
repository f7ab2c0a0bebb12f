// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/capacity"
	"github.com/evenkeel/evenkeel/engine/items/stream"
	"github.com/evenkeel/evenkeel/engine/storage"
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
	Capacity *capacity.Limits

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

// Store is an open DynamoDB. It is safe for concurrent use.
type Store struct {
	options Options
	space   *storage.Space
	locks   stripes

	tables  *tables
	meter   *meter
	streams *stream.Store
	lanes   lanes
	lag     *lag // nil: indexes are up to date

	ctx     context.Context // cancelled by Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// format is the version of all that this package stores. A change that older versions would misread
// raises it.
const (
	format        = 2
	formatPlain   = 1 // without streams, which older versions do not know
	formatStreams = 2
)

// Open opens the DynamoDB that is stored in db. db must stay open until after Close.
func Open(db *storage.DB, o Options) (*Store, error) {
	s := &Store{options: o.withDefaults(), space: db.Items(), lanes: newLanes()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.cancel()
		return nil, fmt.Errorf("open DynamoDB tables: %w", err)
	}
	s.resume()
	if s.options.IndexLag >= time.Millisecond {
		s.lag = &lag{by: s.options.IndexLag, clock: s.options.Clock}
		s.lag.take(s.space.Pebble)
		s.running.Go(s.takeViews)
	}
	if s.options.SweepInterval > 0 {
		s.running.Go(s.sweepNowAndThen)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	if err := s.checkFormat(); err != nil {
		return err
	}
	s.streams, err = stream.Open(stream.Options{
		Space: s.space, Clock: s.options.Clock, Region: s.options.Region,
		Mark: func(b *pebble.Batch) error {
			return b.Set(s.formatKey(), strconv.AppendInt(nil, formatStreams, 10), nil)
		},
	})
	if err != nil {
		return err
	}
	s.meter = &meter{limits: s.options.Capacity, clock: s.options.Clock, space: s.space}
	s.tables = &tables{space: s.space, streams: s.streams, meter: s.meter}
	return s.tables.load()
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

func (s *Store) formatKey() []byte { return []byte{s.space.Prefix, regionFormat} }

// checkFormat compares the format of the data with this version's, and writes it in a new store.
func (s *Store) checkFormat() error {
	v, err := get(s.space, s.formatKey())
	if err != nil {
		return err
	}
	if v == nil {
		return s.space.Pebble.Set(s.formatKey(), strconv.AppendInt(nil, formatPlain, 10), pebble.Sync)
	}
	n, err := strconv.Atoi(string(v))
	if err != nil {
		return fmt.Errorf("%w: format version %q", storage.ErrCorrupt, v)
	}
	if n > format {
		return fmt.Errorf("%w of evenkeel: format %d of items, this one knows up to %d; use that version", storage.ErrNewer, n, format)
	}
	return nil
}

// get returns a copy of the value of a key, or nil.
func get(space *storage.Space, key []byte) ([]byte, error) {
	v, closer, err := space.Pebble.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %x: %w", key, err)
	}
	v = append([]byte{}, v...)
	return v, closer.Close()
}

// arn returns the Amazon Resource Name of a table.
func (s *Store) arn(table string) string {
	return "arn:aws:dynamodb:" + s.options.Region + ":" + s.options.Account + ":table/" + table
}
