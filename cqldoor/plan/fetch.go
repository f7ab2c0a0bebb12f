// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Segment is a slice of one logical partition, with the shards that can have rows of it. Segments
// are read one after the other.
type Segment struct {
	KeyIndex int
	Key      [][]byte
	Slice    analysis.Slice
	Points   [][][]byte // the clustering keys, or the equally long prefixes of them, that a segment consists of, in reading order; nil: all of Slice
	Of       []int      // the shard of each point; nil: any of Shards
	After    [][]byte   // clustering key after which reading starts; nil: the start of the slice
	Shards   []int
	Old      []int // the shards under the old layout; only for a read that uses both places
	Last     bool  // the last segment of its partition
	Err      error // why this and the next segments are not known

	bytes int // of Points
}

// Compare orders clustering keys in the statement's reading order.
func (p *Select) Compare(a, b [][]byte) int {
	if p.Logical.Reversed {
		return p.Table.Compare(b, a)
	}
	return p.Table.Compare(a, b)
}

// Segments yields the segments that a bound statement reads, in reading order. It starts after a
// clustering key (nil: at the start) of the partition key with index from. Each segment is computed
// only when it is needed: there can be as many as partition keys times slices.
func (p *Select) Segments(b *analysis.BoundSelect, dir Directory, from int, after [][]byte) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		if b.Empty() {
			return
		}
		for i, key := range b.Keys.From(from) {
			for s := range p.PartitionSegments(b, dir, i, key, after) {
				if !yield(s) {
					return
				}
			}
			after = nil
		}
	}
}

// PartitionSegments yields the segments of one logical partition.
func (p *Select) PartitionSegments(b *analysis.BoundSelect, dir Directory, index int, key, after [][]byte) iter.Seq[Segment] {
	switch {
	case p.Old != nil && (p.Table.Timed() || p.Old.Table.Timed()):
		return p.bothSegments(b, dir, index, key, after)
	case p.Table.Timed():
		return p.timedSegments(b, dir, index, key, after)
	}
	return func(yield func(Segment) bool) {
		// A segment is known to be the last one only when there is no next one.
		var next Segment
		all := p.Table.Shards(key)
		for s, after := range p.Table.resume(&b.Slices, after, p.Logical.Reversed) {
			shards := p.Table.shardsOf(key, s, all)
			if p.joins(&next, s, shards) {
				continue
			}
			if next.Key != nil && !yield(next) {
				return
			}
			next = Segment{KeyIndex: index, Key: key, Slice: s, After: after, Shards: shards}
			if p.Old != nil {
				next.Old = p.Old.Table.shardsOf(key, s, p.Old.Table.Shards(key))
			}
		}
		if next.Last = true; next.Key != nil {
			yield(next)
		}
	}
}

// InOld returns a segment with the shards of the old layout.
func (s Segment) InOld() Segment {
	s.Shards = s.Old
	return s
}

// Row returns the part of a segment that is one of its rows, with its shard under this plan's own
// layout.
func (p *Select) Row(s Segment, clustering [][]byte) Segment {
	b := analysis.Bound{Prefix: clustering, Inclusive: true}
	s.Slice, s.Points, s.Of, s.After, s.Old = analysis.Slice{Start: b, End: b}, nil, nil, nil, nil
	if n := p.Table.PlaceOf(s.Key, clustering); n != AnyShard {
		s.Shards = []int{n}
	} else {
		s.Shards = p.Table.Shards(s.Key)
	}
	return s
}

// Moved describes a row of the table with an old and a new place, or the static columns of a
// partition (clustering nil).
func (c *Change) Moved(key, clustering [][]byte) Moved {
	m := Moved{Key: key, Clustering: clustering, New: Place{Second: twoTables(c.From, c.To)}}
	if clustering == nil {
		m.Old.Shard, m.New.Shard = c.From.Home(key), c.To.Home(key)
	} else {
		m.Old.Shard, m.New.Shard = c.From.PlaceOf(key, clustering), c.To.PlaceOf(key, clustering)
	}
	return m
}

// Fetch is one physical read with its values, in the order of its slots.
type Fetch struct {
	Statement *Statement
	Values    []eval.Value
	Shards    []int
}

type fetchShape struct {
	shape
	many    bool // reads several shards
	limited bool
	keys    bool // reads clustering keys only
}

