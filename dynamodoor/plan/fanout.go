// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Fanout is the plan of a Query that reads several shards. The caller reads rows in order, as many
// as Page returns, and reads each shard with the requests of Fetch. It passes the rows to
// Result.Add. When Add reports that the page is full, the caller answers with Result.Answer.
type Fanout struct {
	ShardQuery
	Way    Way
	Shards []int // the shards to read, if the way is Merged or InTurn
	Start  *Row  // read after this row; nil: from the beginning
}

// Way is the order in which a Query reads shards.
type Way int

const (
	Merged    Way = iota // all Shards, by the sort key
	InTurn               // Shards, one after the other: the ranges of a rollover
	ByBuckets            // Parts of Buckets, one after the other
	BySlices             // Slices, one after the other: a table whose layout is being changed to or from one with a directory
)

// Err implements Plan.
func (f *Fanout) Err(err error) error { return visibleError(err, nil) }

// String implements Plan.
func (f *Fanout) String() string {
	some, text := f.Shards, fmt.Sprintf("%d shards", len(f.Shards))
	switch f.Way {
	case InTurn:
		text += ", one after the other,"
	case BySlices:
		return fmt.Sprintf("the places of two layouts of %s, by slices of the sort key, merged by %s", f.name(), f.sort)
	case ByBuckets:
		b := f.Buckets()
		some, text = []int{b.timing.place(b.first, 0)}, b.timing.describe(b.first, b.last)
	}
	s := fmt.Sprintf("%s of %s, merged by %s", text, f.name(), f.sort)
	if fetch := f.Fetch(some[0], f.Start, nil, 0); fetch != nil {
		s += "\n  " + fetch.Describe()
	}
	for _, text := range f.then() {
		s += "\n  then " + text
	}
	return s
}

// then returns what the door does with the rows.
func (f *Fanout) then() (then []string) {
	if f.query.Filter != nil {
		then = append(then, fmt.Sprintf("filter %s", f.query.Filter))
	}
	if f.query.Projection != nil {
		then = append(then, fmt.Sprintf("projection %s", f.query.Projection))
	}
	if f.query.Select == api.SelectCount {
		then = append(then, "count")
	}
	if f.query.Limit > 0 {
		then = append(then, fmt.Sprintf("limit %d", f.query.Limit))
	}
	return then
}

func (f *Fanout) explain(out *Explained, list timebucket.Directory) error {
	out.Then, out.Order = f.then(), f.sort
	switch f.Way {
	case Merged:
		out.Access = "all shards, merged"
		out.visit(f.table, f.Shards...)
	case InTurn:
		out.Access = "the shards of its range, one after the other, as many as the page needs"
		out.visit(f.table, f.Shards...)
	default:
		out.Access = "the buckets of its range, one after the other, as many as the page needs"
		b := f.Buckets()
		for part, err := range b.Parts(list, nil) {
			if err != nil {
				return err
			}
			if out.visit(f.table, part.Shards...); out.More {
				break
			}
		}
	}
	for _, n := range out.Shards {
		if q := f.Fetch(n, f.Start, nil, f.query.Limit); q != nil {
			out.add(q)
		}
	}
	return nil
}

// Buckets returns the buckets of time that the Query reads.
func (f *Fanout) Buckets() Buckets {
	b := Buckets{query: &f.ShardQuery, timing: f.table.timing}
	b.first, b.last = b.timing.between(f.remaining())
	return b
}

// remaining returns the interval of sort keys that the Query reads from its start on.
func (f *Fanout) remaining() interval {
	var start attribute.Value
	if f.Start != nil {
		start = f.Start.Sort
	}
	return remaining(&f.keys, f.backward, start)
}

// remaining returns the interval of sort keys that a Query reads from a start on; Invalid: from the
// beginning.
func remaining(k *expression.KeyRange, backward bool, start attribute.Value) interval {
	i := intervalOf(k)
	switch {
	case !bounded(start):
		return i
	case backward:
		return i.to(start)
	}
	return i.from(start)
}
