// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// OnePlace is another plan of a statement, for executions in which one shard has all its rows. The door sends such an
// execution to that shard, as it does if the statement's first plan is for one shard. It is immutable.
//
// During a change of layout, rows have one place if they do not move, or if the step of the change needs only the old
// or only the new place. Whether this is so depends on the statement's values. Without a change, a SELECT of one row has
// a OnePlace if the physical table has another name than the logical one.
type OnePlace struct {
	Whole   *Statement
	At      int  // index of the shard among the values
	Renamed bool // the metadata of the store's result has another table name than the logical one

	old, next     *Direct // nil: no execution that needs this place has one place
	present, past places  // what an execution needs; past: if its timestamp is older than the change
	ownTime       bool    // the statement has a timestamp of its own
	change        *Change // nil: none
}

// places says which places a statement needs.
type places struct{ old, next bool }

// InChange reports whether the table's layout is being changed.
func (o *OnePlace) InChange() bool { return o.change != nil }

// Shard returns the shard that the client's values decide. stamp is the request's timestamp, in microseconds. It
// returns false if the rows may have two places, or if a value is wrong. scratch is a buffer.
func (o *OnePlace) Shard(values, scratch [][]byte, stamp int64) (int, bool) {
	need := o.present
	if o.change != nil && (o.ownTime || o.change.Past(stamp)) {
		need = o.past
	}
	shards := [2]int{-1, -1}
	for i, d := range []*Direct{o.old, o.next} {
		if i == 0 && !need.old || i == 1 && !need.next {
			continue
		}
		if d == nil {
			return 0, false
		}
		var err error
		if shards[i], err = d.Shard(values, scratch); err != nil {
			return 0, false
		}
	}
	if !need.next {
		return shards[0], true
	}
	return shards[1], !need.old || shards[0] == shards[1]
}

// planned is a statement's plan for one shard under one layout.
type planned struct {
	whole  *Statement
	direct *Direct
}

// newOnePlace returns the plan for the places that present executions need. old and next are the plans under the two
// layouts. apart says that the layouts are in two physical tables. It returns nil if no execution can have one place.
func newOnePlace(old, next planned, apart bool, o OnePlace) *OnePlace {
	switch {
	case apart && o.present.old && o.present.next:
		return nil
	case apart && o.present.old:
		next = planned{}
	case apart:
		old = planned{}
	}
	use := next
	if !o.present.next {
		use = old
	}
	if use.direct == nil || o.present.old && old.direct == nil {
		return nil
	}
	o.Whole, o.At = use.whole, use.direct.At
	for _, of := range []struct {
		planned
		to **Direct
	}{{old, &o.old}, {next, &o.next}} {
		if of.direct != nil && of.whole.Text == o.Whole.Text {
			*of.to = of.direct
		}
	}
	return &o
}

// onePlace returns a SELECT's other plan, or nil if there is none. The SELECT reads one row: a read of several rows can
// have several pages, and the two plans have different paging states.
func (p *Select) onePlace(stmt *syntax.Select) (*OnePlace, error) {
	for _, c := range p.Table.Clustering {
		if _, ok := bound(p.Logical.Where.Clustering, c); !ok {
			return nil, nil
		}
	}
	in := func(t *Table) (planned, error) {
		if t.Layout.Strategy != shard.Calculated {
			return planned{}, nil
		}
		s, err := selectIn(t, stmt, p.Logical, false, false)
		if err != nil || s.Access != One {
			return planned{}, err
		}
		return planned{s.Whole, s.Direct(len(p.Logical.Binds))}, nil
	}
	next, err := in(p.Table)
	if err != nil {
		return nil, err
	}
	o := OnePlace{Renamed: p.Table.Renamed(), present: places{next: true}, change: p.Change}
	var old planned
	if p.Change != nil && p.Change.Duty.Both() {
		o.present.old = true
		if old, err = in(p.from); err != nil {
			return nil, err
		}
	}
	o.past = o.present
	return newOnePlace(old, next, p.Change != nil && twoTables(p.Change.From, p.Change.To), o), nil
}

// onePlace returns a write's other plan during a change, or nil if there is none.
func (p *Write) onePlace(stmt syntax.Statement) (*OnePlace, error) {
	from, to := p.Table, p.To.Table
	if row, static := p.touches(); !row || static || p.Logical.Scope != analysis.ScopeRows && p.Logical.Scope != analysis.ScopeDeleteRows {
		return nil, nil
	}
	in := func(t *Table) (planned, error) {
		if t.Layout.Strategy != shard.Calculated { // a bucket must be in the directory before a row is written there
			return planned{}, nil
		}
		w, err := writeIn(t, stmt, p.Logical, true)
		if err != nil {
			return planned{}, err
		}
		return planned{w.Whole, w.Direct(len(p.Logical.Binds))}, nil
	}
	old, err := in(from)
	if err != nil {
		return nil, err
	}
	next, err := in(to)
	if err != nil {
		return nil, err
	}
	duty := from.Change.Duty
	has := func(a reshard.Act, programs ...[]reshard.Act) bool {
		return slices.ContainsFunc(programs, func(p []reshard.Act) bool { return slices.Contains(p, a) })
	}
	return newOnePlace(old, next, twoTables(from, to), OnePlace{
		present: places{old: has(reshard.PutOld, duty.Write), next: has(reshard.PutNew, duty.Write)},
		past:    places{old: has(reshard.PutOld, duty.Write, duty.Past), next: has(reshard.PutNew, duty.Write, duty.Past)},
		ownTime: p.Logical.Timestamp != nil,
		change:  from.Change,
	}), nil
}
