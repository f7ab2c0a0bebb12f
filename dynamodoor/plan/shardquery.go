// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// PageSize is the number of bytes of items that a page reads. A page ends with the item that
// reaches it. DynamoDB: 1 MB, before the filter.
const PageSize = 1 << 20

// guess is the number of rows that a page is assumed to have before any row is known. With it, a
// page of small items takes few rounds, and a page of large items reads only a few rows too many.
const guess = 256

// ShardQuery is a Query as single shards answer it: the requests for their rows, and the rows in
// their answers.
type ShardQuery struct {
	rowReader
	rowOrder
	InOrder bool // items of a shard come before those of shards with higher numbers, which are buckets of time

	query  *api.Query
	keys   expression.KeyRange
	ranged bool  // the shards are the ranges of a rollover, which are read in turn: rows beyond a range are not shown
	began  int64 // the generation in which the read of an index began whose positions are marked

	shardOf   func(key attribute.Item) int
	partition func(shard int) (names []string, values []attribute.Value)
	seq       atomic.Int64 // sequence number of the last row
}

// one returns the plan of the Query if one shard answers it.
func (s *ShardQuery) one(shard int) Plan {
	p := *s.query
	p.Table = s.table.Physical
	p.KeyCondition = s.condition(s.keys, shard)
	if s.query.Start != nil {
		p.Start = s.table.physicalStart(s.query.Start, s.index)
	}
	return reading(s.table, &p)
}

// condition returns the physical key condition for a range in one shard.
func (s *ShardQuery) condition(k expression.KeyRange, shard int) *expression.KeyCondition {
	names, values := s.partition(shard)
	k.Hash = values
	return k.Condition(names, []string{s.sort})
}

// row returns a position after the item with these keys in a shard. For shard 0, the keys determine
// the shard.
func (s *ShardQuery) row(key attribute.Item, shard int) *Row {
	if shard == 0 {
		shard = s.shardOf(key)
	}
	r := &Row{Key: key, shard: shard}
	r.Sort, _ = key.Get(s.sort)
	return r
}

// startAt sets where the item of the row to start after was. A position without marks is one in the
// layout before the change.
func (s *ShardQuery) startAt(start *Row, p position) {
	start.At = p.place
	if s.began = p.began; !p.marked {
		was := &s.table.placement
		if was.from != nil {
			was = &was.from.placement
		}
		start.At = was.Shard(start.Key)
	}
	if isLocal(s.table.Logical, s.index) {
		start.shard = start.At
	}
}

// Limited reports whether the client has limited the number of rows.
func (s *ShardQuery) Limited() bool { return s.query.Limit > 0 }

// Page returns the number of rows to read next, after rows with a number of bytes have been read.
func (s *ShardQuery) Page(rows, bytes int) int {
	n := guess
	if rows > 0 {
		mean := max(1, bytes/rows)
		n = max(1, (PageSize-bytes+mean-1)/mean)
	}
	if s.query.Limit > 0 {
		n = min(n, s.query.Limit-rows)
	}
	return max(1, n)
}

// Fetch returns the request for rows of one shard: the first limit rows after a row and up to
// another, in the order of the answer. A nil row means no bound. The answer may have rows beyond
// the bounds, which Rows leaves out. Fetch returns nil if there can be no such rows.
func (s *ShardQuery) Fetch(shard int, after, upto *Row, limit int) *api.Query {
	q := &api.Query{
		Read: api.Read{
			Table: s.table.at(shard).Physical, Limit: limit, Consistent: s.query.Consistent, Capacity: s.query.Capacity, Select: selects(s.table.Logical, &s.query.Read, s.index),
		},
		Backward: s.backward,
	}
	k := s.keys
	if s.index != nil {
		q.Index = s.index.Name
	}
	if after != nil || upto != nil {
		i := intervalOf(&k)
		if upto != nil && !s.narrow(&i, upto, shard, true) {
			return nil
		}
		switch {
		case after == nil:
		case !s.ties:
			// Sort keys are unique, so any shard can continue after one.
			key := attribute.NewItem(attribute.Attribute{Name: s.sort, Value: after.Sort})
			names, values := s.partition(shard)
			q.Start = key.With(names[0], values[0])
		case after.shard == shard:
			q.Start = s.physicalStart(after)
		case !s.narrow(&i, after, shard, false):
			return nil
		}
		if i.empty() {
			return nil
		}
		if s.sort != "" && (upto != nil || q.Start == nil) {
			k = i.keyRange(k)
		}
	}
	q.KeyCondition = s.condition(k, shard)
	return q
}

// physicalStart returns the position after a row in its own shard.
func (s *ShardQuery) physicalStart(row *Row) attribute.Item {
	switch {
	case s.table.drawn():
		return s.table.startIn(row.Key, s.index, s.table.partition(s.keys.Hash[0], row.shard))
	case s.places():
		return s.table.physicalStartIn(row.Key, s.index, s.partitionOf(row))
	}
	return s.table.physicalStart(row.Key, s.index)
}

