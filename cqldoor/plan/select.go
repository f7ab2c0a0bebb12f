package plan

import (
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Access is how a SELECT reaches its rows.
type Access uint8

// The kinds of access.
const (
	One        Access = iota // one shard
	Partitions               // all shards (or those needed) of logical partitions, merged
	Scan                     // physical partitions as they come
)

func (a Access) String() string { return [...]string{"one shard", "partitions", "scan"}[a] }

// Output is what is made of the rows of Partitions.
type Output uint8

// The kinds of output.
const (
	// AsRows: rows are the result, as the shards select them.
	AsRows Output = iota
	// Combined: each shard aggregates its rows, and the results are combined.
	Combined
	// Evaluated: the selection is evaluated over the merged rows.
	Evaluated
)

// Select is the plan of a SELECT. It is immutable.
type Select struct {
	Table   *Table
	Logical *analysis.Select
	Access  Access
	Output  Output

	// Whole is the statement of One and of Scan.
	Whole *Statement
	route *route

	// Of Partitions: a fetch selects Visible columns for the result (or for its
	// evaluation), then those that order and tell apart the rows.
	Visible    int
	Clustering []int        // where the clustering columns are among the selected
	ShardCell  int          // where the shard is
	Combine    []Combinator // of Combined, one for each visible column

	// FilterHere says that rows come unfiltered and are filtered here: where a
	// filter on a clustering column would stand beside a position on it.
	FilterHere bool

	base    syntax.Select // a fetch without its shards and slice
	filters []syntax.Relation
	fetches sync.Map // fetchShape → *Statement
}

// NewSelect plans a SELECT on a sharded table.
func NewSelect(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	p := &Select{Table: t, Logical: a, route: t.one(&a.Where)}
	stmt = clientMarkers(stmt)
	stmt.From = t.name()
	if a.Wildcard {
		stmt.Selectors = nil
		for _, c := range t.All() {
			stmt.Selectors = append(stmt.Selectors, column(c.Name))
		}
	}
	if err := t.refuse(stmt, a); err != nil {
		return nil, err
	}
	var err error
	switch {
	case p.route != nil:
		p.Access = One
		stmt.Where = t.pinned(stmt.Where)
		p.Whole, err = newStatement(stmt)
	case a.Where.Partition == nil:
		p.Access = Scan
		err = p.scan(stmt)
	default:
		p.Access = Partitions
		err = p.partitions(stmt)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Target is where a statement of One goes.
func (p *Select) Target(env *eval.Env) (Target, error) { return p.route.target(p.Table, env) }

func column(name string) syntax.Selector { return syntax.Selector{Expr: &syntax.Column{Name: name}} }

// refuse names what sharded tables do not answer.
func (t *Table) refuse(stmt *syntax.Select, a *analysis.Select) error {
	for _, s := range stmt.Selectors {
		if callsToken(s.Expr) {
			return refused("token() in the selection: a sharded table's rows are stored under several tokens", "select the partition key and compute the token in the application")
		}
	}
	return nil
}

// refused is the error of what a sharded table cannot answer.
func refused(what, instead string) error {
	return wire.Invalidf("write_sharding: %s; %s", what, instead)
}

func callsToken(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Call:
		if e.Func.Name == "token" && (e.Func.Keyspace == "" || e.Func.Keyspace == "system") {
			return true
		}
		return slices.ContainsFunc(e.Args, callsToken)
	case *syntax.Cast:
		return callsToken(e.Expr)
	case *syntax.Binary:
		return callsToken(e.Left) || callsToken(e.Right)
	case *syntax.Negate:
		return callsToken(e.Expr)
	case *syntax.Tuple:
		return slices.ContainsFunc(e.Elems, callsToken)
	case *syntax.List:
		return slices.ContainsFunc(e.Elems, callsToken)
	}
	return false
}

// scan reads physical partitions: exact where a row is answered for by itself.
func (p *Select) scan(stmt *syntax.Select) error {
	a := p.Logical
	switch {
	case a.Distinct:
		return refused("SELECT DISTINCT over all partitions is not there yet", "restrict the partition key")
	case a.Grouped:
		return refused("GROUP BY over all partitions is not there yet", "restrict the partition key")
	case a.PerPartitionLimit != nil:
		return refused("PER PARTITION LIMIT over all partitions is not there yet", "restrict the partition key")
	}
	for i, r := range stmt.Where {
		if r.Token {
			if callsToken(r.Value) {
				return refused("token(…) compared with token(…): the key's rows are stored under several tokens", "compare with a literal token")
			}
			stmt.Where[i].Columns = append(slices.Clone(r.Columns), p.Table.Layout.Column)
		}
	}
	var err error
	p.Whole, err = newStatement(stmt)
	return err
}

// partitions plans a fan-out: the statement that fetches rows, and what is made
// of them.
func (p *Select) partitions(stmt *syntax.Select) error {
	a, t := p.Logical, p.Table
	aggregated := a.Selection.Aggregated
	for _, r := range a.Where.Filters {
		for _, c := range r.Columns {
			p.FilterHere = p.FilterHere || c.Kind == schema.Clustering
		}
	}
	switch {
	case a.Distinct:
		return refused("SELECT DISTINCT is not there yet", "select without DISTINCT")
	case a.PerPartitionLimit != nil && (aggregated || a.Grouped):
		return refused("PER PARTITION LIMIT together with aggregates or GROUP BY is not there yet", "leave it out")
	case a.NeedsIndex:
		return refused("secondary indexes are not there yet", "restrict by the primary key, or ALLOW FILTERING")
	case a.JSON || a.Grouped || len(a.Sort) > 0 || p.FilterHere:
		p.Output = Evaluated
	case aggregated:
		if p.Combine = combinators(a); p.Combine != nil {
			p.Output = Combined
		} else {
			p.Output = Evaluated
		}
	}
	f := syntax.Select{From: stmt.From, AllowFiltering: stmt.AllowFiltering && !p.FilterHere}
	if p.Output == Evaluated {
		for _, c := range a.Fetch {
			if c.Times {
				return refused("writetime and ttl together with aggregates, JSON, or a filter on a clustering column are not there yet", "select them in a statement of their own")
			}
			f.Selectors = append(f.Selectors, column(c.Column.Name))
		}
	} else {
		f.Selectors = stmt.Selectors
	}
	p.Visible = len(f.Selectors)
	if p.Output != Combined {
		at := func(name string) int {
			for i, s := range f.Selectors {
				if c, ok := s.Expr.(*syntax.Column); ok && c.Name == name {
					return i
				}
			}
			f.Selectors = append(f.Selectors, column(name))
			return len(f.Selectors) - 1
		}
		for _, c := range t.Clustering {
			p.Clustering = append(p.Clustering, at(c.Name))
		}
		p.ShardCell = at(t.Layout.Column)
	}
	for i, c := range t.PartitionKey {
		f.Where = append(f.Where, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpEQ, Value: marker(Key, i)})
	}
	if !p.FilterHere {
		filtered := map[string]bool{}
		for _, r := range a.Where.Filters {
			for _, c := range r.Columns {
				filtered[c.Name] = true
			}
		}
		for _, r := range stmt.Where {
			if !r.Token && filtered[r.Columns[0]] {
				p.filters = append(p.filters, r)
			}
		}
	}
	if a.Reversed {
		for _, c := range t.Clustering {
			f.OrderBy = append(f.OrderBy, syntax.Ordering{Column: c.Name, Desc: !c.Desc})
		}
	}
	p.base = f
	return nil
}
