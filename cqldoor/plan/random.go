// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// Under strategies random and rollover, a write that only adds goes to one shard, which is drawn. (Under rollover the draw is the current shard.) A write that
// could remove something (null, a deletion, a time to live, a non-frozen collection) goes to all
// shards. A read cannot tell a deletion from a cell that was never there. So the deletion must
// reach the older cells in every shard.

// anywhere plans a write under strategy random.
func (p *Write) anywhere(stmt syntax.Statement) (err error) {
	t := p.Table
	switch s := stmt.(type) {
	case *syntax.Insert:
		s = clientMarkers(s)
		s.Into = t.Physical()
		if s.JSON != nil {
			p.values(s)
			for i, c := range t.Clustering {
				s.Columns = append(s.Columns, c.Name)
				s.Values = append(s.Values, marker(Cluster, i))
			}
		}
		n := *s
		n.Columns, n.Values = nil, nil
		for i, c := range t.PartitionKey {
			n.Columns = append(n.Columns, c.Name)
			n.Values = append(n.Values, marker(Key, i))
		}
		for i, c := range s.Columns {
			if t.Columns[c].Kind != schema.PartitionKey {
				if err := p.literal(&s.Values[i], p.termOf(c)); err != nil {
					return err
				}
				n.Columns = append(n.Columns, c)
				n.Values = append(n.Values, s.Values[i])
			}
		}
		n.Columns = append(n.Columns, t.Layout.Column)
		n.Values = append(n.Values, marker(Shard, 0))
		p.random, err = p.once(&n)
	case *syntax.Update:
		s = clientMarkers(s)
		s.Table, s.Where = t.Physical(), t.rows(s.Where)
		for i := range s.Set {
			value, o := &s.Set[i].Value, &p.Logical.Operations[i]
			if b, ok := (*value).(*syntax.Binary); ok { // c + value, value + c
				if value = &b.Left; o.Kind != analysis.Prepend {
					value = &b.Right
				}
			}
			if err := p.literal(value, o.Term); err != nil {
				return err
			}
			if err := p.literal(&s.Set[i].Key, o.Key); err != nil {
				return err
			}
		}
		if err := p.keyLiterals(s.Where); err != nil {
			return err
		}
		p.random, err = p.once(s)
	case *syntax.Delete:
		s = clientMarkers(s)
		s.From, s.Where = t.Physical(), t.rows(s.Where)
		if err := p.keyLiterals(s.Where); err != nil {
			return err
		}
		p.random, err = p.once(s)
	default:
		err = fmt.Errorf("plan: %T is not a write", stmt)
	}
	return err
}

// scattered yields the mutations of a write under strategy random.
func (p *Write) scattered(b *analysis.BoundWrite, set []eval.Value, draw Draw) iter.Seq2[Mutation, error] {
	target := Target{Set: set}
	for _, c := range p.chance {
		target.Set = append(target.Set, eval.Value{Bytes: c(b.Env)})
	}
	if p.columns != nil && b.Rows.Len() == 1 {
		target.Cluster = b.Rows.At(0)
	}
	t := p.Table
	one := p.Adds(b)
	return func(yield func(Mutation, error) bool) {
		for _, key := range b.Keys.All() {
			target := target
			target.Key = key
			for _, target.Shard = range draw(t, key, b, one) {
				if !yield(p.mutation(p.random, b.Env, target), nil) {
					return
				}
			}
		}
	}
}

// Stamped says that the write needs a timestamp by which copies in several shards can be
// compared.
func (p *Write) Stamped() bool {
	return p.random != nil && !p.Logical.Counter && rule.On(rule.StampedWrites)
}

// AnyShard returns the statement of a write that may go to any single shard, or nil for other
// writes. During a change each write goes to the new place, too.
func (p *Write) AnyShard() *Statement {
	if p.To != nil {
		return nil
	}
	return p.random
}

