// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// OnePlace is a second plan of a statement on a table whose layout is being changed. It is for executions whose rows
// have one place: they do not move, or the step of the change needs only the old or only the new place. Whether this is
// so depends on the statement's values. The door sends such an execution to that shard, as it does without a change. It
// is immutable.
type OnePlace struct {
	Whole *Statement
	At    int // index of the shard among the values

	old, next     *Direct // nil if no execution needs that place
	present, past places  // what an execution needs; past: if its timestamp is older than the change
	ownTime       bool    // the statement has a timestamp of its own
	change        *Change
}

// places says which places a statement needs.
type places struct{ old, next bool }

// Shard returns the shard that the client's values decide. stamp is the request's timestamp, in microseconds. It
// returns false if the rows may have two places, or if a value is wrong. scratch is a buffer.
func (o *OnePlace) Shard(values, scratch [][]byte, stamp int64) (int, bool) {
	need := o.present
	if o.ownTime || o.change.Past(stamp) {
		need = o.past
	}
	var old, next int
	var err error
	if need.old {
		if old, err = o.old.Shard(values, scratch); err != nil {
			return 0, false
		}
	}
	if need.next {
		if next, err = o.next.Shard(values, scratch); err != nil {
			return 0, false
		}
	}
	if !need.next {
		return old, true
	}
	return next, !need.old || old == next
}

// planned is a statement's plan for one shard under one layout.
type planned struct {
	whole  *Statement
	direct *Direct
}

// onePlace plans a statement under those of the two layouts whose places it may need. plan plans it under one layout.
// It returns nil if there is no plan for one shard.
//
// Two layouts in two physical tables have no OnePlace, and a table that is renamed has none: the door must put the
// logical name into what the store answers. Nor have buckets of time: the directory must have a bucket before a row is
// written there.
func onePlace(c *Change, present, past places, ownTime bool, plan func(*Table) (planned, error)) (*OnePlace, error) {
	if twoTables(c.From, c.To) || c.From.Renamed() || c.From.Layout.Strategy != shard.Calculated || c.To.Layout.Strategy != shard.Calculated {
		return nil, nil
	}
	o := &OnePlace{present: present, past: past, ownTime: ownTime, change: c}
	for _, of := range []struct {
		table *Table
		need  bool
		to    **Direct
	}{{c.From, present.old || past.old, &o.old}, {c.To, present.next || past.next, &o.next}} {
		if !of.need {
			continue
		}
		p, err := plan(of.table)
		if err != nil || p.direct == nil || o.Whole != nil && (o.Whole.Text != p.whole.Text || o.At != p.direct.At) {
			return nil, err
		}
		o.Whole, o.At, *of.to = p.whole, p.direct.At, p.direct
	}
	return o, nil
}

// onePlace returns the plan of a SELECT of one row for one place, or nil if there is none. A read of several rows has
// none: it can have several pages, and the two plans have different paging states.
func (p *Select) onePlace(stmt *syntax.Select) (*OnePlace, error) {
	for _, c := range p.Table.Clustering {
		if _, ok := bound(p.Logical.Where.Clustering, c); !ok {
			return nil, nil
		}
	}
	need := places{old: p.Change.Duty.Both() || !p.Change.Duty.New(), next: p.Change.Duty.Both() || p.Change.Duty.New()}
	return onePlace(p.Change, need, need, false, func(t *Table) (planned, error) {
		s, err := selectIn(t, stmt, p.Logical, false, false)
		if err != nil || s.Access != One {
			return planned{}, err
		}
		return planned{s.Whole, s.Direct(len(p.Logical.Binds))}, nil
	})
}

// onePlace returns the plan of a write for one place, or nil if there is none.
func (p *Write) onePlace(stmt syntax.Statement) (*OnePlace, error) {
	if row, static := p.touches(); !row || static || p.Logical.Scope != analysis.ScopeRows && p.Logical.Scope != analysis.ScopeDeleteRows {
		return nil, nil
	}
	c := p.Table.Change
	has := func(a reshard.Act, programs ...[]reshard.Act) bool {
		return slices.ContainsFunc(programs, func(p []reshard.Act) bool { return slices.Contains(p, a) })
	}
	present := places{old: has(reshard.PutOld, c.Duty.Write), next: has(reshard.PutNew, c.Duty.Write)}
	past := places{old: has(reshard.PutOld, c.Duty.Write, c.Duty.Past), next: has(reshard.PutNew, c.Duty.Write, c.Duty.Past)}
	return onePlace(c, present, past, p.Logical.Timestamp != nil, func(t *Table) (planned, error) {
		w, err := writeIn(t, stmt, p.Logical, true)
		if err != nil {
			return planned{}, err
		}
		return planned{w.Whole, w.Direct(len(p.Logical.Binds))}, nil
	})
}
