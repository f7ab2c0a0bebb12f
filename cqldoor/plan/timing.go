// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

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

// newTiming returns the timing of a table of strategy time, and the columns whose values decide the shard of a row in its
// bucket. If the table cannot have that strategy, newTiming returns an error.
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