// Adds says whether the write, with these values, may go to any single shard: it only adds
// non-null atomic cells, increments of counters, or a bare row marker, none of which expires.
func (p *Write) Adds(b *analysis.BoundWrite) bool {
	if rule.On(rule.BroadcastDeletions) && (b.Scope != analysis.ScopeRows && b.Scope != analysis.ScopeStatic || b.Kind == analysis.Delete) {
		return false
	}
	if rule.On(rule.BroadcastExpiring) {
		if expires, _ := p.Table.Options["default_time_to_live"].(int); b.TTL == nil && expires > 0 || b.TTL != nil && *b.TTL > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(b.Mutations, func(m analysis.Mutation) bool {
		switch {
		case m.Kind == analysis.AddCounter:
			return false
		case m.Kind == analysis.PutCell && m.Value == nil:
			return rule.On(rule.BroadcastNulls)
		case m.Column.Type.Multicell():
			return rule.On(rule.BroadcastCollections)
		}
		return m.Kind != analysis.PutCell
	})
}

// call computes a value that can differ from one evaluation to the next.
type call func(env *eval.Env) []byte

// chanceFunction is a function with such a value.
type chanceFunction struct {
	kind  value.Kind
	value call
}

// calls lists these functions by the type of their result. The door computes their value once, so
// that all shards get the same.
var calls = map[string]*chanceFunction{
	"now":               {value.Timeuuid, timeuuid},
	"current_timeuuid":  {value.Timeuuid, timeuuid},
	"currenttimeuuid":   {value.Timeuuid, timeuuid},
	"uuid":              {value.UUID, func(env *eval.Env) []byte { u := env.UUID(); return u[:] }},
	"current_timestamp": {value.Timestamp, timestamp},
	"currenttimestamp":  {value.Timestamp, timestamp},
	"current_date":      {value.Date, date},
	"currentdate":       {value.Date, date},
	"current_time":      {value.Time, timeOfDay},
	"currenttime":       {value.Time, timeOfDay},
}

const day = 24 * 60 * 60 * 1_000_000 // microseconds

func timeuuid(env *eval.Env) []byte { u := env.Timeuuid(); return u[:] }
func timestamp(env *eval.Env) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(env.Now/1000))
}
func date(env *eval.Env) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(env.Now/day)+1<<31)
}
func timeOfDay(env *eval.Env) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(env.Now%day*1000))
}

// literal replaces a value that calls such a function inside a collection by a Set slot, because
// a collection cannot contain a marker. term is the evaluated form of the value.
func (p *Write) literal(e *syntax.Expr, term eval.Expr) error {
	if *e == nil || !drawsInCollection(*e) {
		return nil
	}
	if term == nil {
		return refused("now() and the like within a collection here: all shards must be given the same", "bind the value")
	}
	*e = marker(Set, len(p.columns)+len(p.chance))
	p.chance = append(p.chance, func(env *eval.Env) []byte {
		v, err := eval.Eval(term, env, nil) // the statement's Bind has counted what is made
		if err != nil {
			return nil // the error was reported when the statement was bound
		}
		return v
	})
	return nil
}

// keyLiterals does the same for the values that a WHERE binds.
func (p *Write) keyLiterals(where []syntax.Relation) error {
	for i := range where {
		r := &where[i]
		var term eval.Expr
		if r.Op == syntax.OpEQ && !r.Tuple {
			term = p.termOf(r.Columns[0])
		}
		if err := p.literal(&r.Value, term); err != nil {
			return err
		}
		for j := range r.Values {
			if err := p.literal(&r.Values[j], nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// termOf returns the expression that an INSERT sets a column to, or that a WHERE binds it to. It
// returns nil if there is no single expression.
func (p *Write) termOf(name string) eval.Expr {
	c := p.Table.Columns[name]
	if c == nil {
		return nil // the shard's own column
	}
	if c.Kind == schema.Clustering {
		if b, ok := bound(p.Logical.Where.Clustering, c); ok && b.part < 0 {
			return b.expr
		}
		return nil
	}
	for _, o := range p.Logical.Operations {
		if o.Column == c && o.Kind == analysis.Set {
			return o.Term
		}
	}
	return nil
}

// drawsInCollection says whether an expression calls one of the functions inside a collection
// literal.
func drawsInCollection(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(e syntax.Expr) bool {
		switch e.(type) {
		case *syntax.List, *syntax.Set, *syntax.Map:
			syntax.Walk(e, func(e syntax.Expr) bool {
				if c, ok := e.(*syntax.Call); ok && chance(c) != nil {
					found = true
				}
				return !found
			})
		}
		return !found
	})
	return found
}

// chance returns the function that a call calls, or nil if it is not one of these.
func chance(c *syntax.Call) *chanceFunction {
	if len(c.Args) > 0 || c.Func.Keyspace != "" && c.Func.Keyspace != "system" {
		return nil
	}
	return calls[strings.ToLower(c.Func.Name)]
}

// once prints a statement in which those calls are Set slots.
func (p *Write) once(s syntax.Statement) (*Statement, error) {
	given := len(p.columns)
	s = replace(reflect.ValueOf(s), func(e any) (syntax.Expr, bool) {
		c, ok := e.(*syntax.Call)
		if !ok {
			return nil, false
		}
		f := chance(c)
		if f == nil {
			return nil, false
		}
		p.chance = append(p.chance, f.value)
		n := marker(Set, given+len(p.chance)-1)
		return &syntax.Hint{Type: syntax.TypeRef{Name: syntax.Name{Name: value.Native(f.kind).String()}}, Expr: n}, true
	}).Interface().(syntax.Statement)
	return p.whole(s)
}
