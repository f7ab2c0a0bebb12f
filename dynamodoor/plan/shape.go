// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Shape is what a client asks of the layout of a table in use: everything but the numbers of its places.
type Shape struct {
	Shards  int              // of each key, or of each bucket of time; 0: a plain table
	Width   timebucket.Width // of the buckets of time; 0: there are none
	Numbers timebucket.Kind  // what a sort key that is a number counts, if there are buckets
	Rows    int64            // the number of items that fill a shard under rollover; 0: the strategy is another one
	Max     int              // the largest number of shards of a key under rollover
}

// ShapeOf returns the shape of a layout.
func ShapeOf(l *shard.Layout) Shape {
	switch l.Strategy {
	case shard.Time:
		return Shape{Shards: l.N, Width: l.Width, Numbers: l.Numbers}
	case shard.Rollover:
		return Shape{Shards: 1, Rows: l.Fill.Rows, Max: l.Max}
	}
	return Shape{Shards: l.N}
}

// Timed reports whether the shape has buckets of time.
func (s Shape) Timed() bool { return s.Width > 0 }

// Rolls reports whether the shape is one of strategy rollover.
func (s Shape) Rolls() bool { return s.Rows > 0 }

// InDirectory reports whether a directory has the shards of partition keys.
func (s Shape) InDirectory() bool { return s.Timed() || s.Rolls() }

// layout returns the layout with a range of places.
func (s Shape) layout(places shard.Range) *shard.Layout {
	l := &shard.Layout{N: max(1, s.Shards), Base: places.Base, Column: shard.DefaultColumn}
	switch {
	case s.Timed():
		l.Strategy, l.Width, l.Numbers = shard.Time, s.Width, s.Numbers
	case s.Rolls():
		l.Strategy, l.Fill.Rows, l.Max = shard.Rollover, s.Rows, s.Max
	}
	return l
}

// Layout returns the layout of a table whose change to the shape has ended.
func (s Shape) Layout(places shard.Range, used int, generation int64) *shard.Layout {
	l := s.layout(places)
	l.Used, l.Generation = used, generation
	return l
}

// Last returns the highest place that a layout of the shape has.
func (s Shape) Last(places shard.Range) int {
	switch {
	case s.Timed():
		return places.Base + shard.Lot/2
	case s.Rolls():
		return places.Base + s.Max
	}
	return places.Last()
}

// Tag returns the value of the tag that declares the shape, or "" for a plain table.
func (s Shape) Tag() string {
	switch {
	case s.Shards == 0:
		return ""
	case s.Timed():
		return timedText(s.Width, s.Numbers) + fmt.Sprintf(" shards=%d", s.Shards)
	case s.Rolls() && s.Max == shard.MaxShards:
		return fmt.Sprintf("strategy=rollover rows=%d", s.Rows)
	case s.Rolls():
		return fmt.Sprintf("strategy=rollover rows=%d max=%d", s.Rows, s.Max)
	}
	return fmt.Sprintf("strategy=calculated shards=%d", s.Shards)
}

// timedText returns the options of strategy time without the number of shards.
func timedText(width timebucket.Width, numbers timebucket.Kind) string {
	text := "strategy=time bucket=" + width.String()
	switch numbers {
	case timebucket.Seconds:
		text += " unit=seconds"
	case timebucket.Milliseconds:
		text += " unit=milliseconds"
	}
	return text
}

// String describes the shape in words.
func (s Shape) String() string {
	switch {
	case s.Shards == 0:
		return "a plain table"
	case s.Timed() && s.Shards == 1:
		return fmt.Sprintf("buckets of %s", s.Width)
	case s.Timed():
		return fmt.Sprintf("buckets of %s with %d shards each", s.Width, s.Shards)
	case s.Rolls() && s.Max == shard.MaxShards:
		return fmt.Sprintf("shards of %d items", s.Rows)
	case s.Rolls():
		return fmt.Sprintf("at most %d shards of %d items", s.Max, s.Rows)
	}
	return fmt.Sprintf("%d shards", s.Shards)
}

// Declared returns the shape that a tag on a table in use declares. It is that of a plain table if the
// value is empty. now is the table's layout; nil: it is a plain one.
func Declared(t *schema.Table, now *shard.Layout, value string) (s Shape, err error) {
	if strings.TrimSpace(value) == "" {
		return s, nil
	}
	l, err := parseLayout(t.Name, value)
	if err != nil {
		return s, err
	}
	switch {
	case !slices.Contains([]shard.Strategy{shard.Calculated, shard.Time, shard.Rollover}, l.Strategy):
		return s, refuse(t.Name, "strategy %q: a table in use gets the strategy 'calculated', 'time' or 'rollover'", l.Strategy)
	case now != nil && now.Strategy == shard.Rollover && !strings.Contains(value, "strategy="):
		return s, refuse(t.Name, "its shards are ranges of the sort key (strategy 'rollover'); say the strategy, too: 'strategy=calculated shards=%d', for instance", l.N)
	case now != nil && now.Strategy == shard.Time && !strings.Contains(value, "strategy="):
		return s, refuse(t.Name, "its partitions are buckets of time; say the strategy, too: '%s shards=%d' for as many shards in each bucket, or 'strategy=calculated shards=%d' for a table without buckets",
			timedText(now.Width, now.Numbers), l.N, l.N)
	case l.Strategy == shard.Time && len(t.Key.Range) == 1:
		err = checkTimed(t, l)
	}
	return ShapeOf(l), err
}

// Target is the layout that a change gives its keys.
type Target struct {
	Key    attribute.Value // the one partition key of the change; Invalid: all keys without places of their own
	Shape                  // Shards is at least 1
	Places shard.Range     // of each key; of buckets of time, only the Base
}

// First returns the places of the first layout of a table that was plain, of which no key has been.
func (s Shape) First() shard.Range {
	if s.Timed() {
		return NextBuckets(0, s.Shards) // so that none is shard.PlainPlace
	}
	return shard.Range{N: s.Shards}
}

// MaxBase is the highest base of a table's places.
const MaxBase = 1 << 50

// NextBuckets returns the places for buckets of time. used is the highest place that any key ever had.
func NextBuckets(used, shards int) shard.Range {
	return shard.Range{N: shards, Base: shard.LotAfter(used)}
}
