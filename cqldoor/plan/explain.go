// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
)

// Explained is a plan in the form that is shown to the user.
type Explained struct {
	Table      string               `json:"table"`
	Layout     string               `json:"layout"`
	Access     string               `json:"access"`           // "one shard", "partitions", "scan", "batch", "deletions"
	Output     string               `json:"output,omitempty"` // for partitions: what is made of the rows
	Order      []string             `json:"order,omitempty"`  // for partitions: the columns that rows are merged by
	Shards     []int                `json:"shards"`           // shards visited; empty if values are not known yet or all shards are scanned
	Statements []ExplainedStatement `json:"statements"`
	Buckets    []string             `json:"buckets,omitempty"` // for strategy time: the beginnings of the visited buckets
	More       bool                 `json:"more,omitempty"`    // there are more statements than are shown
}

// These bound the number of statements and shards in an explanation. A statement with several INs
// can have any number.
const (
	maxExplained       = 1000
	maxExplainedShards = 20_000
)

// full says that the explanation shows no more statements.
func (e *Explained) full() bool {
	if !e.More {
		n := 0
		for _, s := range e.Statements {
			n += len(s.Shards)
		}
		e.More = len(e.Statements) >= maxExplained || n >= maxExplainedShards
	}
	return e.More
}

// ExplainedStatement is a physical statement in the form that is shown.
type ExplainedStatement struct {
	CQL    string   `json:"cql"`
	Values []string `json:"values,omitempty"` // CQL literals, if they are known
	Shards []int    `json:"shards,omitempty"`
}

func explained(t *Table, access string) *Explained {
	if t.Plain() && t.Change == nil {
		access = "plain table"
	}
	return &Explained{Table: string(syntax.AppendName(nil, syntax.Name{Keyspace: t.Keyspace, Name: t.Name})), Layout: t.Layout.String(), Access: access, Shards: []int{}, Statements: []ExplainedStatement{}}
}

// add adds a statement and the shards that it visits.
func (e *Explained) add(t *Table, s *Statement, values []eval.Value, shards ...int) {
	if t.Plain() && t.Change == nil {
		shards = nil
	}
	out := ExplainedStatement{CQL: s.Text, Shards: shards}
	for i, v := range values {
		out.Values = append(out.Values, s.show(&t.placement, s.Slots[i], v))
	}
	e.Statements = append(e.Statements, out)
	e.visit(shards)
	if t.Timed() {
		e.Buckets = e.Buckets[:0]
		for _, n := range e.Shards {
			if at := t.timing.text(n); len(e.Buckets) == 0 || e.Buckets[len(e.Buckets)-1] != at {
				e.Buckets = append(e.Buckets, at)
			}
		}
	}
}

// visit adds visited shards.
func (e *Explained) visit(shards []int) {
	for _, n := range shards {
		if i, found := slices.BinarySearch(e.Shards, n); !found {
			e.Shards = slices.Insert(e.Shards, i, n)
		}
	}
}

var shardsType = value.ListOf(shardType, true)

// listed returns the type of the list of an IN on some clustering columns.
func (t *clustering) listed(first, n int) *value.Type {
	if n == 1 {
		return value.ListOf(t.Clustering[first].Type, true)
	}
	var of []*value.Type
	for _, c := range t.Clustering[first : first+n] {
		of = append(of, c.Type)
	}
	return value.ListOf(value.TupleOf(of...), true)
}

// show prints the value of a slot.
func (st *Statement) show(t *placement, s Slot, v eval.Value) string {
	var typ *value.Type
	switch s.Kind {
	case Key:
		typ = t.PartitionKey[s.Index].Type
	case By:
		typ = t.Clustering[t.by[s.Index]].Type
	case Cluster:
		typ = t.Clustering[st.columns[s.Index]].Type
		if st.in > 0 && s.Index == len(st.columns)-1 {
			typ = t.listed(st.columns[s.Index], st.in)
		}
	case Shard, Limit:
		typ = shardType
	case Token:
		typ = bigintType
	case ShardList:
		typ = shardsType
	case Set:
		if s.Index >= len(st.sets) {
			return string(value.Native(value.Blob).Format(nil, v.Bytes))
		}
		typ = st.sets[s.Index]
	default:
		typ = value.Native(value.Blob)
	}
	switch {
	case v.Unset:
		return "unset"
	case v.Bytes == nil:
		return "null"
	}
	return string(typ.Format(nil, v.Bytes))
}

