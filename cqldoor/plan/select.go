// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/shard"
)

// Access is how a SELECT reaches its rows.
type Access uint8

// The kinds of access.
const (
	One        Access = iota // one shard
	Partitions               // all shards (or those needed) of logical partitions, merged
	Scan                     // physical partitions as they come
	Owners                   // logical partitions, each where a scan meets its owner
)

func (a Access) String() string {
	return [...]string{"one shard", "partitions", "scan", "scan of owners"}[a]
}

// Output is what is made of the rows of Partitions and Owners.
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

	// Of Partitions and Owners: a fetch selects Visible columns for the result (or
	// for its evaluation), then those that order and tell apart the rows.
	Visible    int
	Clustering []int        // where the clustering columns are among the selected
	ShardCell  int          // where the shard is
	Combine    []Combinator // of Combined, one for each visible column
	Selection  string       // what a fetch selects, whatever it restricts

	// Of Evaluated: where the cells of Logical.Fetch come from, and what becomes of
	// a row that several shards have (see Merge).
	Sources []Source
	merge   []mergeCell

	// Presence reads what a logical partition has beside its rows: its static
	// columns, and whether it exists at all. nil where that is not asked for.
	Presence *Presence

	// FilterHere says that rows come unfiltered and are filtered here: where a
	// filter on a clustering column would stand beside a position on it, and where
	// no shard has the whole row.
	FilterHere bool

	walk *walk // of Owners

	// Old is the same read of the old places, where reads look at both (see Change); nil
	// elsewhere. Rows are then compared as they are stored, and the rest is done here.
	Old *Select

	// Change is the one that the table is under, and Quorum says that the read has
	// LOCAL_QUORUM at least.
	Change *Change
	Quorum bool
	from   *Table // the table under the change, by its old layout

	both bool // it is one of the two

	base    syntax.Select // a fetch without its shards and slice
	filters []syntax.Relation
	fetches sync.Map // fetchShape → *Statement
}

// NewSelect plans a SELECT on a sharded table.
func NewSelect(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	return newSelect(t, stmt, a, false)
}

// NewMerged plans a SELECT of partitions on a sharded table so that it can go on
// with a Cursor, if it goes to one shard, too, whose own paging states are others.
func NewMerged(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	return newSelect(t, stmt, a, true)
}

func newSelect(t *Table, stmt *syntax.Select, a *analysis.Select, merged bool) (*Select, error) {
	if t.Change == nil {
		return selectIn(t, stmt, a, merged, false)
	}
	both := t.Change.Duty.Both()
	p, err := selectIn(t.reads(), stmt, a, true, both)
	if err != nil {
		return nil, err
	}
	p.Change, p.Quorum, p.from = t.Change, t.Quorum(), t
	if both {
		p.Old, err = selectIn(t, stmt, a, true, true)
	}
	return p, err
}

