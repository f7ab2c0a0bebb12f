// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/reshard"
)

// OnePlace is the plan of a statement on rows that have one place during a change of their table's layout: the
// place does not move, or the step of the change needs only the old or only the new place. The door then sends
// the statement to that shard, as it does without a change. Whether the rows have one place depends on the
// statement's values. It is immutable.
type OnePlace struct {
	Whole *Statement
	At    int // index of the shard among the values

	old, next     *Direct
	present, past places
	ownTime       bool
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
	switch {
	case !need.next:
		return old, true
	case !need.old:
		return next, true
	}
	return next, old == next
}

// newOnePlace returns the plan if both layouts lead the statement to one shard by the same text, or nil.
func newOnePlace(c *Change, old, next *Direct, oldText, nextText *Statement) *OnePlace {
	if old == nil || next == nil || oldText.Text != nextText.Text || old.At != next.At {
		return nil
	}
	return &OnePlace{Whole: nextText, At: next.At, old: old, next: next, change: c}
}

// onePlace returns the plan of a SELECT of one row for the case that the row has one place. It returns nil if
// there is none.
func (p *Select) onePlace(stmt *syntax.Select, clientValues int) (*OnePlace, error) {
	from, to, a := p.from, p.Change.To, p.Logical
	if twoTables(from, to) || from.Renamed() {
		return nil, nil
	}
	for _, c := range from.Clustering {
		if _, ok := bound(a.Where.Clustering, c); !ok {
			return nil, nil // the SELECT can have several pages, and each form of the plan has its own paging states
		}
	}
	old, err := selectIn(from, stmt, a, false, false)
	if err != nil {
		return nil, err
	}
	next, err := selectIn(to, stmt, a, false, false)
	if err != nil || old.Access != One || next.Access != One {
		return nil, err
	}
	o := newOnePlace(p.Change, old.Direct(clientValues), next.Direct(clientValues), old.Whole, next.Whole)
	if o != nil {
		both, read := p.Change.Duty.Both(), p.Change.Duty.New()
		o.present = places{old: both || !read, next: both || read}
		o.past = o.present
	}
	return o, nil
}

// onePlace returns the plan of a write for the case that its rows have one place. It returns nil if there is none.
func (p *Write) onePlace(stmt syntax.Statement, clientValues int) (*OnePlace, error) {
	from, to := p.Table, p.To.Table
	if row, static := p.touches(); !row || static || twoTables(from, to) || from.Renamed() || p.Logical.Scope != analysis.ScopeRows && p.Logical.Scope != analysis.ScopeDeleteRows {
		return nil, nil
	}
	old, err := writeIn(from, stmt, p.Logical, true)
	if err != nil {
		return nil, err
	}
	next, err := writeIn(to, stmt, p.Logical, true)
	if err != nil {
		return nil, err
	}
	o := newOnePlace(from.Change, old.Direct(clientValues), next.Direct(clientValues), old.Whole, next.Whole)
	if o != nil {
		duty := from.Change.Duty
		in := func(of reshard.Act, programs ...[]reshard.Act) bool {
			return slices.ContainsFunc(programs, func(p []reshard.Act) bool { return slices.Contains(p, of) })
		}
		o.present = places{old: in(reshard.PutOld, duty.Write), next: in(reshard.PutNew, duty.Write)}
		o.past = places{old: in(reshard.PutOld, duty.Write, duty.Past), next: in(reshard.PutNew, duty.Write, duty.Past)}
		o.ownTime = p.Logical.Timestamp != nil
	}
	return o, nil
}
