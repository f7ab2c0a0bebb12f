// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	cqlcache "github.com/evenkeel/evenkeel/cqldoor/cache"
	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/cache"
)

// cacheFlags are the flags of serve for the caches of the doors.
type cacheFlags struct {
	Cache         byteSize      `placeholder:"SIZE" help:"Memory for a cache of popular items and partitions, such as 64MB, half of it for each door if there are two. The door answers eventually consistent reads from it (CQL: prepared, of one partition, at ONE or LOCAL_ONE). Identical reads that are under way share one request."`
	CacheTTL      time.Duration `name:"cache-ttl" placeholder:"TIME" default:"5m" help:"How long the cache keeps an item; readers see writes through this door at once (${default})."`
	QueryCacheTTL time.Duration `name:"query-cache-ttl" placeholder:"TIME" help:"How long the cache keeps answers to Query and Scan, even if items are written meanwhile (0: not at all)."`
}

// byteSize is a number of bytes. It is written as 64MB (units of 1,000,000) or 64MiB (units of
// 1,048,576).
type byteSize int64

var byteUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// UnmarshalText parses a size.
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
	return fmt.Errorf("%q is not a size; write 64MB, 512KiB or 2GB", s)
}

// checkCache returns an error if the cache flags are wrong or contradict each other.
func (s *serveCmd) checkCache() error {
	switch {
	case s.Cache == 0 && s.QueryCacheTTL != 0:
		return withHint(errors.New("--query-cache-ttl is given without a cache"), "--cache 64MB makes one")
	case s.Cache != 0 && s.cacheSize() < cache.MinSize:
		return withHint(fmt.Errorf("--cache: %d bytes are too few", s.Cache), "give it 1MiB at least for each door; 64MB keeps some 40,000 items of 1 KB")
	case s.Cache != 0 && s.StoreOnly:
		return withHint(errors.New("--cache is given with --store-only"), "leave --cache out: the doors in front have caches of their own")
	case s.QueryCacheTTL != 0 && s.withoutDynamoDB():
		return withHint(errors.New("--query-cache-ttl is given, but there is no DynamoDB door"), "leave it out: it is not for CQL")
	case s.Cache != 0 && (s.CacheTTL <= 0 || s.QueryCacheTTL < 0):
		return errors.New("--cache-ttl must be more than 0, and --query-cache-ttl not less")
	case s.Cache != 0 && s.withoutDynamoDB() && s.ListenCQL == "off":
		return withHint(errors.New("--cache is given, but there is no door"), "--listen-cql ADDR or --listen-dynamodb ADDR opens one")
	}
	return nil
}

// withCache puts a cache in front of the store if --cache asks for one. Otherwise it returns the
// store itself. settle is how long eventually consistent reads of the store may lag behind its
// writes.
func (s *serveCmd) withCache(store dynamodoor.Store, settle time.Duration, log *slog.Logger) (dynamodoor.Store, *cache.Cache, error) {
	if s.Cache == 0 {
		return store, nil, nil
	}
	c, err := cache.New(cache.Options{
		Store: store, Size: s.cacheSize(), TTL: s.CacheTTL, QueryTTL: s.QueryCacheTTL, Settle: settle, Log: log,
	})
	return c, c, err
}

// cacheSize returns how many bytes of --cache each door gets.
func (s *serveCmd) cacheSize() int64 {
	if s.ListenCQL != "off" && !s.withoutDynamoDB() {
		return int64(s.Cache) / 2
	}
	return int64(s.Cache)
}

// withCQLCache puts a cache in front of the CQL door's store if --cache asks for one.
func (s *serveCmd) withCQLCache(ctx context.Context, c *cqlSide, log *slog.Logger) (err error) {
	if s.Cache == 0 {
		return nil
	}
	o := cqlcache.Options{Store: c.store, Size: s.cacheSize(), TTL: s.CacheTTL, Log: log}
	if len(s.Cassandra) > 0 {
		o.Settle = cqlcache.ClusterSettles
	}
	c.cache, err = cqlcache.New(ctx, o)
	return err
}

// cqlCacheMetrics are the metrics of the CQL door's cache.
var cqlCacheMetrics = []countMetric[cqlcache.Stats]{
	{desc("cache_hits_total", "Reads that the cache has answered."), prometheus.CounterValue, func(s *cqlcache.Stats) float64 { return float64(s.Hits) }},
	{desc("cache_misses_total", "Reads that the cache may answer, but did not have."), prometheus.CounterValue, func(s *cqlcache.Stats) float64 { return float64(s.Misses) }},
	{desc("cache_coalesced_total", "Of these, those that shared the request of another."), prometheus.CounterValue, func(s *cqlcache.Stats) float64 { return float64(s.Coalesced) }},
	{desc("cache_evictions_total", "Answers that made room for others."), prometheus.CounterValue, func(s *cqlcache.Stats) float64 { return float64(s.Evicted) }},
	{desc("cache_entries", "Answers that are kept."), prometheus.GaugeValue, func(s *cqlcache.Stats) float64 { return float64(s.Entries) }},
	{desc("cache_bytes", "Memory that the cache takes."), prometheus.GaugeValue, func(s *cqlcache.Stats) float64 { return float64(s.Bytes) }},
}

// cacheMetrics are the metrics of the DynamoDB door's cache.
var cacheMetrics = []countMetric[cache.Stats]{
	{dynamoDesc("cache_hit_ratio", "Share of the cacheable items that the cache has answered, since the start."), prometheus.GaugeValue, func(s *cache.Stats) float64 { return s.HitRatio() }},
	{dynamoDesc("cache_hits_total", "Items that the cache had."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Hits) }},
	{dynamoDesc("cache_misses_total", "Items that the cache did not have."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Misses) }},
	{dynamoDesc("cache_query_hits_total", "Queries and scans that the cache had."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.QueryHits) }},
	{dynamoDesc("cache_query_misses_total", "Queries and scans that the cache did not have."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.QueryMisses) }},
	{dynamoDesc("cache_coalesced_total", "Reads that shared the request of another."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Coalesced) }},
	{dynamoDesc("cache_evictions_total", "Entries that made room for others."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Evicted) }},
	{dynamoDesc("cache_invalidations_total", "Items that were removed because they were written."), prometheus.CounterValue, func(s *cache.Stats) float64 { return float64(s.Invalidated) }},
	{dynamoDesc("cache_entries", "Items, queries and scans that are kept."), prometheus.GaugeValue, func(s *cache.Stats) float64 { return float64(s.Entries) }},
	{dynamoDesc("cache_bytes", "Memory that the cache takes."), prometheus.GaugeValue, func(s *cache.Stats) float64 { return float64(s.Bytes) }},
}
