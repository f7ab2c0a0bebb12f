// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Growth describes what changed since the last inspection.
type Growth struct {
	Since            time.Time         `json:"since"`
	Days             float64           `json:"days"`
	RowsPerDay       Interval          `json:"rows_per_day"`
	BytesPerDay      Interval          `json:"bytes_per_day"`
	PartitionsPerDay Interval          `json:"partitions_per_day"`
	Largest          []PartitionGrowth `json:"largest"` // of the largest partitions, those that grew most
}

// PartitionGrowth describes how a partition grew.
type PartitionGrowth struct {
	Token       int64    `json:"-"`
	Key         [][]byte `json:"-"`
	Shard       int      `json:"-"`
	Name        string   `json:"key"`
	BytesBefore int64    `json:"bytes_before"`
	Bytes       int64    `json:"bytes"`
	BytesPerDay float64  `json:"bytes_per_day"`
	// Good and Most are the times at which it passes 10 MB and 100 MB if it continues to grow like
	// that. nil: it is already larger, or needs more than twenty years.
	Good *time.Time `json:"passes_10_mb,omitempty"`
	Most *time.Time `json:"passes_100_mb,omitempty"`
}

// leastGap is the least time between two inspections from which a report computes growth.
const leastGap = time.Second

func growthOf(last *Last, r *Run, at time.Time) *Growth {
	if last == nil || at.Sub(last.At) < leastGap {
		return nil
	}
	now := r.Totals()
	g := &Growth{Since: last.At, Days: at.Sub(last.At).Hours() / 24, Largest: []PartitionGrowth{}}
	per := func(now, before Interval) Interval {
		return Interval{(now.Value - before.Value) / g.Days, (now.Low - before.High) / g.Days, (now.High - before.Low) / g.Days}
	}
	g.RowsPerDay, g.BytesPerDay, g.PartitionsPerDay = per(now.Rows, last.Rows), per(now.Bytes, last.Bytes), per(now.Partitions, last.Partitions)
	for _, p := range r.Total.Largest {
		i := slices.IndexFunc(last.Largest, func(l Partition) bool { return l.Token == p.Token })
		if i < 0 {
			continue
		}
		pg := PartitionGrowth{Token: p.Token, Key: p.Key, Shard: p.Shard, BytesBefore: last.Largest[i].Bytes, Bytes: p.Bytes}
		pg.BytesPerDay = float64(p.Bytes-pg.BytesBefore) / g.Days
		pg.Good, pg.Most = passes(p.Bytes, pg.BytesPerDay, GoodBytes, at), passes(p.Bytes, pg.BytesPerDay, MostBytes, at)
		if pg.BytesPerDay > 0 {
			g.Largest = append(g.Largest, pg)
		}
	}
	slices.SortStableFunc(g.Largest, func(a, b PartitionGrowth) int { return cmp.Compare(b.BytesPerDay, a.BytesPerDay) })
	return g
}

func passes(bytes int64, perDay, limit float64, at time.Time) *time.Time {
	if float64(bytes) >= limit || perDay <= 0 {
		return nil
	}
	days := (limit - float64(bytes)) / perDay
	if days > 20*365 || math.IsNaN(days) {
		return nil
	}
	when := at.Add(time.Duration(days * 24 * float64(time.Hour)))
	return &when
}
