// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// While the layout of a table is changed to or from buckets of time, a Query reads the places of both
// layouts. It goes through the logical partition by slices of time that have only a few buckets of
// either layout, and reads of each slice all places that can have items of it. An item's sort key tells
// its slice, so both of its places are read in one slice.
//
// A bucket is in the directory before its first item is sent, or moved there. So the buckets that the
// directory has when a slice is read are those of all items that are in the slice by then.

// Slice is what a Query reads at a time during a change to or from buckets of time.
type Slice struct {
	Fanout *Fanout // the Query, of the slice's sort keys alone
	Shards []int   // of both layouts

	within interval
}

// Moves reports whether the Query reads Slices.
func (f *Fanout) Moves() bool { return f.timed && f.table.from != nil }

// sides returns the table in the layouts that the Query reads.
func (f *Fanout) sides() []*stored { return []*stored{f.table.from, &f.table.stored} }

// Slices yields the slices that the Query reads, in the order of the answer. list returns the directory's
// list of a logical partition whose last possible bucket is last. There is always a first slice with a
// shard, because the store must decide whether the client may read the table.
func (f *Fanout) Slices(list func(partition string, last int64) timebucket.Directory) iter.Seq2[*Slice, error] {
	return func(yield func(*Slice, error) bool) {
		rest, any := f.remaining(), false
		for n, more := 1, !rest.empty(); more; n = min(2*n, timebucket.MostPlaces) {
			s := &Slice{}
			var err error
			if s.within, rest, more, err = f.cut(list, rest, n); err == nil {
				s.Shards, err = f.placesIn(list, s.within)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(s.Shards) == 0 {
				continue
			}
			s.Fanout, any = f.narrowed(s.within), true
			if !yield(s, nil) {
				return
			}
		}
		if !any {
			yield(&Slice{Fanout: f, Shards: []int{f.anyPlace()}}, nil)
		}
	}
}

// narrowed returns the Query of an interval of its sort keys.
func (f *Fanout) narrowed(i interval) *Fanout {
	return &Fanout{Start: f.Start, timed: f.timed, table: f.table, query: f.query, keys: i.keyRange(f.keys), sort: f.sort, shardOf: f.shardOf, partition: f.partition}
}

// cut divides an interval of sort keys into a first part, which the Query reads first, and the rest. The
// first part has at most n buckets of either layout. more says whether there is a rest.
func (f *Fanout) cut(list func(string, int64) timebucket.Directory, i interval, n int) (first, rest interval, more bool, err error) {
	down := f.query.Backward
	var edge attribute.Value // the least sort key of the later part of the time
	for _, s := range f.sides() {
		t := s.timing
		if t == nil {
			continue
		}
		most := min(n, max(1, timebucket.MostPlaces/t.grid.Shards))
		found, err := t.in(list(s.directoryOf(f), t.grid.Last()), i, down, most+1)
		if err != nil {
			return i, i, false, err
		}
		if len(found) <= most {
			continue
		}
		b := found[most-1]
		if !down {
			b++
		}
		at := t.least(b)
		if c, _ := attribute.Compare(at, edge); !more || down == (c > 0) {
			edge = at
		}
		more = true
	}
	switch {
	case !more:
		return i, i, false, nil
	case down:
		return i.from(edge), i.to(before(edge)), true, nil
	}
	return i.to(before(edge)), i.from(edge), true, nil
}

// placesIn returns the places, in both layouts, that can have items of an interval.
func (f *Fanout) placesIn(list func(string, int64) timebucket.Directory, i interval) (places []int, err error) {
	for _, s := range f.sides() {
		t := s.timing
		if t == nil {
			spread := s.Layout.Spread(valueBytes(f.keys.Hash[0]))
			places = append(places, spread.Places()...)
			continue
		}
		for limit := 2 * timebucket.MostPlaces; ; limit *= 2 {
			found, err := t.in(list(s.directoryOf(f), t.grid.Last()), i, false, limit)
			if err != nil {
				return nil, err
			}
			if len(found) < limit {
				places = append(places, t.placesOf(found)...)
				break
			}
		}
	}
	return places, nil
}

// anyPlace returns a place of the logical partition.
func (f *Fanout) anyPlace() int {
	if t := f.table.timing; t != nil {
		return t.place(0, 0)
	}
	spread := f.table.Layout.Spread(valueBytes(f.keys.Hash[0]))
	return spread.Last()
}

// directoryOf returns the directory's name of the logical partition that a Query reads.
func (s *stored) directoryOf(f *Fanout) string { return string(s.appendPartition(nil, f.keys.Hash[0])) }

// in returns at most limit buckets that can have items of an interval: the first ones in ascending order,
// or, if down is set, the last ones in descending order. It asks the directory only if there can be many.
func (t *timing) in(list timebucket.Directory, i interval, down bool, limit int) (out []int64, err error) {
	first, last := t.between(i)
	if last-first >= timebucket.Few {
		return list(first, last, down, limit)
	}
	for b := first; b <= last; b++ {
		out = append(out, b)
	}
	if down {
		slices.Reverse(out)
	}
	return out[:min(limit, len(out))], nil
}

// between returns the first and the last bucket that can have items of an interval.
func (t *timing) between(i interval) (first, last int64) {
	bound := func(v attribute.Value) []byte {
		if !bounded(v) {
			return nil
		}
		return valueBytes(v)
	}
	return t.grid.Between(t.kind, bound(i.low), bound(i.high))
}

// least returns the least sort key that is in a bucket or in a later one.
func (t *timing) least(bucket int64) attribute.Value {
	text := string(t.grid.Least(t.kind, bucket))
	if t.kind == timebucket.Seconds || t.kind == timebucket.Milliseconds {
		v, _ := attribute.Number(text) // digits, and perhaps a sign
		return v
	}
	return attribute.String(text)
}

// AnswerAfterSlice returns the client's answer if the page ends after a slice that is not the last one,
// although it is not full. Its LastEvaluatedKey is a position between sort keys, which may be no item's.
func (r *Result) AnswerAfterSlice(s *Slice) *api.ItemsResponse {
	f, at := r.fanout, s.within.high
	if f.query.Backward {
		at = s.within.low
	}
	r.out.LastKey = f.table.key(f.keys.Hash[0], at)
	return &r.out
}
