// SPDX-License-Identifier: Apache-2.0

package eval

import "bytes"

// Selection is the list of values that a SELECT computes from the rows that it reads.
type Selection struct {
	Exprs []Expr

	// Aggregated is set if at least one expression is an aggregate. The rows of a group then give
	// one row of the result, in which plain columns have the values of the first row.
	Aggregated bool

	// JSON, if not nil, names the members of the JSON object that holds the selected values. The
	// result then has one column.
	JSON []string
}

// Row appends the result's values for one row to dst.
func (s *Selection) Row(env *Env, row Row, dst [][]byte) ([][]byte, error) {
	ev := evaluate(env, row)
	return s.output(&ev, dst)
}

func (s *Selection) output(ev *evaluation, dst [][]byte) ([][]byte, error) {
	base := len(dst)
	for _, e := range s.Exprs {
		// The common case needs no call.
		if c, ok := e.(*Column); ok && ev.row != nil {
			dst = append(dst, ev.row.Cell(c.Cell))
			continue
		}
		v, err := ev.eval(e)
		if err != nil {
			return dst, err
		}
		dst = append(dst, v)
	}
	if s.JSON == nil {
		return dst, nil
	}
	object, err := s.object(ev, dst[base:])
	return append(dst[:base], object), err
}

// Group collects the rows of one group.
type Group struct {
	s          *Selection
	calls      []*Call // the aggregates, in order
	aggregates map[*Call]accumulator
	cells      []int // columns of which the result shows the first value
	timed      []int // columns of which the result shows the times
	first      *firstRow
	args       [][]byte
	kept       int // length in bytes of the values that aggregates keep
}

// firstRow holds the copied cells and times of a group's first row.
type firstRow struct {
	cells map[int][]byte
	times map[int][]CellTime
}

func (r *firstRow) Cell(i int) []byte      { return r.cells[i] }
func (r *firstRow) Times(i int) []CellTime { return r.times[i] }

// NewGroup starts an empty group. A group without rows gives the result of an aggregate query over
// no rows.
func (s *Selection) NewGroup() *Group {
	g := &Group{s: s}
	for _, e := range s.Exprs {
		Walk(e, func(e Expr) bool {
			switch e := e.(type) {
			case *Call:
				if e.Func.Aggregate {
					g.calls = append(g.calls, e)
					return true // it does no harm to keep the columns of arguments
				}
			case *Column:
				g.cells = append(g.cells, e.Cell)
			case *Times:
				Walk(e.Of, func(e Expr) bool {
					if c, ok := e.(*Column); ok {
						g.timed = append(g.timed, c.Cell)
					}
					return true
				})
			}
			return true
		})
	}
	g.reset()
	return g
}

func (g *Group) reset() {
	g.first, g.kept = nil, 0
	g.aggregates = make(map[*Call]accumulator, len(g.calls))
	for _, c := range g.calls {
		g.aggregates[c] = c.Func.start()
	}
}

// Add adds a row. The caller may reuse the row and the memory of its cells after Add returns.
func (g *Group) Add(env *Env, row Row) error {
	if g.first == nil {
		g.first = &firstRow{cells: make(map[int][]byte, len(g.cells)), times: map[int][]CellTime{}}
		for _, i := range g.cells {
			if _, known := g.first.cells[i]; !known {
				g.first.cells[i] = bytes.Clone(row.Cell(i))
			}
		}
		for _, i := range g.timed {
			g.first.times[i] = append([]CellTime(nil), row.Times(i)...)
		}
	}
	ev := evaluate(env, row)
	for _, c := range g.calls {
		g.args = g.args[:0]
		for _, a := range c.Args {
			v, err := ev.eval(a)
			if err != nil {
				return err
			}
			g.args = append(g.args, v)
		}
		a := g.aggregates[c]
		keeps, _ := a.(*extreme)
		if keeps != nil {
			g.kept -= len(keeps.v)
		}
		if err := a.add(g.args); err != nil {
			return err
		}
		if keeps == nil {
			continue
		}
		if g.kept += len(keeps.v); g.kept > maxMade {
			return errMade(c.Func.Name)
		}
	}
	return env.hold(env.made + g.kept)
}

// Empty reports whether the group has no rows.
func (g *Group) Empty() bool { return g.first == nil }

// Result appends the values of the group's result row to dst and empties the group.
func (g *Group) Result(env *Env, dst [][]byte) ([][]byte, error) {
	ev := evaluation{env: env, aggregates: g.aggregates, making: making{before: env.made + g.kept}}
	if g.first != nil {
		ev.row = g.first
	}
	dst, err := g.s.output(&ev, dst)
	g.reset()
	return dst, err
}
