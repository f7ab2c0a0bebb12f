// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// The physical partitions of a table of strategy time are buckets of time, each of one shard or
// several. A directory has the buckets of each logical partition. A bucket is in it before its
// first item is sent. A Query reads one bucket after the other, as many as its page needs.

// timing is the layout of a table of strategy time.
type timing struct {
	grid timebucket.Grid
	kind timebucket.Kind // of the sort key
	base int             // the places of the grid begin after it
}

// timingOf returns the timing of a layout, or nil if it is of another strategy.
func timingOf(l *shard.Layout) *timing {
	if l == nil || l.Strategy != shard.Time {
		return nil
	}
	return &timing{l.Grid(), l.SortKey(), l.Base}
}

// place returns the place of a bucket's shard. Shards count from 0.
func (t *timing) place(bucket int64, shard int) int { return t.base + t.grid.Place(bucket, shard) }

// placesOf returns the places of buckets, in order.
func (t *timing) placesOf(buckets []int64) []int {
	places := t.grid.PlacesOf(buckets)
	for i := range places {
		places[i] += t.base
	}
	return places
}

// bucketAt returns the bucket of a place.
func (t *timing) bucketAt(place int) int64 { return t.grid.Bucket(place - t.base) }

// of returns the bucket of a sort key.
func (t *timing) of(sort attribute.Value) int64 { return t.grid.OfValue(t.kind, valueBytes(sort)) }

// Timed reports whether the table's physical partitions are buckets of time.
func (p *placement) Timed() bool { return p.timing != nil }

// appendPlace appends a shard as it is in a physical partition key. Only buckets before 1970 have
// negative numbers. A minus sign there would look like the hyphen before the shard.
func appendPlace(dst []byte, shard int) []byte {
	if shard < 0 {
		dst, shard = append(dst, negativePlace), -shard
	}
	return strconv.AppendInt(dst, int64(shard), 10)
}

const negativePlace = 'n'

// parsePlace parses what appendPlace appends.
func parsePlace(text string) (int, error) {
	digits, negative := strings.CutPrefix(text, string(negativePlace))
	n, err := strconv.ParseUint(digits, 10, strconv.IntSize-1)
	if negative {
		return -int(n), err
	}
	return int(n), err
}

// longestPlace returns a shard of a key whose text is as long as any. Under rollover, it does not count
// the shards that the key will have.
func (p *placement) longestPlace(hash attribute.Value) int {
	if t := p.timing; t != nil {
		if t.base == 0 {
			return t.place(t.grid.First(), 0)
		}
		return t.place(t.grid.Last(), 0)
	}
	if p.Rolls() {
		places := p.placesOf(hash)
		return places.Last()
	}
	spread := p.Layout.Spread(valueBytes(hash))
	return spread.Last()
}

// LongestPlace returns the length of the longest text that a shard has in a physical partition key. It does
// not count the keys with places of their own.
func (p *placement) LongestPlace() int {
	spread := p.Layout.Default()
	place := spread.Last()
	if p.timing != nil {
		place = p.longestPlace(attribute.Value{})
	}
	return len(appendPlace(nil, place))
}

// CheckTime returns an error if an item would be at no time.
func (p *placement) CheckTime(key attribute.Item) error {
	if p.timing == nil {
		return nil
	}
	sort, _ := key.Get(p.sort.Name)
	if _, ok := p.timing.kind.Instant(valueBytes(sort)); ok {
		return nil
	}
	const shown = 64
	text := sort.Text()
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return refuse(p.name, "the sort key %s is %s, which tells no time; %s", p.sort.Name, strconv.Quote(text), p.timing.wanted())
}

// wanted says what a sort key must be.
func (t *timing) wanted() string {
	switch t.kind {
	case timebucket.Seconds:
		return "write the seconds since 1970-01-01T00:00:00Z, of the years 0000 to 9999"
	case timebucket.Milliseconds:
		return "write the milliseconds since 1970-01-01T00:00:00Z, of the years 0000 to 9999"
	case timebucket.DateText:
		return "begin it with a date, such as 2026-11-25, or with a time in UTC, such as 2026-11-25T10:00:00Z or 2026-11-25T10:00:00.123Z; any text may follow, such as #id"
	}
	return "begin it with a time in UTC, such as 2026-11-25T10:00:00Z or 2026-11-25T10:00:00.123Z; any text may follow, such as #id"
}

