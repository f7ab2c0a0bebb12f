// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/shard"
)

// A logical table always keeps its name. The physical table that has its rows can have another
// name: a change that no table can undergo in place copies the rows to a second physical table. No
// store can alter a partition key, and buckets of time have no base by which places are kept apart.

// plainPlace is the place of all rows of a plain table.
const plainPlace = shard.PlainPlace

// Kept says how the store keeps the rows of a logical table: with a layout, in a physical table of
// the same keyspace.
type Kept struct {
	Layout   *shard.Layout
	Physical string   // "": the physical table has the logical table's name
	ID       [16]byte // of the physical table; zero: the logical table's id
}

// NewKept makes a Table as NewTable does, for a table whose physical table may have any name.
func NewKept(t *schema.Table, k Kept) (*Table, error) {
	out, err := NewTable(t, k.Layout)
	if err == nil {
		out.physicalName, out.physicalID = k.Physical, k.ID
	}
	return out, err
}

// plainly plans a SELECT that the store answers from a plain table, whatever the SELECT reads.
func plainly(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	p := &Select{Table: t, Logical: a, Access: Scan, ShardCell: -1}
	var err error
	p.Whole, err = newStatement(t.physically(stmt, a))
	return p, err
}

// ofPlain plans a SELECT on a plain table that is not under a change. The store answers it. Only a
// read that a door began, during a change that has ended, continues as the door's.
func ofPlain(t *Table, stmt *syntax.Select, a *analysis.Select) (*Select, error) {
	whole, err := plainly(t, stmt, a)
	if err != nil {
		return nil, err
	}
	p, err := selectIn(t, stmt, a, true, false)
	if err != nil { // a door does not answer such a read, and has begun none
		p = &Select{Table: t, Logical: a, Access: Scan, ShardCell: -1, onlyPlainly: true}
	}
	p.Plainly = whole
	return p, nil
}

// ReadsPlainly returns Plainly if the store can answer a page from the plain table, and nil
// otherwise. The store can answer while reads use the old places. A read that continues from one of
// the store's paging states stays there as long as the plain table has all rows. state is the
// paging state, nil for the first page.
func (p *Select) ReadsPlainly(state []byte) *Select {
	switch {
	case p.Plainly == nil:
		return nil
	case p.onlyPlainly:
		return p.Plainly
	case state == nil && p.Change != nil && (p.Change.Duty.Both() || p.Change.Duty.New()):
		return nil
	case state != nil && IsCursor(p.Table.Identity(), state):
		return nil
	}
	return p.Plainly
}
