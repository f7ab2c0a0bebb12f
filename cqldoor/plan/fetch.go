// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Compare orders clustering keys in the statement's reading order.
func (p *Select) Compare(a, b [][]byte) int {
	if p.Logical.Reversed {
		return p.Table.Compare(b, a)
	}
	return p.Table.Compare(a, b)
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