// partitionOf returns the physical partition from which a row of an index is.
func (s *ShardQuery) partitionOf(row *Row) attribute.Value {
	hash, _ := s.table.of(row.Key)
	return s.table.partition(hash, row.At)
}

// Rows returns the rows of an answer to a Fetch that are within the bounds. If it has fewer than
// were requested and more may exist, because the answer was cut off or began with rows outside the
// bounds, rest is the request for the following rows; otherwise rest is nil. d decodes their
// keys. Rows share the memory of d, but not that of the answer.
func (s *ShardQuery) Rows(d *attribute.Decoder, at int, q *api.Query, r *api.ItemsResponse, after, upto *Row) (rows []Row, rest *api.Query, err error) {
	rows = make([]Row, 0, len(r.Items))
	var names []string // of the keys; nil: the sort key is enough
	if !s.bySortKey() {
		names = api.StartNames(s.table.Logical, s.index)
	}
	beyond := false
	size := 0
	for _, text := range r.Items {
		size += len(text)
	}
	arena := make(attribute.Encoded, 0, size)
	for _, text := range r.Items {
		start := len(arena)
		arena = append(arena, text...)
		row := Row{Text: arena[start:len(arena):len(arena)], At: at, Stub: s.table.from != nil && isStub(text)}
		shard := 0
		if s.table.adopted != nil {
			row.Text, shard = s.table.adopted.cutInPlace(row.Text)
		}
		if s.places() {
			if row.At, err = s.placeOf(d, text); err != nil {
				return nil, nil, err
			}
		}
		if err := s.readKeys(d, &row, names); err != nil {
			return nil, nil, err
		}
		if s.index == nil && s.table.elsewhere(&row) || s.strays(&row) { // the caller looks at the places of an index's rows
			continue
		}
		if s.ties {
			switch row.seq = s.seq.Add(1); {
			case s.table.drawn():
				row.shard = shard
			case s.marks():
				row.shard = at
			default:
				row.shard = s.shardOf(row.Key)
			}
		}
		if s.within(&row, after, upto) {
			rows = append(rows, row)
		} else if beyond = len(rows) > 0 || upto != nil && s.Compare(&row, upto) > 0; beyond {
			break
		}
	}
	if r.LastKey == nil || beyond || q.Limit > 0 && len(rows) >= q.Limit {
		return rows, nil, nil
	}
	next := *q
	next.Start = keep(r.LastKey)
	if next.Limit > 0 {
		next.Limit -= len(rows)
	}
	return rows, &next, nil
}

// bySortKey reports whether the sort key alone orders rows and decides whether they belong to the
// answer.
func (s *ShardQuery) bySortKey() bool {
	return s.sort != "" && !s.ties && !s.table.strict && s.table.adopted == nil
}

// strays reports whether a row is beyond the bounds of the shard from which it was read. A write
// whose outcome was reported as unknown, and that the store carried out seconds later, left it there.
func (s *ShardQuery) strays(row *Row) bool {
	return s.ranged && s.table.shardOf(s.keys.Hash[0], row.Sort) != row.At
}

// within reports whether the Query asks for a row, and whether it is after one row and not after another.
func (s *ShardQuery) within(row, after, upto *Row) bool {
	return (after == nil || s.Compare(row, after) > 0) && (upto == nil || s.Compare(row, upto) <= 0) &&
		(s.keys.Op == expression.NoRange || s.keys.Match([]attribute.Value{row.Sort}))
}

// keep copies a key out of an answer's memory.
func keep(key attribute.Item) attribute.Item {
	var d attribute.Decoder
	out, err := d.Item(key.Encode())
	if err != nil {
		return key
	}
	return out
}

// rowOrder is the order of rows in the answer.
type rowOrder struct {
	ties     bool // rows may have equal sort keys
	backward bool
}

// Compare orders rows as in the answer: by the sort key, then by shard, then as the store orders
// them within a shard.
func (o *rowOrder) Compare(a, b *Row) int {
	c, _ := attribute.Compare(a.Sort, b.Sort)
	if c == 0 && o.ties {
		c = cmp.Compare(a.shard, b.shard)
	}
	if o.backward {
		c = -c
	}
	if c == 0 && o.ties {
		c = cmp.Compare(a.seq, b.seq)
	}
	return c
}

// narrow narrows an interval of a shard to the rows up to a row of any shard, or after it. It
// returns false if there can be none.
func (o *rowOrder) narrow(i *interval, row *Row, shard int, upto bool) bool {
	// ties says whether rows of this shard with the row's sort key are on the wanted side of the
	// row.
	ties := !o.ties
	if o.ties {
		c := cmp.Compare(shard, row.shard)
		if o.backward {
			c = -c
		}
		ties = upto && c <= 0 || !upto && c > 0
	}
	switch v := row.Sort; {
	case !bounded(v): // the index has no sort key
		return ties
	case upto != o.backward && ties:
		*i = i.to(v)
	case upto != o.backward:
		*i = i.to(before(v))
	case ties:
		*i = i.from(v)
	default:
		*i = i.from(after(v))
	}
	return true
}
