package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/cache"
)

// cacheFlags are serve's flags about the cache of the DynamoDB door.
type cacheFlags struct {
	Cache         byteSize      `placeholder:"SIZE" help:"Memory for a cache of popular items in the DynamoDB door, such as 64MB: eventually consistent reads are answered from it, and identical reads that are under way share one request."`
	CacheTTL      time.Duration `name:"cache-ttl" placeholder:"TIME" default:"5m" help:"How long an item is kept in the cache; what is written through this door is seen at once (${default})."`
	QueryCacheTTL time.Duration `name:"query-cache-ttl" placeholder:"TIME" help:"How long answers to Query and Scan are kept in the cache, whatever is written meanwhile (0: they are not)."`
}

// byteSize is a number of bytes, such as 64MB (of 1,000,000) or 64MiB (of 1,048,576).
type byteSize int64

var byteUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size.
func (b *byteSize) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	for _, u := range byteUnits {
		if len(s) < len(u.name) || !strings.EqualFold(s[len(s)-len(u.name):], u.name) {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(s[:len(s)-len(u.name)]), 64)
		if err != nil || !(n >= 0) || n*u.bytes >= math.MaxInt64 {
			break
		}
		*b = byteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is no size; 64MB is one, and so are 512KiB and 2GB", s)
}

// checkCache says what is wrong with the flags.
func (s *serveCmd) checkCache() error {
	switch {
	case s.Cache == 0 && s.QueryCacheTTL != 0:
		return withHint(errors.New("--query-cache-ttl is given without a cache"), "--cache 64MB makes one")
	case s.Cache != 0 && s.Cache < cache.MinSize:
		return withHint(fmt.Errorf("--cache: %d bytes are too few", s.Cache), "give it 1MiB at least; 64MB keeps some 40,000 items of 1 KB")
	case s.Cache != 0 && (s.CacheTTL <= 0 || s.QueryCacheTTL < 0):
		return errors.New("--cache-ttl must be more than 0, and --query-cache-ttl not less")
	case s.Cache != 0 && s.withoutDynamoDB():
		return withHint(errors.New("--cache is given, and there is no DynamoDB door"), "--listen-dynamodb ADDR opens one; the cache is not for CQL")
	}
	return nil
}

// withCache returns the store with the cache that is asked for in front of it;
// without one, the store itself. settle is for how long the store's eventually
// consistent reads may be behind its writes.
func (s *serveCmd) withCache(store dynamodoor.Store, settle time.Duration, log *slog.Logger) (dynamodoor.Store, *cache.Cache, error) {
	if s.Cache == 0 {
		return store, nil, nil
	}
	c, err := cache.New(cache.Options{
		Store: store, Size: int64(s.Cache), TTL: s.CacheTTL, QueryTTL: s.QueryCacheTTL, Settle: settle, Log: log,
	})
	return c, c, err
}

// cacheCollector makes metrics of the cache's counts when they are asked for.
type cacheCollector struct{ cache *cache.Cache }

var cacheMetrics = []struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(s *cache.Stats) float64
}{
	{dynamoDesc("cache_hit_ratio", "Share of what may be cached that the cache has answered, since the start."), prometheus.GaugeValue, func(s *cache.Stats) float64 { return s.HitRatio() }},
	{dynamoDesc("cache_hits_total", "Items that the cache had."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Hits) }},
	{dynamoDesc("cache_misses_total", "Items that the cache had not."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Misses) }},
	{dynamoDesc("cache_query_hits_total", "Queries and scans that the cache had."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.QueryHits) }},
	{dynamoDesc("cache_query_misses_total", "Queries and scans that the cache had not."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.QueryMisses) }},
	{dynamoDesc("cache_coalesced_total", "Reads that shared the request of another."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Coalesced) }},
	{dynamoDesc("cache_evictions_total", "Entries that made room for others."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Evicted) }},
	{dynamoDesc("cache_invalidations_total", "Items that were removed because they were written."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Invalidated) }},
	{dynamoDesc("cache_entries", "Items, queries and scans that are kept."), prometheus.GaugeValue, func(s *cache.Stats) float64 { return float64(s.Entries) }},
	{dynamoDesc("cache_bytes", "Memory that the cache takes."), prometheus.GaugeValue, func(s *cache.Stats) float64 { return float64(s.Bytes) }},
}

func (cacheCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range cacheMetrics {
		ch <- m.desc
	}
}

func (c cacheCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.cache.Stats()
	for _, m := range cacheMetrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&s))
	}
}
