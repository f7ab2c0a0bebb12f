// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// timing describes the buckets of a table of strategy time.
type timing struct {
	grid  timebucket.Grid
	kind  timebucket.Kind
	desc  bool // the first clustering column is in descending order
	width int  // the number of shards in a bucket
}

// between returns the first and the last bucket that can have rows of a slice.
func (g *timing) between(s analysis.Slice) (first, last int64) {
	end := func(b analysis.Bound) []byte {
		if len(b.Prefix) == 0 {
			return nil
		}
		return b.Prefix[0]
	}
	low, high := end(s.Start), end(s.End)
	if g.desc {
		low, high = high, low
	}
	return g.grid.Between(g.kind, low, high)
}

// span is between for a slice that a cut has made. Such a slice can end exactly where a bucket begins.
// between then includes that bucket, and span does not. The first bucket of the grid also has all
// earlier rows, so span keeps it.
func (g *timing) span(s analysis.Slice) (first, last int64) {
	first, last = g.between(s)
	high := s.End
	if g.desc {
		high = s.Start
	}
	if last > g.grid.First() && !high.Inclusive && len(high.Prefix) == 1 && bytes.Equal(high.Prefix[0], g.kind.First(g.grid.Start(last))) {
		last--
	}
	return first, last
}

// within returns the part of a slice that is in a bucket. It returns false if there is none.
func (g *timing) within(s analysis.Slice, bucket int64) (analysis.Slice, bool) {
	first, last := g.span(s)
	if bucket < first || bucket > last {
		return s, false
	}
	low, high := &s.Start, &s.End
	if g.desc {
		low, high = high, low
	}
	if bucket > first {
		*low = analysis.Bound{Prefix: [][]byte{g.kind.First(g.grid.Start(bucket))}, Inclusive: true}
	}
	if bucket < last {
		*high = analysis.Bound{Prefix: [][]byte{g.kind.First(g.grid.Start(bucket + 1))}}
	}
	return s, true
}

// near says whether a slice spans so few buckets that a deletion of it is sent to all of them, in the
// directory or not.
func (g *timing) near(s analysis.Slice) bool {
	first, last := g.between(s)
	return first > last || (last-first+1)*int64(g.width) <= timebucket.MostPlaces
}

// places returns the shards of buckets.
func (g *timing) places(buckets []int64) []int { return g.grid.PlacesOf(buckets) }

// text formats the beginning of a shard's bucket.
func (g *timing) text(shard int) string {
	at := g.grid.Start(g.grid.Bucket(shard))
	if at < leastShown || at > mostShown {
		return "the buckets at an end of time" // no text has their years
	}
	return time.UnixMilli(at).UTC().Format(time.RFC3339)
}

// RFC 3339 can express the instants from year 0 to year 9999.
const (
	leastShown = -62_167_219_200_000
	mostShown  = 253_402_300_799_999
)

// newTiming checks that a table can use strategy time, and lists the columns that decide a row's
// shard.
func newTiming(t *schema.Table, l *shard.Layout) (_ *timing, by []int, _ error) {
	name := l.By[0]
	at, err := clusteringColumn(t, name)
	switch {
	case err != nil:
		return nil, nil, err
	case at > 0:
		return nil, nil, fmt.Errorf("write_sharding: 'by' names %s, which is not the first clustering column: rows come in the order of %s, so that every read of a partition "+
			"would have to merge all its buckets; make %s the first clustering column, or use strategy 'calculated'", name, t.Clustering[0].Name, name)
	case len(t.Statics) > 0:
		return nil, nil, fmt.Errorf("write_sharding: strategy 'time' does not support static columns (%s) yet; keep them in a table of their own", t.Statics[0].Name)
	}
	kind := timeKind(t.Clustering[0].Type)
	switch {
	case kind == 0:
		return nil, nil, fmt.Errorf("write_sharding: 'by' names %s, which is %s and tells no time; strategy 'time' needs a column of type timestamp, date or timeuuid", name, t.Clustering[0].Type)
	case kind == timebucket.Date && l.Width%timebucket.Day != 0:
		return nil, nil, fmt.Errorf("write_sharding: 'bucket' is %s, and %s is a date, which has whole days; take whole days, such as 1d", l.Width, name)
	}
	by = []int{0}
	if l.N > 1 {
		for i := 1; i < len(t.Clustering); i++ {
			by = append(by, i)
		}
	}
	return &timing{l.Grid(), kind, t.Clustering[0].Desc, l.N}, by, nil
}
