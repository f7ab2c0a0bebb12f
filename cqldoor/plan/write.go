package plan

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Write is the plan of an INSERT, UPDATE or DELETE. It is immutable.
type Write struct {
	Table   *Table
	Logical *analysis.Write

	// Whole is the statement as it goes to one shard; nil when the shards depend
	// on the values in another way (IN, ranges, whole partitions, JSON).
	Whole *Statement
	route *route

	each     *Statement // of one row: Key and Cluster slots name it
	slices   func(shape) (*Statement, error)
	document *Statement // INSERT JSON
	literal  []byte     // its document, where it is written out
}

// NewWrite plans a write on a sharded table.
func NewWrite(t *Table, stmt syntax.Statement, a *analysis.Write) (*Write, error) {
	p := &Write{Table: t, Logical: a}
	var err error
	switch s := stmt.(type) {
	case *syntax.Insert:
		s = clientMarkers(s)
		s.Into = t.name()
		if s.JSON != nil {
			if c, ok := s.JSON.(*syntax.Constant); ok {
				p.literal = []byte(c.Text)
			}
			s.JSON = marker(JSON, 0)
			p.document, err = newStatement(s)
			return p, err
		}
		for i, c := range s.Columns {
			s.Values[i] = t.pin(c, s.Values[i])
		}
		s.Columns = append(s.Columns, t.Layout.Column)
		s.Values = append(s.Values, marker(Shard, 0))
		p.route = t.one(&a.Where)
		p.Whole, err = newStatement(s)
	case *syntax.Update:
		s = clientMarkers(s)
		s.Table = t.name()
		if p.route = t.one(&a.Where); p.route != nil {
			s.Where = t.pinned(s.Where)
			p.Whole, err = newStatement(s)
			break
		}
		p.each, err = t.row(s, &s.Where)
	case *syntax.Delete:
		s = clientMarkers(s)
		s.From = t.name()
		if p.route = t.one(&a.Where); p.route != nil {
			s.Where = t.pinned(s.Where)
			p.Whole, err = newStatement(s)
			break
		}
		if a.Scope == analysis.ScopeDeleteSlices || a.Scope == analysis.ScopeDeletePartition {
			p.slices = func(sh shape) (*Statement, error) {
				d := *s
				d.Where = append(t.partition(), t.relations(sh)...)
				st, err := newStatement(&d)
				if err == nil {
					st.columns = sh.columns()
				}
				return st, err
			}
			break
		}
		p.each, err = t.row(s, &s.Where)
	default:
		return nil, fmt.Errorf("plan: %T is not a write", stmt)
	}
	if err != nil {
		return nil, err
	}
	if p.Whole == nil && a.Conditional() {
		return nil, refused("a condition must be on one row: IN and ranges reach several shards", "write each row by a statement of its own")
	}
	return p, nil
}

// partition binds the partition key and the shard.
func (t *Table) partition() []syntax.Relation {
	var out []syntax.Relation
	for i, c := range t.PartitionKey {
		out = append(out, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: marker(Key, i)})
	}
	return append(out, t.shardIs(marker(Shard, 0)))
}

// row makes a statement's WHERE that of one row, and prints it.
func (t *Table) row(s syntax.Statement, where *[]syntax.Relation) (*Statement, error) {
	whole := shape{prefix: len(t.Clustering)}
	*where = append(t.partition(), t.relations(whole)...)
	st, err := newStatement(s)
	if err == nil {
		st.columns = whole.columns()
	}
	return st, err
}

// Target is where a Whole statement goes.
func (p *Write) Target(env *eval.Env) (Target, error) { return p.route.target(p.Table, env) }

// Mutation is one physical write with its values, in the order of its slots.
type Mutation struct {
	Statement *Statement
	Values    []eval.Value
	Key       [][]byte // logical partition key
	Shard     int
}

// Mutations are the writes that together are the statement. Disjoint says that
// they delete disjoint shards of logical partitions, so that each may go by
// itself; otherwise they are one whole.
func (p *Write) Mutations(env *eval.Env) (out []Mutation, disjoint bool, err error) {
	if p.Whole != nil {
		target, err := p.Target(env)
		if err != nil {
			return nil, false, err
		}
		return []Mutation{p.mutation(p.Whole, env, target, nil, nil)}, false, nil
	}
	b, err := p.Logical.Bind(env)
	if err != nil {
		return nil, false, err
	}
	if p.document != nil {
		return p.documents(b)
	}
	t := p.Table
	for _, key := range b.Keys {
		switch b.Scope {
		case analysis.ScopeRows, analysis.ScopeDeleteRows:
			for _, row := range b.Rows {
				target := Target{Key: key, Shard: t.shardOfRow(key, row)}
				out = append(out, p.mutation(p.each, env, target, row, nil))
			}
		case analysis.ScopeDeleteSlices, analysis.ScopeDeletePartition:
			disjoint = true
			ranges := b.Slices
			if b.Scope == analysis.ScopeDeletePartition {
				ranges = []analysis.Slice{analysis.All()}
			}
			for _, s := range ranges {
				for _, piece := range t.pieces(s) {
					sh := shapeOf(piece)
					st, err := p.slices(sh)
					if err != nil {
						return nil, false, err
					}
					values := sh.values(piece)
					for _, n := range t.shardsOf(key, piece, t.Shards(key)) {
						out = append(out, p.mutation(st, env, Target{Key: key, Shard: n}, values, nil))
					}
				}
			}
		default:
			return nil, false, refused("writes of static columns are not there yet", "keep them in a table of their own")
		}
	}
	return out, disjoint, nil
}

func (p *Write) mutation(st *Statement, env *eval.Env, target Target, cluster [][]byte, document []byte) Mutation {
	return Mutation{st, st.Values(env, target, cluster, document), target.Key, target.Shard}
}

// documents puts the shard into the JSON document of an INSERT.
func (p *Write) documents(b *analysis.BoundWrite) ([]Mutation, bool, error) {
	if len(b.Keys) != 1 || len(b.Rows) != 1 {
		return nil, false, refused("INSERT JSON of static columns alone is not there yet", "insert a whole row")
	}
	document := p.literal
	if document == nil {
		v, err := eval.Term(p.Logical.JSON, b.Env)
		if err != nil {
			return nil, false, err
		}
		document = v.Bytes
	}
	target := Target{Key: b.Keys[0], Shard: p.Table.shardOfRow(b.Keys[0], b.Rows[0])}
	brace := bytes.IndexByte(document, '{')
	if brace < 0 {
		return nil, false, fmt.Errorf("plan: a JSON document that was accepted has no object")
	}
	member := fmt.Appendf(value.JSONName(nil, p.Table.Layout.Column), ": %d, ", target.Shard)
	document = slices.Concat(document[:brace+1], member, document[brace+1:])
	return []Mutation{p.mutation(p.document, b.Env, target, nil, document)}, false, nil
}
