// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Store is the store behind the cache.
type Store interface {
	// Do carries out one operation whose request has this body, and appends the answer's body to
	// dst.
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)
	// Has reports whether the store has an operation.
	Has(operation string) bool
}

// Options holds the settings of a Cache.
type Options struct {
	Store Store // needed

	// Size is the largest number of bytes of memory that the cache takes, at least MinSize.
	Size int64

	// TTL is how long the cache keeps an item, or the fact that there is none; default 5 minutes.
	TTL time.Duration

	// QueryTTL is how long the cache keeps answers to Query and Scan, whatever is written in the
	// meantime. 0: it does not keep them.
	QueryTTL time.Duration

	// Settle is how long after a write an eventually consistent read of the store may not see it
	// yet. The cache does not keep the item for that time. 0: the store's reads see all writes.
	Settle time.Duration

	// Now is the clock; default time.Now.
	Now func() time.Time

	// Log receives messages for the operator; default none.
	Log *slog.Logger
}

// MinSize is the smallest Size: 1 MiB, of which the fence takes 64 KiB.
const MinSize = 1 << 20

// EndpointSettles is Options.Settle for DynamoDB: how long an eventually consistent read may miss a write.
const EndpointSettles = 3 * time.Second

func (o Options) withDefaults() Options {
	if o.TTL == 0 {
		o.TTL = 5 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate returns an error that lists everything wrong with the options.
func (o Options) Validate() error {
	var errs []error
	if o.Store == nil {
		errs = append(errs, errors.New("no store is given"))
	}
	if o.Size < MinSize {
		errs = append(errs, fmt.Errorf("a cache of %d bytes: it takes %d at least", o.Size, MinSize))
	}
	if o.TTL < 0 || o.QueryTTL < 0 || o.Settle < 0 {
		errs = append(errs, errors.New("times must not be negative"))
	}
	return errors.Join(errs...)
}

// counts holds the counts of writes that reads check, and the reads under way.
type counts = cachefence.Fence[*flight]

// Cache is a store with a cache. It is safe for concurrent use.
type Cache struct {
	store   Store
	options Options
	fence   *counts
	entries *otter.Cache[uint64, *entry]
	tables  tables
	readers sync.Pool // of *reader
	writers sync.Pool // of *writer

	hits, misses, queryHits, queryMisses, coalesced, invalidated atomic.Int64
	evicted                                                      cachefence.Evictions
}

// New makes a cache.
func New(o Options) (*Cache, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("the cache's options: %w", err)
	}
	o = o.withDefaults()
	c := &Cache{store: o.Store, options: o, fence: cachefence.New[*flight](o.Size)}
	c.readers.New = func() any { return new(reader) }
	c.writers.New = func() any { return new(writer) }
	var err error
	c.entries, err = otter.New(&otter.Options[uint64, *entry]{
		MaximumWeight: uint64(o.Size) - uint64(c.fence.Bytes()),
		Weigher:       func(_ uint64, e *entry) uint32 { return e.weight() },
		StatsRecorder: &c.evicted,
	})
	if err != nil {
		return nil, fmt.Errorf("the cache's options: %w", err)
	}
	return c, nil
}

// Has reports whether the store has an operation.
func (c *Cache) Has(operation string) bool { return c.store.Has(operation) }

// Do carries out one operation whose request has this body, and appends the answer's body to dst.
func (c *Cache) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	switch operation {
	case "GetItem":
		return c.getItem(ctx, body, dst)
	case "BatchGetItem":
		return c.batchGetItem(ctx, body, dst)
	case "Query", "Scan":
		return c.query(ctx, operation, body, dst)
	case "TransactGetItems":
		return c.store.Do(ctx, operation, body, dst)
	case "TagResource", "UntagResource":
		if !bytes.Contains(body, adopting) {
			return c.store.Do(ctx, operation, body, dst)
		}
	}
	for _, verb := range []string{"Describe", "List", "Get"} {
		if strings.HasPrefix(operation, verb) {
			return c.store.Do(ctx, operation, body, dst)
		}
	}
	return c.write(ctx, operation, body, dst)
}

// adopting occurs in the tag that turns a table that was sharded by hand into another table.
var adopting = []byte("write-sharding")

// Stats are counts since the cache was made.
type Stats struct {
	Hits, Misses           int64 // items in eventually consistent reads
	QueryHits, QueryMisses int64 // queries and scans, if the cache keeps them
	Coalesced              int64 // requests that got the answer to another
	Evicted                int64 // entries evicted to make room
	Invalidated            int64 // entries removed by a write
	Entries                int64 // entries now
	Bytes                  int64 // bytes of memory now
}

// HitRatio returns the share of items, queries and scans for which the store was not asked.
func (s Stats) HitRatio() float64 {
	all := s.Hits + s.Misses + s.QueryHits + s.QueryMisses
	if all == 0 {
		return 0
	}
	return float64(s.Hits+s.QueryHits) / float64(all)
}

// Stats returns the counts.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), QueryHits: c.queryHits.Load(), QueryMisses: c.queryMisses.Load(),
		Coalesced: c.coalesced.Load(), Evicted: c.evicted.Load(), Invalidated: c.invalidated.Load(),
		Entries: int64(c.entries.EstimatedSize()), Bytes: int64(c.entries.WeightedSize()) + c.fence.Bytes(),
	}
}

// reader is the memory of one read.
type reader struct {
	decoder api.Decoder
	get     api.GetItem
	keys    attribute.Decoder // for keys in answers
	asked   asked
	text    []byte
	sorter  sorter
	parts   []part
}

// keptBytes is the most memory that a reader or writer keeps for the next request.
const keptBytes = 64 << 10

func (c *Cache) reader() *reader { return c.readers.Get().(*reader) }

func (c *Cache) release(r *reader) {
	if cap(r.text)+cap(r.asked.key)+cap(r.asked.variant)+r.sorter.cap() > keptBytes {
		return
	}
	r.decoder.Reset()
	r.keys.Reset()
	r.get = api.GetItem{}
	for i := range r.parts {
		r.parts[i].text = nil // its memory may belong to an entry that is gone
	}
	c.readers.Put(r)
}
