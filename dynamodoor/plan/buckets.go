// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Bucket is a bucket of a logical partition.
type Bucket struct {
	in     *stored
	hash   attribute.Value
	number int64
}

// BucketOf returns the bucket of the item with a logical key, or none if the table has no buckets.
func (s *stored) BucketOf(key attribute.Item) []Bucket {
	if s.timing == nil {
		return nil
	}
	hash, sort := s.of(key)
	return []Bucket{{s, hash, s.timing.of(sort)}}
}

// Number returns the number of the bucket.
func (b *Bucket) Number() int64 { return b.number }

// AppendPartition appends the directory's name of the bucket's logical partition.
func (b *Bucket) AppendPartition(dst []byte) []byte { return b.in.directory().append(dst, b.hash) }

// Period returns the number of the period in which a time is. During a period, a door remembers that it
// has added the bucket. The first period is long enough for all items that come in time. The door adds
// the bucket again for later items, so that a bucket without items can be removed from the directory.
func (b *Bucket) Period(now time.Time) int64 {
	g := b.in.timing.grid
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

// Buckets are the buckets of time that a Query reads.
type Buckets struct {
	query       *ShardQuery
	timing      *timing
	first, last int64 // that can have rows of the rest of the Query
}

// Partition returns the directory's name of the logical partition.
func (b *Buckets) Partition() string { return b.query.table.directory().name(b.query.keys.Hash[0]) }

// SharesEntries reports whether other logical partitions can have the same name in the directory.
func (b *Buckets) SharesEntries() bool { return b.query.table.directory().shares(b.query.keys.Hash[0]) }

// Late reports whether a bucket ended so long ago that items of it are late.
func (b *Buckets) Late(bucket int64, now time.Time) bool {
	return now.UnixMilli()-b.timing.grid.Start(bucket+1) > b.Remembered().Milliseconds()
}

// Remembered returns Remembered of the table's buckets.
func (b *Buckets) Remembered() time.Duration { return Remembered(b.timing.grid) }

// Within reports whether the Query asks for all items of a bucket.
func (b *Buckets) Within(bucket int64) bool { return b.first < bucket && bucket < b.last }

// Last returns the last bucket that a partition of the table can have.
func (b *Buckets) Last() int64 { return b.timing.grid.Last() }

// AnyOf returns the requests which find out whether a bucket has an item, one for each shard.
func (b *Buckets) AnyOf(bucket int64) []*api.Query {
	t := b.query.table
	var out []*api.Query
	for _, place := range b.timing.placesOf([]int64{bucket}) {
		k := expression.KeyRange{Hash: []attribute.Value{t.partition(b.query.keys.Hash[0], place)}}
		out = append(out, &api.Query{
			Read:         api.Read{Table: t.Physical, Consistent: true, Limit: 1, Select: api.SelectCount},
			KeyCondition: k.Condition([]string{PartitionKey}, []string{t.sort.Name}),
		})
	}
	return out
}

// Part is what a Query reads at a time.
type Part struct {
	Shards  []int   // of consecutive buckets
	Buckets []int64 // in the order of reading
}

// Parts yields the buckets in the order of the answer. list is the directory's list for Partition. least
// returns how many buckets the next part should have at least. There is always a first part, because the
// store must decide whether the client may read the table.
func (b *Buckets) Parts(list timebucket.Directory, least func(read int) int) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		any := false
		for run, err := range b.timing.grid.Runs(b.first, b.last, b.query.backward, list, least) {
			if err != nil {
				yield(Part{}, err)
				return
			}
			any = true
			if !yield(Part{Shards: b.timing.placesOf(run.Buckets), Buckets: run.Buckets}, nil) {
				return
			}
		}
		if !any {
			yield(Part{Shards: []int{b.timing.place(b.first, 0)}, Buckets: []int64{b.first}}, nil)
		}
	}
}

// End returns a sort key between the items of a part and those of later ones. It is no item's key.
func (b *Buckets) End(p Part) attribute.Value {
	return b.timing.edge(p.Buckets[len(p.Buckets)-1], b.query.backward)
}
