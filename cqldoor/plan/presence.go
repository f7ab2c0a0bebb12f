// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
)

// Presence reads the static columns of a logical partition, and which of its shards have any
// rows.
type Presence struct {
	selectors []syntax.Selector
	merge     []mergeCell
	all       bool // asks all shards, not only the home of the static columns
	statement *Statement

	// Static is the number of static cells at the beginning of an answer's row. The shard follows
	// them.
	Static int
}

// presence plans the read of what is needed besides the rows.
func (p planning) presence() error {
	a, t := p.Logical, p.Table
	if p.Presence == nil {
		if !a.Distinct && !(a.StaticRows && len(t.Statics) > 0) {
			return nil
		}
		p.Presence = &Presence{}
	}
	r := p.Presence
	r.all = a.Distinct || t.Layout.Strategy.Anywhere()
	var err error
	r.Static = len(r.selectors)
	r.statement, err = t.presence(r.selectors)
	return err
}

// Shards returns the shards that must be asked.
func (r *Presence) Shards(t *Table, dir Directory, key [][]byte) ([]int, error) {
	if r.all {
		return t.Places(dir, key)
	}
	return []int{t.Home(key)}, nil
}

// Fetch returns the read of the given shards.
func (r *Presence) Fetch(b *analysis.BoundSelect, key [][]byte, shards []int) Fetch {
	return fetchKey(r.statement, b, key, shards)
}

// Merge merges the static cells of two shards. into is changed.
func (r *Presence) Merge(into, other [][]byte) { mergeCells(r.merge, into, other) }

// Alone says that a partition without rows gives one row of its static columns.
func (p *Select) Alone() bool {
	return rule.On(rule.StaticsWithoutRows) && p.Logical.StaticRows && p.Presence != nil && !p.Logical.Distinct && len(p.Table.Statics) > 0
}
