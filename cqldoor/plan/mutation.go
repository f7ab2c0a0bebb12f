package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// Mutation is one physical write with its values, in the order of its slots.
type Mutation struct {
	Statement *Statement
	Values    []eval.Value
	Key       [][]byte // logical partition key
	Shard     int
}

// Draw draws a shard for a write of a logical partition that may go to any.
type Draw func(t *Table, key [][]byte) int

// Mutations are the writes that together are the statement. Disjoint says that
// they delete disjoint shards of logical partitions, so that each may go by
// itself; otherwise they are one whole.
func (p *Write) Mutations(env *eval.Env, draw Draw) (out []Mutation, disjoint bool, err error) {
	if p.Whole != nil {
		return p.one(env)
	}
	b, err := p.Logical.Bind(env)
	if err != nil {
		return nil, false, err
	}
	return p.Bound(b, draw)
}

func (p *Write) one(env *eval.Env) ([]Mutation, bool, error) {
	target, err := p.Target(env, nil)
	if err != nil {
		return nil, false, err
	}
	return []Mutation{p.mutation(p.Whole, env, target)}, false, nil
}

// Bound is Mutations for a statement that is bound already.
func (p *Write) Bound(b *analysis.BoundWrite, draw Draw) (out []Mutation, disjoint bool, err error) {
	switch {
	case p.Whole != nil:
		return p.one(b.Env)
	case p.random != nil:
		out, err = p.scattered(b, draw)
		return out, false, err
	case p.slices != nil:
		out, err = p.ranges(b)
		return out, true, err
	}
	set, err := p.set(b)
	if err != nil {
		return nil, false, err
	}
	static := p.static != nil
	if p.columns != nil {
		// Only the document says what it writes.
		static = slices.ContainsFunc(b.Operations, func(o analysis.Operation) bool { return o.Column.Kind == schema.Static })
	}
	t := p.Table
	for _, key := range b.Keys {
		target := Target{Key: key, Set: set}
		left := static
		if p.row != nil {
			for _, row := range b.Rows {
				target.Cluster, target.Shard = row, t.shardOfRow(key, row)
				st := p.row
				if left && target.Shard == t.Home(key) {
					st, left = p.both, false
				}
				out = append(out, p.mutation(st, b.Env, target))
			}
		}
		if left {
			target.Shard = t.Home(key)
			out = append(out, p.mutation(p.static, b.Env, target))
		}
	}
	if len(out) > 1 && p.Logical.Conditional() {
		return nil, false, errTogether
	}
	return out, false, nil
}

var errTogether = refused("a condition or a conditional write of a row together with static columns needs both in one shard, and here they are in two",
	"write the row and the static columns by statements of their own")

// ranges deletes slices of partitions, or whole ones, in every shard that can have
// rows of them.
func (p *Write) ranges(b *analysis.BoundWrite) (out []Mutation, err error) {
	t := p.Table
	slices := b.Slices
	if b.Scope == analysis.ScopeDeletePartition {
		slices = []analysis.Slice{analysis.All()}
	}
	for _, key := range b.Keys {
		for _, s := range slices {
			for _, piece := range t.pieces(s) {
				sh := t.shapeOf(piece)
				st, err := p.slices(sh)
				if err != nil {
					return nil, err
				}
				target := Target{Key: key, Cluster: sh.values(piece)}
				for _, target.Shard = range t.shardsOf(key, piece, t.Shards(key)) {
					out = append(out, p.mutation(st, b.Env, target))
				}
			}
		}
	}
	return out, nil
}

func (p *Write) mutation(st *Statement, env *eval.Env, target Target) Mutation {
	return Mutation{st, st.Values(env, target), target.Key, target.Shard}
}