// selectIn plans a SELECT that one layout answers.
func selectIn(t *Table, stmt *syntax.Select, a *analysis.Select, merged, both bool) (*Select, error) {
	p := &Select{Table: t, Logical: a, both: both}
	stmt = clientMarkers(stmt)
	stmt.From = t.name()
	if a.Wildcard {
		stmt.Selectors = nil
		for _, c := range t.All() {
			stmt.Selectors = append(stmt.Selectors, column(c.Name))
		}
	}
	if err := p.refuse(stmt); err != nil {
		return nil, err
	}
	for i, r := range stmt.Where {
		if r.Token {
			continue
		}
		var err error
		if stmt.Where[i], err = withTokens(t, r); err != nil {
			return nil, err
		}
	}
	apart := p.seesApart()
	if apart && !merged {
		p.route = t.one(&a.Where)
	}
	var err error
	switch {
	case p.route != nil:
		p.Access = One
		stmt.Where, stmt.GroupBy = t.pinned(stmt.Where), t.grouped(stmt.GroupBy)
		p.Whole, err = newStatement(stmt)
	case a.Where.Partition != nil:
		p.Access = Partitions
		err = p.partitions(stmt, !apart)
	case apart && !merged && !t.Hides() && !a.Distinct && !a.Grouped && a.PerPartitionLimit == nil && len(a.Sort) == 0:
		p.Access = Scan
		err = p.scan(stmt)
	default:
		p.Access = Owners
		err = p.owners(stmt)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// seesApart says that each shard's rows can be answered for by themselves: no cell
// of a row, and nothing that decides whether it is shown, is in another shard.
func (p *Select) seesApart() bool {
	t, a := p.Table, p.Logical
	if t.Layout.Strategy == shard.Random {
		return false
	}
	if len(t.Statics) == 0 || !rule.On(rule.HomeOfStatics) {
		return true
	}
	if a.StaticRows || a.Distinct {
		return false
	}
	return !slices.ContainsFunc(a.Fetch, func(f analysis.Fetched) bool { return f.Column.Kind == schema.Static })
}

// Bind gives the statement its values.
//
// A frozen set or map is bound in any order, and stored in order; but not where it
// is part of a tuple, (a, b) IN ?, for Cassandra. There it is no row's unless it is in
// order; and between rows, where a fetch, which binds it by itself, cannot say it.
func (p *Select) Bind(env *eval.Env) (*analysis.BoundSelect, error) {
	b, err := p.Logical.Bind(env)
	if err != nil {
		return nil, err
	}
	if err := p.Table.checkKeys(&b.Keys); err != nil {
		return nil, err
	}
	for _, end := range b.Slices.Ends() {
		if !p.Table.stored(b.Slices.Prefix(), end) {
			return nil, refused("a set or a map in a tuple that bounds a range, its elements not in order", "put its elements in order")
		}
	}
	b.Slices.Keep(p.Table.stored)
	return b, nil
}

// stored says whether values of the clustering columns from the first on are as a row
// has them.
func (t *Table) stored(first int, values [][]byte) bool {
	for i, v := range values {
		typ := t.Clustering[first+i].Type
		if !typ.Collection() {
			continue
		}
		if b, err := typ.Bind(v); err != nil || !bytes.Equal(b, v) {
			return false
		}
	}
	return true
}

// Target is where a statement of One goes; scratch is room for it.
func (p *Select) Target(env *eval.Env, scratch [][]byte) (Target, error) {
	return p.route.target(p.Table, env, scratch)
}

func column(name string) syntax.Selector { return syntax.Selector{Expr: &syntax.Column{Name: name}} }

// refused is the error of what a sharded table cannot answer.
func refused(what, instead string) error {
	return wire.Invalidf("write_sharding: %s; %s", what, instead)
}

// refuse names what sharded tables do not answer.
func (p *Select) refuse(stmt *syntax.Select) error {
	a := p.Logical
	if a.NeedsIndex {
		return refused("secondary indexes are not supported", "restrict by the primary key, or ALLOW FILTERING")
	}
	for _, r := range stmt.Where {
		switch {
		case !r.Token:
		case callsToken(r.Value):
			return refused("token(…) compared with token(…): the key's rows are stored under several tokens", "compare with a literal token")
		case a.Where.Partition != nil:
			return refused("token(…) restricted beside the partition key, whose rows are stored under several tokens", "leave one of the two out")
		}
	}
	for _, s := range stmt.Selectors {
		if callsToken(s.Expr) && (a.Where.Partition != nil || !p.selectsOwnToken(s.Expr)) {
			return refused("token() in the selection: a sharded table's rows are stored under several tokens", "scan all partitions with token(partition key) alone, or compute the token in the application")
		}
	}
	return nil
}

// selectsOwnToken says that an expression is token() of the partition key.
func (p *Select) selectsOwnToken(e syntax.Expr) bool {
	c, ok := e.(*syntax.Call)
	if !ok || c.Func.Name != "token" || len(c.Args) != len(p.Table.PartitionKey) {
		return false
	}
	for i, arg := range c.Args {
		if n, ok := arg.(*syntax.Column); !ok || n.Name != p.Table.PartitionKey[i].Name {
			return false
		}
	}
	return true
}

func callsToken(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(e syntax.Expr) bool {
		if c, ok := e.(*syntax.Call); ok && isToken(c) {
			found = true
		}
		return !found
	})
	return found
}
