// SPDX-License-Identifier: Apache-2.0

package result

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
)

// Groups makes one result row from each group of rows. A group is the rows of one partition that
// have equal values for the expressions of GROUP BY, or all rows of an aggregation without GROUP
// BY.
type Groups struct {
	on   bool
	open bool
	sel  *analysis.Select
	rows *eval.Group
	by   [][]byte // the values of GROUP BY in the open group
}

// Begin prepares g for the rows of a statement.
func (g *Groups) Begin(sel *analysis.Select) {
	*g = Groups{on: sel.Selection.Aggregated || sel.Grouped, sel: sel, by: g.by[:0]}
	if g.on {
		g.rows = sel.Selection.NewGroup()
	}
}

// On reports whether the statement has groups.
func (g *Groups) On() bool { return g.on }

// Open reports whether a group has rows for which Close has not been called.
func (g *Groups) Open() bool { return g.open }

// Ends reports whether the open group ends with its partition. A group of GROUP BY never spans
// several partitions.
func (g *Groups) Ends() bool { return g.open && g.sel.Grouped }

// Splits reports whether a row of the open group's partition begins another group.
func (g *Groups) Splits(env *eval.Env, row eval.Row) (bool, error) {
	if !g.Ends() {
		return false, nil
	}
	for i, e := range g.sel.GroupBy {
		v, err := eval.Eval(e, env, row)
		if err != nil {
			return false, err
		}
		// The values are compared by their type, as clustering columns are: different bytes may be
		// equal (1.0 and 1.00).
		if e.Type().Compare(v, g.by[i]) != 0 {
			return true, nil
		}
	}
	return false, nil
}

// Add adds a row to the open group, or opens a group with it. The caller may reuse the row and the
// memory of its cells afterwards.
func (g *Groups) Add(env *eval.Env, row eval.Row) error {
	if !g.open {
		g.open = true
		g.by = g.by[:0]
		for _, e := range g.sel.GroupBy {
			v, err := eval.Eval(e, env, row)
			if err != nil {
				return err
			}
			g.by = append(g.by, cloneCell(v))
		}
	}
	return g.rows.Add(env, row)
}

// Close ends the open group and appends its result row to dst. If an aggregation got no rows, this
// is the row of an aggregate over no rows.
func (g *Groups) Close(env *eval.Env, dst [][]byte) ([][]byte, error) {
	g.open = false
	return g.rows.Result(env, dst)
}

// cloneCell copies a cell. A null stays nil.
func cloneCell(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}
