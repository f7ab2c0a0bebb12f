// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Options configure a Cache.
type Options struct {
	Store store.Store // required; the caller closes it, after the cache

	// Size is how many bytes of memory the cache may take. The least is MinSize.
	Size int64

	// TTL is how long an answer is kept; default 5 minutes.
	TTL time.Duration

	// Settle is how long a read at ONE may miss a write. For that time after a write the cache
	// keeps nothing of its partition. 0: reads of the store see every write at once.
	Settle time.Duration

	// Now is the clock; default time.Now.
	Now func() time.Time

	// Log receives messages for the operator; default none.
	Log *slog.Logger
}

// MinSize is the least Size: 1 MiB.
const MinSize = 1 << 20

// ClusterSettles is Options.Settle for a cluster: how long a read at ONE may miss a write, as long as no
// node fails.
const ClusterSettles = 3 * time.Second

// Cache is a store with a cache. It is safe for concurrent use.
type Cache struct {
	store   store.Store
	options Options
	fence   *cachefence.Fence[*flight]
	entries *otter.Cache[uint64, *entry]
	known   statements
	own     store.Link // asks for default_time_to_live
	version wire.Version

	hits, misses, coalesced atomic.Int64
	evicted                 cachefence.Evictions
}

var (
	_ store.Store     = (*Cache)(nil)
	_ store.Versioned = (*Cache)(nil)
	_ store.Locator   = (*Cache)(nil)
)

// New makes a cache. ctx bounds the opening of its first connection.
func New(ctx context.Context, o Options) (*Cache, error) {
	if o.TTL == 0 {
		o.TTL = 5 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.Store == nil:
		return nil, errors.New("the CQL cache's options: no store is given")
	case o.Size < MinSize:
		return nil, fmt.Errorf("the CQL cache's options: a cache of %d bytes: it takes %d at least", o.Size, MinSize)
	case o.TTL < 0 || o.Settle < 0:
		return nil, errors.New("the CQL cache's options: times must not be negative")
	}
	c := &Cache{store: o.Store, options: o, fence: cachefence.New[*flight](o.Size)}
	var err error
	if c.version, err = c.MaxVersion(ctx); err != nil {
		return nil, fmt.Errorf("the CQL cache: %w", err)
	}
	if c.own, err = o.Store.Open(ctx, store.LinkOptions{Version: c.version, Own: true}); err != nil {
		return nil, fmt.Errorf("the CQL cache: %w", err)
	}
	c.entries, err = otter.New(&otter.Options[uint64, *entry]{
		MaximumWeight: uint64(o.Size - c.fence.Bytes()),
		Weigher:       func(_ uint64, e *entry) uint32 { return e.weight() },
		StatsRecorder: &c.evicted,
	})
	if err != nil {
		c.own.Close()
		return nil, fmt.Errorf("the CQL cache's options: %w", err)
	}
	return c, nil
}

// Authenticator implements store.Store.
func (c *Cache) Authenticator(ctx context.Context) (string, error) { return c.store.Authenticator(ctx) }

// MaxVersion implements store.Versioned.
func (c *Cache) MaxVersion(ctx context.Context) (wire.Version, error) {
	if v, ok := c.store.(store.Versioned); ok {
		return v.MaxVersion(ctx)
	}
	return wire.Highest, nil
}

// AppendNodes implements store.Locator.
func (c *Cache) AppendNodes(dst []int, keyspace string, key []byte) (nodes []int, best int) {
	if l, ok := c.store.(store.Locator); ok {
		return l.AppendNodes(dst, keyspace, key)
	}
	return dst, 0
}

// Open implements store.Store.
func (c *Cache) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	inner, err := c.store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	l := &link{c: c, inner: inner, options: o}
	if f, ok := inner.(store.Forwarder); ok {
		return &forwarder{link: l, inner: f}, nil
	}
	return l, nil
}

// Events implements store.Store. A schema change that the store reports, whoever made it, counts
// as a write to anything.
func (c *Cache) Events(ctx context.Context, f func(body []byte)) error {
	return c.store.Events(ctx, func(body []byte) {
		c.everything()
		f(body)
	})
}

// everything counts a write to anything that has begun and ended.
func (c *Cache) everything() {
	w := &write{all: true}
	c.begin(w)
	c.end(w, 0)
}

// Close closes what New has opened. The store stays open.
func (c *Cache) Close() error {
	c.own.Close()
	return nil
}

// Stats holds counts since the cache was made.
type Stats struct {
	Hits, Misses int64 // reads that could be answered from the cache
	Coalesced    int64 // of Misses, those answered by another read's request
	Evicted      int64 // entries dropped to make room for others
	Entries      int64 // now
	Bytes        int64 // memory in use now
}

// Stats returns the counts.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Coalesced: c.coalesced.Load(), Evicted: c.evicted.Load(),
		Entries: int64(c.entries.EstimatedSize()), Bytes: int64(c.entries.WeightedSize()) + c.fence.Bytes(),
	}
}
