// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// While the layout of a table is changed to or from buckets of time, or rollover, a Query reads the
// places of both layouts. It goes through the logical partition by slices of the sort key that have only a
// few buckets, or ranges of a rollover, of either layout, and reads of each slice all places that can have
// items of it. An item's sort key tells its slice, so both of its places are read in one slice.
//
// A bucket is in the directory before its first item is sent, or moved there. So the buckets that the
// directory has when a slice is read are those of all items that are in the slice by then. The ranges of a
// rollover do not change during a change.

// Slice is what a Query reads at a time during such a change.
type Slice struct {
	Query  *ShardQuery // of the slice's sort keys alone
	Shards []int       // of both layouts
}

// End returns the sort key at which a slice ends that is not the last one. It may be no item's.
func (s *Slice) End() attribute.Value {
	i := intervalOf(&s.Query.keys)
	if s.Query.backward {
		return i.low
	}
	return i.high
}

// Slices yields the slices that the Query reads, in the order of the answer. list returns the buckets that
// the directory has of a logical partition. No bucket of the partition can be later than last. Slices always
// yields a slice with a shard, because the store must decide whether the client may read the table.
func (f *Fanout) Slices(list func(partition string, last int64) timebucket.Directory) iter.Seq2[*Slice, error] {
	c := cutter{&f.ShardQuery, list}
	return func(yield func(*Slice, error) bool) {
		rest, any := f.remaining(), false
		for n, more := 1, !rest.empty(); more; n = min(2*n, timebucket.MostPlaces) {
			var first interval
			var places []int
			var err error
			if first, rest, more, err = c.cut(rest, n); err == nil {
				places, err = c.placesIn(first)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(places) == 0 {
				continue
			}
			any = true
			if !yield(&Slice{Query: f.narrowed(first), Shards: places}, nil) {
				return
			}
		}
		if !any {
			yield(&Slice{Query: &f.ShardQuery, Shards: []int{f.table.anyPlace(f.keys.Hash[0])}}, nil)
		}
	}
}

// narrowed returns the Query of an interval of its sort keys.
func (s *ShardQuery) narrowed(i interval) *ShardQuery {
	return &ShardQuery{rowReader: s.rowReader, rowOrder: s.rowOrder, query: s.query, keys: i.keyRange(s.keys), shardOf: s.shardOf, partition: s.partition}
}

// cutter cuts a Query into slices.
type cutter struct {
	query *ShardQuery
	list  func(partition string, last int64) timebucket.Directory
}

// layouts returns the table in the layouts that the Query reads.
func (c *cutter) layouts() [2]*stored { return [2]*stored{c.query.table.from, &c.query.table.stored} }

// buckets returns what timing.in returns of a layout with buckets.
func (c *cutter) buckets(in *stored, i interval, down bool, limit int) ([]int64, error) {
	partition := in.directory().name(c.query.keys.Hash[0])
	return in.timing.in(c.list(partition, in.timing.grid.Last()), i, down, limit)
}

// cut divides an interval of sort keys into a first part, which the Query reads first, and the rest. The
// first part has at most n buckets or ranges of either layout. more says whether there is a rest.
func (c *cutter) cut(i interval, n int) (first, rest interval, more bool, err error) {
	down := c.query.backward
	var edge attribute.Value // the least sort key of the part with the greater ones
	for _, in := range c.layouts() {
		at, err := c.edge(in, i, n)
		if err != nil {
			return i, i, false, err
		}
		if !bounded(at) {
			continue
		}
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

// edge returns where a layout divides an interval of sort keys: the least sort key of the part with the
// greater ones. It is Invalid if the interval has at most n buckets or ranges.
func (c *cutter) edge(in *stored, i interval, n int) (attribute.Value, error) {
	var found []int64
	most := n
	switch t := in.timing; {
	case t != nil:
		most = min(n, max(1, timebucket.MostPlaces/t.grid.Shards))
		var err error
		if found, err = c.buckets(in, i, c.query.backward, most+1); err != nil {
			return attribute.Value{}, err
		}
	case in.Rolls():
		for _, shard := range c.rolled(in).shards(i, c.query.backward) {
			found = append(found, int64(shard))
		}
	}
	if len(found) <= most {
		return attribute.Value{}, nil
	}
	first := found[most-1] // of the part with the greater sort keys
	if !c.query.backward {
		first++
	}
	if in.timing != nil {
		return in.timing.least(first), nil
	}
	return c.rolled(in).Bounds[first-2], nil
}

// rolled returns the ranges of the Query's partition key in a layout of strategy rollover.
func (c *cutter) rolled(in *stored) *Rolled { return in.rolledOf(c.query.keys.Hash[0]) }

// placesIn returns the places, in both layouts, that can have items of an interval.
func (c *cutter) placesIn(i interval) (places []int, err error) {
	for _, in := range c.layouts() {
		if in.Rolls() {
			places = append(places, in.rolledIn(c.query.keys.Hash[0], i, false)...)
			continue
		}
		if in.timing == nil {
			places = shard.AppendPlaces(places, in.placesOf(c.query.keys.Hash[0]))
			continue
		}
		for limit := 2 * timebucket.MostPlaces; ; limit *= 2 {
			found, err := c.buckets(in, i, false, limit)
			if err != nil {
				return nil, err
			}
			if len(found) < limit {
				places = append(places, in.timing.placesOf(found)...)
				break
			}
		}
	}
	return places, nil
}

// anyPlace returns a place of a logical partition.
func (p *placement) anyPlace(hash attribute.Value) int {
	if p.timing != nil {
		return p.timing.place(0, 0)
	}
	places := p.placesOf(hash)
	return places.Last()
}

// in returns at most limit buckets that can have items of an interval: the first ones in ascending order,
// or, if down is set, the last ones in descending order. It asks the directory only if there can be many.
func (t *timing) in(list timebucket.Directory, i interval, down bool, limit int) (out []int64, err error) {
	first, last := t.between(i)
	if !timebucket.Few(first, last) {
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