// describe says which buckets a Query can visit.
func (t *timing) describe(first, last int64) string {
	at := func(b int64) string { return timebucket.TextOf(t.grid.Start(b), timebucket.DateTime) + "Z" }
	return fmt.Sprintf("the buckets of %s, from that of %s to that of %s, one after the other,", t.grid.Width, at(first), at(last))
}

// edge returns a sort key that comes after all items of a bucket and before those of later ones.
// If backward is set, it comes before all items of the bucket, or is the first one's, and after
// those of earlier ones.
func (t *timing) edge(bucket int64, backward bool) attribute.Value {
	at := t.grid.Start(bucket)
	if !backward {
		at = t.grid.Start(bucket + 1)
	}
	switch {
	case t.kind == timebucket.Milliseconds && backward:
		return attribute.Int(at)
	case t.kind == timebucket.Milliseconds:
		return attribute.PreviousNumber(attribute.Int(at))
	case t.kind == timebucket.Seconds && backward:
		return attribute.Int(at / int64(timebucket.Second))
	case t.kind == timebucket.Seconds:
		return attribute.PreviousNumber(attribute.Int(at / int64(timebucket.Second)))
	case backward:
		return attribute.String(timebucket.TextOf(at, t.kind))
	}
	before := timebucket.TextOf(at-int64(timebucket.Second), t.kind)
	if t.kind == timebucket.DateText {
		return last(attribute.String(before)) // any text may follow a date
	}
	return attribute.String(before + "~")
}

// checkTimed returns an error if a table cannot have a layout of strategy time.
func checkTimed(t *schema.Table, l *shard.Layout) error {
	sort := t.RangeName()
	switch kind := t.Type(sort); {
	case len(l.By) > 0 && l.By[0] != sort:
		return refuse(t.Name, "by=%s is not the sort key; the buckets of time are those of the sort key, so write by=%s", l.By[0], sort)
	case kind == attribute.B:
		return refuse(t.Name, "the sort key %s is binary and tells no time; strategy 'time' needs a string that begins like 2026-11-25T10:00:00Z, or a number of seconds or milliseconds", sort)
	case kind == attribute.N && l.Numbers == 0:
		return refuse(t.Name, "the sort key %s is a number; say what it counts: add unit=seconds or unit=milliseconds", sort)
	case kind == attribute.S && l.Numbers != 0:
		return refuse(t.Name, "the sort key %s is a string, which has no unit; leave unit out", sort)
	case len(t.Local) > 0:
		return refuse(t.Name, "local secondary index %s has another order than that of time, so that each Query of it would read all buckets of its partition key; "+
			"make it a global secondary index with the same keys", t.Local[0].Name)
	}
	return nil
}

// These options are those of strategy time.
const (
	optionBy     = "by"
	optionBucket = "bucket"
	optionKeep   = "keep"
	optionUnit   = "unit"
)

// timedLayout returns the layout of strategy time that options describe. By is empty if the options
// do not name it.
func timedLayout(table string, options map[string]string) (*shard.Layout, error) {
	by, named := options[optionBy]
	unit, counts := options[optionUnit]
	delete(options, optionUnit)
	options[optionBy] = `"sort key"`
	switch _, keeps := options[optionKeep]; {
	case keeps:
		return nil, refuse(table, "keep: DynamoDB cannot delete a partition as a whole, and to delete item by item costs a write for each; "+
			"leave keep out, and let Time to Live (UpdateTimeToLive) delete the items, which costs nothing")
	case options[optionBucket] == "":
		return nil, refuse(table, "strategy 'time' needs the length of a bucket; add bucket=1h, for instance")
	case named && by == "":
		return nil, refuse(table, "by names no attribute; write the sort key's name, or leave by out")
	}
	l, err := shard.Parse(options)
	if err != nil {
		return nil, refuse(table, "%s", parseReason(err))
	}
	if l.By = nil; named {
		l.By = []string{by}
	}
	switch {
	case !counts:
	case unit == "seconds":
		l.Numbers = timebucket.Seconds
	case unit == "milliseconds":
		l.Numbers = timebucket.Milliseconds
	default:
		return nil, refuse(table, "unit=%s: a number counts unit=seconds or unit=milliseconds", unit)
	}
	return l, nil
}