// Explain returns the explanation of the plan for bound values, or without values if env is nil.
// perShard is how many rows a first fetch asks of each shard. dir lists the buckets of
// partitions.
func (p *Select) Explain(env *eval.Env, dir Directory, perShard int) (*Explained, error) {
	if p.Plainly != nil && p.Change == nil {
		e := explained(p.Table, p.Access.String())
		var values []eval.Value
		if env != nil {
			values = p.Plainly.Whole.Values(env, Target{})
		}
		e.add(p.Table, p.Plainly.Whole, values)
		return e, nil
	}
	e := explained(p.Table, p.Access.String())
	if p.Access == Partitions || p.Access == Owners {
		e.Output = [...]string{"rows", "combined aggregates", "evaluated over merged rows"}[p.Output]
		if p.Output != Combined {
			for _, c := range p.Table.Clustering {
				direction := " ASC"
				if c.Desc != p.Logical.Reversed {
					direction = " DESC"
				}
				e.Order = append(e.Order, c.Name+direction)
			}
		}
	}
	if p.walks != nil {
		e.add(p.Table, p.walks[p.Table].statement, nil)
		e.add(p.Table, p.walks[p.Table].probe, nil)
	}
	switch {
	case env == nil && p.Whole != nil:
		e.add(p.Table, p.Whole, nil)
		return e, nil
	case env == nil || p.Access == Owners:
		if p.Presence != nil {
			e.add(p.Table, p.Presence.statement, nil)
		}
		if p.Logical.Distinct {
			return e, nil
		}
		st, err := p.statement(fetchShape{many: true, limited: p.limited()})
		if err != nil {
			return nil, err
		}
		e.add(p.Table, st, nil)
		return e, nil
	case p.Access == One:
		target, err := p.Target(env, nil)
		if err != nil {
			return nil, err
		}
		e.add(p.Table, p.Whole, p.Whole.Values(env, target), target.Shard)
		return e, nil
	case p.Access == Scan:
		e.add(p.Table, p.Whole, p.Whole.Values(env, Target{}))
		return e, nil
	}
	b, err := p.Bind(env)
	if err != nil {
		return nil, err
	}
	if p.Output == Combined {
		perShard = 0
	}
	for i, key := range b.Keys.All() {
		if e.full() {
			break
		}
		if p.Presence != nil {
			shards, err := p.Presence.Shards(p.Table, dir, key)
			if err != nil {
				return nil, err
			}
			f := p.Presence.Fetch(b, key, shards)
			e.add(p.Table, f.Statement, f.Values, f.Shards...)
		}
		if p.Logical.Distinct {
			continue
		}
		for s := range p.PartitionSegments(b, dir, i, key, nil) {
			if e.full() {
				break
			}
			groups := [][]int{s.Shards}
			if s.Of != nil { // each shard is asked for its own rows
				groups = slices.Collect(slices.Chunk(s.Shards, 1))
			}
			for _, shards := range groups {
				fetches, err := p.Fetches(b, s, shards, nil, nil, perShard)
				if err != nil {
					return nil, err
				}
				for _, f := range fetches {
					e.add(p.Table, f.Statement, f.Values, f.Shards...)
				}
			}
		}
	}
	return e, nil
}

// Explain returns the explanation of the plan for bound values, or without values if env is nil.
// For a write that may go to any shard it shows shard 1, or, under strategy rollover, the last
// shard that may be written.
func (p *Write) Explain(env *eval.Env, dir Directory) (*Explained, error) {
	if env == nil {
		access := "batch"
		var shown []*Statement
		switch {
		case p.Whole != nil:
			access, shown = "one shard", []*Statement{p.Whole}
		case p.random != nil:
			access, shown = "any shard, or all", []*Statement{p.random}
			if p.Table.Layout.Strategy == shard.Rollover {
				access = "current shard, or all"
			}
		case p.slices != nil:
			st, err := p.slices(shape{})
			if err != nil {
				return nil, err
			}
			access, shown = "deletions", []*Statement{st}
		default:
			for _, st := range []*Statement{p.row, p.static} {
				if st != nil {
					shown = append(shown, st)
				}
			}
		}
		e := explained(p.Table, access)
		for _, st := range shown {
			e.add(p.Table, st, nil)
		}
		return e, nil
	}
	ms, err := p.Mutations(env, func(t *Table, key [][]byte, _ *analysis.BoundWrite, adds bool) []int {
		if !adds {
			return t.Shards(key)
		}
		return []int{t.Layout.Rolled.Last(AppendKey(nil, key))}
	}, dir)
	if err != nil {
		return nil, err
	}
	e := explained(p.Table, "batch")
	for m, err := range ms.Each() {
		if err != nil {
			return nil, err
		}
		if e.full() {
			break
		}
		e.add(p.Table, m.Statement, m.Values, m.Shard)
	}
	switch {
	case p.Table.Plain() && p.Table.Change == nil:
	case ms.Disjoint:
		e.Access = "deletions"
	case len(e.Statements) == 1 && p.random != nil && p.Table.Layout.Strategy == shard.Rollover:
		e.Access = "current shard"
	case len(e.Statements) == 1 && p.random != nil:
		e.Access = "any shard"
	case len(e.Statements) == 1:
		e.Access = "one shard"
	}
	return e, nil
}

// ExplainBatch returns the explanation of a BATCH from its statements.
func ExplainBatch(writes []*Write, env *eval.Env, dir Directory) (*Explained, error) {
	out := &Explained{Access: "batch", Shards: []int{}, Statements: []ExplainedStatement{}}
	for i, w := range writes {
		if out.full() {
			break
		}
		e, err := w.Explain(env, dir)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			out.Table, out.Layout = e.Table, e.Layout
		}
		out.Statements = append(out.Statements, e.Statements...)
		out.visit(e.Shards)
		for _, at := range e.Buckets {
			if i, found := slices.BinarySearch(out.Buckets, at); !found {
				out.Buckets = slices.Insert(out.Buckets, i, at)
			}
		}
		out.More = out.More || e.More
	}
	return out, nil
}
