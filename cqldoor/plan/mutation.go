// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Mutation is one physical write with its values, in the order of its slots.
type Mutation struct {
	Statement *Statement
	Values    []eval.Value
	Key       [][]byte // the logical partition key
	Shard     int
}

// Draw chooses the shards for a write of a logical partition under strategies random and rollover:
// one shard if the write only adds (adds), and otherwise all shards that may have the cells that it
// removes.
type Draw func(t *Table, key [][]byte, b *analysis.BoundWrite, adds bool) []int

// MaxMutations is the largest number of writes that one statement or BATCH may need if they must
// be sent as one: the number that fits in a BATCH message.
const MaxMutations = 65535

// Mutations are the physical writes of a statement. Each is computed when it is needed: there can
// be as many as partition keys times rows times shards.
type Mutations struct {
	each iter.Seq2[Mutation, error]

	// Disjoint says that the writes delete from disjoint shards of logical partitions. Then they
	// may be sent separately; otherwise they must be sent as one.
	Disjoint bool
}

// Listed returns writes that have been computed already.
func Listed(ms []Mutation) Mutations {
	return Mutations{each: func(yield func(Mutation, error) bool) {
		for _, m := range ms {
			if !yield(m, nil) {
				return
			}
		}
	}}
}

// Each yields the writes one by one. If there is an error, it comes last.
func (m Mutations) Each() iter.Seq2[Mutation, error] { return m.each }

// All returns the writes as a list. It is an error if they and so many others do not fit in one
// BATCH.
func (m Mutations) All(others int) (all []Mutation, err error) {
	for one, err := range m.each {
		switch {
		case err != nil:
			return nil, err
		case others+len(all) == MaxMutations:
			return nil, wire.Invalidf("Too many statements in a batch: write_sharding makes more than %d of it, which the protocol allows", MaxMutations)
		}
		all = append(all, one)
	}
	return all, nil
}

// Mutations returns the physical writes of the statement.
func (p *Write) Mutations(env *eval.Env, draw Draw, dir Directory) (Mutations, error) {
	if p.Whole != nil {
		return p.one(env)
	}
	b, err := p.Logical.Bind(env)
	if err != nil {
		return Mutations{}, err
	}
	return p.Bound(b, draw, dir)
}

func (p *Write) one(env *eval.Env) (Mutations, error) {
	target, err := p.Target(env, nil)
	if err != nil {
		return Mutations{}, err
	}
	return Mutations{each: func(yield func(Mutation, error) bool) { yield(p.mutation(p.Whole, env, target), nil) }}, nil
}

// Bound is Mutations for a statement that is bound already.
func (p *Write) Bound(b *analysis.BoundWrite, draw Draw, dir Directory) (Mutations, error) {
	if p.Whole != nil {
		return p.one(b.Env)
	}
	if err := checkKeys(len(p.Table.PartitionKey), &b.Keys); err != nil {
		return Mutations{}, err
	}
	if p.slices != nil {
		if p.Table.Timed() {
			return Mutations{p.timedRanges(b, dir), true}, nil
		}
		return Mutations{p.ranges(b), true}, nil
	}
	set, err := p.set(b)
	switch {
	case err != nil:
		return Mutations{}, err
	case p.random != nil:
		return Mutations{each: p.scattered(b, set, draw)}, nil
	}
	rows := p.rows(b, set)
	if p.Logical.Conditional() {
		n := 0
		for range rows {
			if n++; n > 1 {
				return Mutations{}, errTogether
			}
		}
	}
	return Mutations{each: rows}, nil
}

// rows yields the writes of rows and of static columns.
func (p *Write) rows(b *analysis.BoundWrite, set []eval.Value) iter.Seq2[Mutation, error] {
	t := p.Table
	static := p.static != nil
	if p.columns != nil {
		// Only the JSON document says which columns it writes.
		static = slices.ContainsFunc(b.Operations, func(o analysis.Operation) bool { return o.Column.Kind == schema.Static })
	}
	return func(yield func(Mutation, error) bool) {
		for _, key := range b.Keys.All() {
			target := Target{Key: key, Set: set}
			left := static
			if p.row != nil {
				for _, row := range b.Rows.All() {
					target.Cluster, target.Shard = row, t.ShardOfRow(key, row)
					st := p.row
					if left && target.Shard == t.Home(key) {
						st, left = p.both, false
					}
					if !yield(p.mutation(st, b.Env, target), nil) {
						return
					}
				}
			}
			if left {
				target.Shard = t.Home(key)
				if !yield(p.mutation(p.static, b.Env, target), nil) {
					return
				}
			}
		}
	}
}

var errTogether = refused("a condition or a conditional write of a row together with static columns needs both in one shard, and here they are in two",
	"write the row and the static columns by statements of their own")

func (p *Write) mutation(st *Statement, env *eval.Env, target Target) Mutation {
	return Mutation{st, st.Values(env, target), target.Key, target.Shard}
}
