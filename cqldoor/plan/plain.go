// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/shard"
)

// A logical table keeps its name for ever. The physical table that has its rows can have
// another one: a change from unsharded to sharded copies the rows into a second physical
// table, because no store can alter a partition key.

// plainPlace is the place of all rows of a plain table.
const plainPlace = shard.PlainPlace

// Kept says how the rows of a logical table are kept: by a layout, in a physical table of
// the same keyspace.
type Kept struct {
	Layout   *shard.Layout
	Physical string // "" where the physical table has the logical one's name
}

// NewKept is NewTable of a table that is kept in a physical table of any name.
func NewKept(t *schema.Table, k Kept) (*Table, error) {
	out, err := NewTable(t, k.Layout)
	if err == nil {
		out.physical = k.Physical
	}
	return out, err
}

// Plain says whether the physical table has no shards: all rows are in shard.PlainPlace.
func (t *Table) Plain() bool { return t.Layout.Plain() }

// Physical is the physical table's name.
func (t *Table) Physical() syntax.Name {
	return syntax.Name{Keyspace: t.Keyspace, Name: cmp.Or(t.physical, t.Name)}
}

func (t *Table) name() syntax.Name { return t.Physical() }

// Renamed says whether the physical table has another name than the logical one. What the
// store answers names the physical one then, and is not passed on as it came.
func (t *Table) Renamed() bool { return t.physical != "" && t.physical != t.Name }

// plainly plans a SELECT that the store answers for a plain table, whatever it reads.
func plainly(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	p := &Select{Table: t, Logical: a, Access: Scan, ShardCell: -1}
	var err error
	p.Whole, err = newStatement(t.physically(stmt, a))
	return p, err
}

// ReadsPlainly is Plainly where a page is read so, nil elsewhere. While reads go by the old
// places the store answers them. A read that goes on behind one of the store's paging states
// goes on there as long as the plain table has all rows. state is the paging state, nil for
// the first page.
func (p *Select) ReadsPlainly(state []byte) *Select {
	switch {
	case p.Plainly == nil:
		return nil
	case state == nil && (p.Change.Duty.Both() || p.Change.Duty.New()):
		return nil
	case state != nil && IsCursor(p.Table.Identity(), state):
		return nil
	}
	return p.Plainly
}