// Fetches returns the reads that give the first limit rows (0: all) of each of the given shards,
// after one clustering key and up to another. They are done one after the other. A later read is
// needed only for shards whose earlier reads gave fewer than limit rows.
func (p *Select) Fetches(b *analysis.BoundSelect, s Segment, shards []int, after, upto [][]byte, limit int) ([]Fetch, error) {
	return p.fetch(b, s, shards, after, upto, limit, false)
}

// KeyFetches is Fetches for clustering keys alone. A row holds the clustering columns, in their
// order, and the shard.
func (p *Select) KeyFetches(b *analysis.BoundSelect, s Segment, shards []int, after, upto [][]byte, limit int) ([]Fetch, error) {
	return p.fetch(b, s, shards, after, upto, limit, true)
}

func (p *Select) fetch(b *analysis.BoundSelect, s Segment, shards []int, after, upto [][]byte, limit int, keys bool) ([]Fetch, error) {
	if s.Err != nil {
		return nil, s.Err
	}
	if s.Points != nil {
		return p.fetchPoints(b, s, shards, after, upto, limit, keys)
	}
	return p.fetchSlice(b, s, shards, Within(s.Slice, after, upto, p.Logical.Reversed), limit, keys)
}

// fetchSlice returns the reads of a slice of the segment's partition.
func (p *Select) fetchSlice(b *analysis.BoundSelect, s Segment, shards []int, slice analysis.Slice, limit int, keys bool) ([]Fetch, error) {
	pieces := p.Table.pieces(slice)
	if p.Logical.Reversed {
		slices.Reverse(pieces)
	}
	out := make([]Fetch, len(pieces))
	for i, piece := range pieces {
		fs := fetchShape{p.Table.shapeOf(piece), len(shards) > 1, limit > 0, keys}
		var err error
		if out[i], err = p.fetchOf(b, s, shards, limit, fs, fs.values(piece)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fetchOf returns a read of some shards, with the values of its Cluster slots.
func (p *Select) fetchOf(b *analysis.BoundSelect, s Segment, shards []int, limit int, fs fetchShape, cluster [][]byte) (Fetch, error) {
	st, err := p.statement(fs)
	if err != nil {
		return Fetch{}, err
	}
	f := Fetch{st, make([]eval.Value, len(st.Slots)), shards}
	for j, slot := range st.Slots {
		v := &f.Values[j]
		switch slot.Kind {
		case Client:
			*v = b.Env.Values[slot.Index]
		case Key:
			v.Bytes = s.Key[slot.Index]
		case Shard:
			v.Bytes = IntValue(shards[0])
		case ShardList:
			v.Bytes = ListValue(shards)
		case Cluster:
			v.Bytes = cluster[slot.Index]
		case Limit:
			v.Bytes = IntValue(limit)
		}
	}
	return f, nil
}

func (p *Select) statement(fs fetchShape) (*Statement, error) {
	if st, ok := p.fetches.Load(fs); ok {
		return st.(*Statement), nil
	}
	f := p.base
	f.Where = slices.Clone(f.Where)
	if fs.keys {
		f.Selectors = nil
		for _, c := range p.Table.Clustering {
			f.Selectors = append(f.Selectors, column(c.Name))
		}
		if !p.Table.Plain() {
			f.Selectors = append(f.Selectors, column(p.Table.Layout.Column))
		}
	}
	if fs.many {
		f.Where = append(f.Where, syntax.Relation{Columns: []string{p.Table.Layout.Column}, Op: syntax.OpIn, Value: marker(ShardList, 0)})
	} else {
		f.Where = p.Table.inShard(f.Where)
	}
	f.Where = append(f.Where, p.Table.relations(fs.shape)...)
	f.Where = append(f.Where, p.filters...)
	if fs.limited {
		f.PerPartitionLimit = marker(Limit, 0)
	}
	st, err := newStatement(&f)
	if err != nil {
		return nil, err
	}
	st.columns, st.in = fs.columns(), fs.in
	p.fetches.Store(fs, st)
	return st, nil
}

// Split makes a read for each shard of a read that names several. It returns other reads
// unchanged.
func (f *Fetch) Split() []Fetch {
	at := slices.IndexFunc(f.Statement.Slots, func(s Slot) bool { return s.Kind == ShardList })
	if at < 0 || len(f.Shards) < 2 {
		return []Fetch{*f}
	}
	all := make([]Fetch, len(f.Shards))
	for i, shard := range f.Shards {
		values := slices.Clone(f.Values)
		values[at] = eval.Value{Bytes: ListValue([]int{shard})}
		all[i] = Fetch{f.Statement, values, []int{shard}}
	}
	return all
}
