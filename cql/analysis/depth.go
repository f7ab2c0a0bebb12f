// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/evenkeel/evenkeel/cql/syntax"

// maxDepth is how deep expressions may nest. The parser limits the nesting of brackets, but a sum
// of many terms is deep without brackets.
const maxDepth = 1000

// checkDepth refuses a statement whose expressions are nested too deep to walk.
func checkDepth(stmt syntax.Statement) error {
	d := depth(true)
	switch s := stmt.(type) {
	case *syntax.Select:
		for i := range s.Selectors {
			d.expr(s.Selectors[i].Expr, maxDepth)
		}
		d.exprs(s.GroupBy, maxDepth)
		for _, o := range s.OrderBy {
			d.expr(o.ANNOf, maxDepth)
		}
		d.relations(s.Where)
	case *syntax.Insert:
		d.exprs(s.Values, maxDepth)
	case *syntax.Update:
		for _, a := range s.Set {
			d.exprs([]syntax.Expr{a.Key, a.Value}, maxDepth)
		}
		d.relations(s.Where)
		d.conditions(s.If)
	case *syntax.Delete:
		for _, i := range s.Items {
			d.expr(i.Key, maxDepth)
		}
		d.relations(s.Where)
		d.conditions(s.If)
	case *syntax.Batch:
		for _, c := range s.Statements {
			if err := checkDepth(c); err != nil {
				return err
			}
		}
	}
	if !d {
		return invalid("an expression nests deeper than %d", maxDepth)
	}
	return nil
}

// depth is true until an expression is too deep.
type depth bool

func (d *depth) relations(rs []syntax.Relation) {
	for _, r := range rs {
		d.exprs([]syntax.Expr{r.Key, r.Value}, maxDepth)
		d.exprs(r.Values, maxDepth)
	}
}

func (d *depth) conditions(cs []syntax.Condition) {
	for _, c := range cs {
		d.exprs([]syntax.Expr{c.Key, c.Value}, maxDepth)
		d.exprs(c.Values, maxDepth)
	}
}

func (d *depth) exprs(es []syntax.Expr, left int) {
	for _, e := range es {
		d.expr(e, left)
	}
}

func (d *depth) expr(e syntax.Expr, left int) {
	if left == 0 {
		*d = false
	}
	if !*d {
		return
	}
	left--
	switch e := e.(type) {
	case *syntax.List:
		d.exprs(e.Elems, left)
	case *syntax.Set:
		d.exprs(e.Elems, left)
	case *syntax.Tuple:
		d.exprs(e.Elems, left)
	case *syntax.Map:
		for _, m := range e.Entries {
			d.expr(m.Key, left)
			d.expr(m.Value, left)
		}
	case *syntax.UDT:
		for _, f := range e.Fields {
			d.expr(f.Value, left)
		}
	case *syntax.Hint:
		d.expr(e.Expr, left)
	case *syntax.Call:
		d.exprs(e.Args, left)
	case *syntax.Cast:
		d.expr(e.Expr, left)
	case *syntax.Binary:
		d.expr(e.Left, left)
		d.expr(e.Right, left)
	case *syntax.Negate:
		d.expr(e.Expr, left)
	case *syntax.Field:
		d.expr(e.Expr, left)
	case *syntax.Element:
		d.expr(e.Expr, left)
		d.expr(e.Key, left)
	case *syntax.Range:
		d.expr(e.Expr, left)
		d.expr(e.From, left)
		d.expr(e.To, left)
	}
}
