// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/reshard"
)

// Access is the way in which a SELECT reaches its rows.
type Access uint8

// These are the kinds of access.
const (
	One        Access = iota // one shard
	Partitions               // all needed shards of logical partitions, merged
	Scan                     // physical partitions in token order
	Owners                   // logical partitions, each at the shard that owns it
)

func (a Access) String() string {
	return [...]string{"one shard", "partitions", "scan", "scan of owners"}[a]
}

// Output says how the result is made from the rows of Partitions and Owners.
type Output uint8

// These are the kinds of output.
const (
	// AsRows: the rows that the shards select are the result.
	AsRows Output = iota
	// Combined: each shard aggregates its rows, and the door combines the results.
	Combined
	// Evaluated: the door evaluates the selection over the merged rows.
	Evaluated
)

// Select is the plan of a SELECT. It is immutable.
type Select struct {
	Table   *Table
	Logical *analysis.Select
	Access  Access
	Output  Output

	// Whole is the statement for One and for Scan.
	Whole *Statement
	route *route

	// These are for Partitions and Owners. A fetch first selects Visible columns for the result
	// or its evaluation, then the columns that order and distinguish the rows.
	Visible    int
	Clustering []int        // indexes of the clustering columns among the selected columns
	ShardCell  int          // index of the shard; -1: the table has no shards
	Combine    []Combinator // for Combined: one for each visible column
	Selection  string       // what a fetch selects, whatever its restrictions

	// Sources is for Evaluated. It says where the cells of Logical.Fetch come from, and how a row
	// that several shards have is merged (see Merge).
	Sources []Source
	merge   []mergeCell

	// Presence reads the other facts about a logical partition that the statement needs besides its
	// rows: the static columns, and whether it exists. Nil: it needs none.
	Presence *Presence

	// FilterHere says that the shards return unfiltered rows and the door filters them. This is
	// so if a filter on a clustering column would conflict with the read position on that column,
	// and if no shard has the whole row.
	FilterHere bool

	walks map[*Table]*walk // for Owners: one for each table by whose places a scan can go

	// Old is the same read in the old places. It is set if reads use both places (see Change).
	// The rows are then compared as they are stored, and the door does the rest.
	Old *Select

	// Change is the change that the table is under. Quorum says that the read needs at least
	// LOCAL_QUORUM.
	Change *Change
	Quorum bool
	from   *Table // the table under the change, with its old layout

	// OnePlace is a second plan during a change; nil: there is none.
	OnePlace *OnePlace

	// Plainly is the same read as the store answers it for the plain table alone. It is used while
	// that table has all rows. The store makes its paging states.
	Plainly     *Select
	onlyPlainly bool // the door has no other plan for it

	both bool // it is one of the two reads

	base    syntax.Select // a fetch without its shards and slice
	filters []syntax.Relation
	fetches sync.Map // fetchShape → *Statement
}

// NewSelect plans a SELECT on a sharded table.
func NewSelect(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	return newSelect(t, stmt, a, false)
}

// NewMerged plans a SELECT of partitions that can continue from a Cursor even if it goes to one
// shard. The store's own paging states have another form.
func NewMerged(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	return newSelect(t, stmt, a, true)
}

func newSelect(t *Table, stmt *syntax.Select, a *analysis.Select, merged bool) (*Select, error) {
	if t.Change == nil && t.Plain() {
		return ofPlain(t, stmt, a)
	}
	if t.Change == nil {
		return selectIn(t, stmt, a, merged || t.Renamed(), false)
	}
	both := t.Change.Duty.Both()
	p, err := selectIn(t.reads(), stmt, a, true, both)
	if err != nil {
		return nil, err
	}
	p.Change, p.Quorum, p.from = t.Change, t.Change.Duty.Quorum, t
	if t.Plain() && slices.Contains(t.Change.Duty.Write, reshard.PutOld) {
		if p.Plainly, err = plainly(t, stmt, a); err != nil {
			return nil, err
		}
	}
	if p.walks != nil {
		for _, by := range []*Table{t, t.Change.To} {
			if err := (planning{p}).walksBy(by); err != nil {
				return nil, err
			}
		}
	}
	if both {
		if p.Old, err = selectIn(t, stmt, a, true, true); err != nil {
			return nil, err
		}
	}
	p.OnePlace, err = p.onePlace(stmt)
	return p, err
}

// planning is a Select that is not ready yet. Its methods set the fields of the Select. A Select that
// selectIn has returned does not change.
type planning struct{ *Select }

// selectIn plans a SELECT that one layout answers.
func selectIn(t *Table, stmt *syntax.Select, a *analysis.Select, merged, both bool) (*Select, error) {
	p := planning{&Select{Table: t, Logical: a, both: both}}
	stmt = t.physically(stmt, a)
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
		err = p.fanOut(stmt, !apart)
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
	return p.Select, nil
}

// seesApart says that each shard's rows can be judged without the other shards: no cell of a row,
// and nothing that decides whether the row is shown, is in another shard.
func (p *Select) seesApart() bool {
	t, a := p.Table, p.Logical
	if t.Layout.Strategy.Anywhere() {
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

// Bind binds the statement's values.
func (p *Select) Bind(env *eval.Env) (*analysis.BoundSelect, error) {
	b, err := p.Logical.Bind(env)
	if err != nil {
		return nil, err
	}
	if b.Slices.Len() > 0 { // otherwise Cassandra does not look at the keys
		if err := checkKeys(len(p.Table.PartitionKey), &b.Keys); err != nil {
			return nil, err
		}
	}
	if err := checkTuples(p.Table.Table, &b.Slices); err != nil {
		return nil, err
	}
	return b, nil
}

// Target returns where a statement of One goes. scratch is a buffer.
func (p *Select) Target(env *eval.Env, scratch [][]byte) (Target, error) {
	target, err := p.route.target(&p.Table.placement, env, scratch, true)
	if err == nil {
		return target, nil
	}
	switch b, e := p.Bind(env); {
	case e != nil:
		return Target{}, e
	case b.Slices.Len() == 0: // IN (): Cassandra does not look at the keys
		return p.route.target(&p.Table.placement, env, scratch, false)
	}
	return Target{}, err
}

func column(name string) syntax.Selector { return syntax.Selector{Expr: &syntax.Column{Name: name}} }

// refused returns the error for a statement that a sharded table cannot answer.
func refused(what, instead string) error {
	return wire.Invalidf("write_sharding: %s; %s", what, instead)
}

// refuse returns an error if a sharded table cannot answer the statement.
func (p planning) refuse(stmt *syntax.Select) error {
	if p.Logical.NeedsIndex {
		return refused("secondary indexes are not supported", "restrict by the primary key, or ALLOW FILTERING")
	}
	return p.refuseTokens(stmt)
}
