// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// query returns the plan of a Query on an index, on one shard or on several.
func query(t *Table, q *api.Query) (Plan, error) {
	asked, startShard := q, 0
	if t.drawn() && q.Start != nil {
		logical := *q
		var err error
		if logical.Start, startShard, err = t.adopted.start(q.Start); err != nil {
			return nil, err
		}
		q = &logical
	}
	var at position
	if q.Index != "" && q.Start.Has(began) { // an answer during or after a change of the layout gave this position
		logical := *q
		var err error
		if at, logical.Start, err = t.position(q.Start); err != nil {
			return nil, err
		}
		q, asked = &logical, &logical
	}
	ix, k, err := q.Check(t.Logical)
	if err != nil {
		return nil, err
	}
	if err := checkPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	if err := t.checkCondition(q.Filter); err != nil {
		return nil, err
	}
	f := &Fanout{ShardQuery: ShardQuery{query: q, keys: k, rowReader: rowReader{table: t, index: ix}, rowOrder: rowOrder{ties: ix != nil || t.drawn(), backward: q.Backward}}}
	switch {
	case ix == nil:
		f.sort = t.sort.Name
	case len(ix.Key.Range) == 1:
		f.sort = ix.Key.Range[0]
	}
	switch {
	case ix != nil && !isLocal(t.Logical, ix):
		in := t.indexes.sharded(ix.Name)
		if in == nil {
			return queryIndex(t, asked, ix)
		}
		s := in.layout.Default()
		f.Shards = s.Places()
		f.shardOf = func(key attribute.Item) int { return in.shardOf(&t.keys, key) }
		f.partition = func(shard int) (names []string, values []attribute.Value) {
			return append([]string{in.attribute()}, ix.Key.Hash...), append([]attribute.Value{attribute.Int(int64(shard))}, k.Hash...)
		}
	case t.Layout == nil:
		return forward(t, q), nil
	default:
		if err := t.CheckHash(k.Hash[0]); err != nil {
			return nil, err
		}
		switch {
		case ix == nil && k.Op == expression.Equal && !t.drawn():
			f.Shards = t.places(k.Hash[0], k.Low)
		case ix == nil && t.from != nil && (t.InDirectory() || t.from.InDirectory()):
			f.Way = BySlices
		case ix == nil && t.Timed():
			f.Way, f.InOrder = ByBuckets, t.timing.grid.Shards == 1
		case ix == nil && t.Rolls():
			start, _ := q.Start.Get(t.sort.Name)
			f.Way, f.ranged = InTurn, true
			f.Shards = t.rolledIn(k.Hash[0], remaining(&k, q.Backward, start), q.Backward)
		default:
			f.Shards = t.shards(k.Hash[0])
		}
		f.shardOf = func(key attribute.Item) int {
			sort, _ := key.Get(t.sort.Name)
			return t.shardOf(k.Hash[0], sort)
		}
		f.partition = func(shard int) ([]string, []attribute.Value) {
			at := t.at(shard)
			return []string{at.keyName()}, []attribute.Value{at.partition(k.Hash[0], shard)}
		}
	}
	if len(f.Shards) == 1 && !t.drawn() && !t.strict {
		return f.one(f.Shards[0]), nil
	}
	if q.Start != nil {
		f.Start = f.row(q.Start, startShard)
	}
	switch {
	case f.marks():
		f.began = t.Layout.Generation
		if q.Start != nil {
			f.startAt(f.Start, at)
		}
	case f.places() && q.Start != nil:
		f.Start.At = t.Shard(q.Start)
	}
	return f, nil
}

// forward returns the plan of a Query on a plain table with sharded indexes.
func forward(t *Table, q *api.Query) Plan {
	p := *q
	p.Table = t.Physical
	return reading(t, &p)
}
