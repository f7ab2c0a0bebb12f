// SPDX-License-Identifier: Apache-2.0

package result

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
)

// Groups makes one row of each group of rows: of those of one partition that agree in the
// expressions of GROUP BY, or of all rows of an aggregation without GROUP BY.
type Groups struct {
	on   bool
	open bool
	sel  *analysis.Select
	rows *eval.Group
	by   [][]byte // the open group's values of GROUP BY
}

// Begin makes g the groups of a statement.
func (g *Groups) Begin(sel *analysis.Select) {
	*g = Groups{on: sel.Selection.Aggregated || sel.Grouped, sel: sel, by: g.by[:0]}
	if g.on {
		g.rows = sel.Selection.NewGroup()
	}
}

// On says whether the statement has groups.
func (g *Groups) On() bool { return g.on }

// Open says whether a group has rows that Close has not shown.
func (g *Groups) Open() bool { return g.open }

// Ends says whether the open group ends with its partition: no group of GROUP BY spans
// several.
func (g *Groups) Ends() bool { return g.open && g.sel.Grouped }

// Splits says whether a row of the open group's partition begins another group.
func (g *Groups) Splits(env *eval.Env, row eval.Row) (bool, error) {
	if !g.Ends() {
		return false, nil
	}
	for i, e := range g.sel.GroupBy {
		v, err := eval.Eval(e, env, row)
		if err != nil {
			return false, err
		}
		// As clustering columns they are compared by their type, to which different bytes may be
		// equal (1.0 and 1.00).
		if e.Type().Compare(v, g.by[i]) != 0 {
			return true, nil
		}
	}
	return false, nil
}

// Add adds a row to the open group, or opens one with it. The row and the memory of its cells
// may be reused afterwards.
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

// Close ends the open group and appends its row of the result to dst. Of an aggregation that no
// row was added to it is the row of an aggregate over nothing.
func (g *Groups) Close(env *eval.Env, dst [][]byte) ([][]byte, error) {
	g.open = false
	return g.rows.Result(env, dst)
}

// cloneCell copies a cell. A null stays null.
func cloneCell(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}
