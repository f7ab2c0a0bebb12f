// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
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

// longestPlace returns a shard of a key whose text is as long as any.
func (p *placement) longestPlace(hash attribute.Value) int {
	if t := p.timing; t != nil {
		if t.base == 0 {
			return t.place(t.grid.First(), 0)
		}
		return t.place(t.grid.Last(), 0)
	}
	if p.Rolls() {
		return p.Layout.Max
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

// Bucket is a bucket of a logical partition.
type Bucket struct {
	table  *Table
	hash   attribute.Value
	number int64
}

// bucketOf returns the bucket of an item, or none if the table has no buckets.
func (t *Table) bucketOf(key attribute.Item) []Bucket {
	if t.timing == nil {
		return nil
	}
	hash, sort := t.of(key)
	return []Bucket{{t, hash, t.timing.of(sort)}}
}

// BucketOf returns the bucket of the item with a logical key, or none if the table has no buckets.
func (t *Table) BucketOf(key attribute.Item) []Bucket { return t.bucketOf(key) }

// Number returns the number of the bucket.
func (b *Bucket) Number() int64 { return b.number }

// AppendPartition appends the directory's name of the bucket's logical partition.
func (b *Bucket) AppendPartition(dst []byte) []byte { return b.table.appendPartition(dst, b.hash) }

// Period returns the number of the period in which a time is. During a period, a door remembers that it
// has added the bucket. The first period is long enough for all items that come in time. The door adds
// the bucket again for later items, so that a bucket without items can be removed from the directory.
func (b *Bucket) Period(now time.Time) int64 {
	g := b.table.timing.grid
	since, period := now.UnixMilli()-g.Start(b.number), Remembered(g).Milliseconds()
	if since < 0 {
		return -1
	}
	return since / period
}

// Remembered returns the longest time for which a door may remember that it has added a bucket.
func Remembered(g timebucket.Grid) time.Duration {
	return time.Duration(2*int64(g.Width)+time.Hour.Milliseconds()) * time.Millisecond
}

// Late reports whether a bucket ended so long ago that items of it are late.
func (f *Fanout) Late(bucket int64, now time.Time) bool {
	g := f.table.timing.grid
	return now.UnixMilli()-g.Start(bucket+1) > Remembered(g).Milliseconds()
}

// Remembered returns Remembered of the table's buckets.
func (f *Fanout) Remembered() time.Duration { return Remembered(f.table.timing.grid) }

// Within reports whether the Query asks for all items of a bucket.
func (f *Fanout) Within(bucket int64) bool {
	first, last := f.span()
	return first < bucket && bucket < last
}

// AnyOf returns the requests which find out whether a bucket has an item, one for each shard.
func (f *Fanout) AnyOf(bucket int64) []*api.Query {
	t := f.table
	var out []*api.Query
	for _, place := range t.timing.placesOf([]int64{bucket}) {
		k := expression.KeyRange{Hash: []attribute.Value{t.partition(f.keys.Hash[0], place)}}
		out = append(out, &api.Query{
			Read:         api.Read{Table: t.Physical, Consistent: true, Limit: 1, Select: api.SelectCount},
			KeyCondition: k.Condition([]string{PartitionKey}, []string{t.sort.Name}),
		})
	}
	return out
}

// longestPartition is the number of bytes of a partition key that the directory's name has. Keys
// that begin with the same bytes share their entries. That is legal: a bucket in the directory may
// have no items.
const longestPartition = 1900

// appendPartition appends the directory's name of a logical partition. It contains the id of the
// physical table, so that a table does not inherit the buckets of an earlier one of its name, and the
// base of the layout, so that the table does not inherit those of an earlier layout.
func (s *stored) appendPartition(dst []byte, hash attribute.Value) []byte {
	key := attribute.KeyText(hash)
	if len(key) > longestPartition {
		key = strings.ToValidUTF8(key[:longestPartition], "")
	}
	dst = append(dst, s.id...)
	if base := s.Layout.Base; base > 0 {
		dst = strconv.AppendInt(append(dst, '.'), int64(base), 10)
	}
	return append(append(dst, '/'), key...)
}

// Directory returns the beginning of the directory's names of all logical partitions.
func (s *stored) Directory() string { return string(s.appendPartition(nil, attribute.String(""))) }

// InParts reports whether the Query reads the shards of Parts one after the other, and does not merge
// Shards.
func (f *Fanout) InParts() bool { return f.timed || f.rolls }

// Partition returns the directory's name of the logical partition that the Query reads.
func (f *Fanout) Partition() string { return string(f.table.appendPartition(nil, f.keys.Hash[0])) }

// SharesEntries reports whether other logical partitions can have the same name in the directory.
func (f *Fanout) SharesEntries() bool {
	const cut = utf8.UTFMax - 1 // bytes of a character that a longer key can lose with the rest
	return len(attribute.KeyText(f.keys.Hash[0])) >= longestPartition-cut
}

// remaining returns the interval of sort keys that the Query reads from its start on.
func (f *Fanout) remaining() interval {
	i := intervalOf(&f.keys)
	switch {
	case f.Start == nil:
		return i
	case f.query.Backward:
		return i.to(f.Start.Sort)
	}
	return i.from(f.Start.Sort)
}

// span returns the first and the last bucket that can have rows of the rest of the Query.
func (f *Fanout) span() (first, last int64) { return f.table.timing.between(f.remaining()) }

// LastBucket returns the last bucket that a partition of the table can have. It returns 0 for a table
// without buckets.
func (f *Fanout) LastBucket() int64 {
	if f.table.timing == nil {
		return 0
	}
	return f.table.timing.grid.Last()
}

// Parts yields the buckets that the Query reads, in the order of the answer. list is the directory's
// list for Partition. least returns how many buckets the next part should have at least. There is always a
// first part, because the store must decide whether the client may read the table.
func (f *Fanout) Parts(list timebucket.Directory, least func(read int) int) iter.Seq2[Part, error] {
	if f.rolls {
		return func(yield func(Part, error) bool) {
			for i := range f.Shards {
				if !yield(Part{Shards: f.Shards[i : i+1]}, nil) {
					return
				}
			}
		}
	}
	timing := f.table.timing
	return func(yield func(Part, error) bool) {
		first, last := f.span()
		any := false
		for run, err := range timing.grid.Runs(first, last, f.query.Backward, list, least) {
			if err != nil {
				yield(Part{}, err)
				return
			}
			any = true
			if !yield(Part{Shards: timing.placesOf(run.Buckets), Buckets: run.Buckets, Ends: true}, nil) {
				return
			}
		}
		if !any {
			yield(Part{Shards: []int{timing.place(first, 0)}, Buckets: []int64{first}, Ends: true}, nil)
		}
	}
}

// Part is what a Query reads at a time.
type Part struct {
	Shards  []int   // of consecutive buckets; under rollover, one shard
	Buckets []int64 // in the order of reading
	Ends    bool    // a page can end after the part, although it is not full
}

// AnswerAfter returns the client's answer if the page ends after a part, although it is not full.
// Its LastEvaluatedKey is a position between buckets, which is no item's key.
func (r *Result) AnswerAfter(p Part) *api.ItemsResponse {
	f := r.fanout
	r.out.LastKey = f.table.key(f.keys.Hash[0], f.table.timing.edge(p.Buckets[len(p.Buckets)-1], f.query.Backward))
	return &r.out
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
