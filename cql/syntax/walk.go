// SPDX-License-Identifier: Apache-2.0

package syntax

// Walk calls f for an expression. If f returns true, Walk does the same for each expression
// directly in it. It does nothing for a nil expression.
func Walk(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	all := func(es ...Expr) {
		for _, e := range es {
			Walk(e, f)
		}
	}
	switch e := e.(type) {
	case *Call:
		all(e.Args...)
	case *Cast:
		all(e.Expr)
	case *Hint:
		all(e.Expr)
	case *Binary:
		all(e.Left, e.Right)
	case *Negate:
		all(e.Expr)
	case *Field:
		all(e.Expr)
	case *Element:
		all(e.Expr, e.Key)
	case *Range:
		all(e.Expr, e.From, e.To)
	case *Tuple:
		all(e.Elems...)
	case *List:
		all(e.Elems...)
	case *Set:
		all(e.Elems...)
	case *UDT:
		for _, x := range e.Fields {
			all(x.Value)
		}
	case *Map:
		for _, x := range e.Entries {
			all(x.Key, x.Value)
		}
	}
}
