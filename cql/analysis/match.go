// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strconv"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

func itoa(i int) string { return strconv.Itoa(i) }

// literalKind converts a constant's kind to that of package value.
func literalKind(k syntax.ConstKind) value.Literal {
	switch k {
	case syntax.ConstString:
		return value.StringLiteral
	case syntax.ConstInteger:
		return value.IntegerLiteral
	case syntax.ConstFloat:
		return value.FloatLiteral
	case syntax.ConstUUID:
		return value.UUIDLiteral
	case syntax.ConstHex:
		return value.HexLiteral
	case syntax.ConstBool:
		return value.BooleanLiteral
	}
	return value.DurationLiteral
}

// preferred returns the type that a constant has by itself.
func preferred(c *syntax.Constant) *value.Type {
	if c.Kind == syntax.ConstHex {
		return value.Native(value.Tinyint) // as Cassandra does
	}
	return value.Preferred(literalKind(c.Kind), c.Text)
}

// literalMatch returns how well a constant fits a type.
func literalMatch(c *syntax.Constant, t *value.Type) eval.Match {
	switch t.Kind {
	case value.List, value.Set, value.Map, value.UDT, value.Vector:
		return eval.NotAssignable
	case value.Tuple, value.Custom:
		return eval.Weak
	}
	if p := preferred(c); p != nil && p.Kind == t.Kind {
		return eval.Exact
	}
	if t.Accepts(literalKind(c.Kind)) {
		return eval.Weak
	}
	return eval.NotAssignable
}

// match returns how well an expression fits a type.
func (a *typing) match(e syntax.Expr, t *value.Type) (eval.Match, error) {
	switch c := e.(type) {
	case *syntax.Constant:
		return literalMatch(c, t), nil
	case *syntax.Bind:
		return eval.Weak, nil
	}
	q := question{e, t, a.selecting}
	m, known := a.memo.matches[q]
	if !known {
		m.m, m.err = a.fits(e, t)
		a.memo.matches[q] = m
	}
	return m.m, m.err
}

func (a *typing) fits(e syntax.Expr, t *value.Type) (eval.Match, error) {
	switch e := e.(type) {
	case *syntax.Null:
		if t.Kind == value.Counter {
			return eval.NotAssignable, nil
		}
		return eval.Weak, nil
	case *syntax.List:
		return a.matchList(e, t)
	case *syntax.Set:
		if t.Kind != value.Set && (t.Kind != value.Map || len(e.Elems) > 0) {
			return eval.NotAssignable, nil
		}
		return a.matchAll(e.Elems, t.Elems[0])
	case *syntax.Map:
		return a.matchMap(e, t)
	case *syntax.UDT:
		if err := a.checkFields(e, spec{t: t}); err != nil {
			return eval.NotAssignable, nil
		}
		return eval.Weak, nil
	case *syntax.Tuple:
		if len(e.Elems) == 1 && !tupleLike(t) {
			return a.match(e.Elems[0], t)
		}
		if err := a.checkComponents(e, spec{t: t}); err != nil {
			return eval.NotAssignable, nil
		}
		return eval.Weak, nil
	case *syntax.Hint:
		return a.matchHint(e, t)
	}
	if a.selecting {
		own := a.exact(e)
		if own == nil {
			return eval.NotAssignable, nil
		}
		return eval.Assign(own, t), nil
	}
	return a.matchCall(e, t)
}

// matchAll returns how well all elements fit. No elements are a weak match.
func (a *typing) matchAll(es []syntax.Expr, t *value.Type) (eval.Match, error) {
	if len(es) == 0 {
		return eval.Weak, nil
	}
	m := eval.Exact
	for _, e := range es {
		k, err := a.match(e, t)
		if err != nil {
			return eval.NotAssignable, err
		}
		m = min(m, k)
	}
	return m, nil
}

func (a *typing) matchList(e *syntax.List, t *value.Type) (eval.Match, error) {
	switch t.Kind {
	case value.List:
		return a.matchAll(e.Elems, t.Elems[0])
	case value.Vector:
		if !a.selecting && len(e.Elems) != t.Dim {
			return eval.NotAssignable, nil
		}
		return a.matchAll(e.Elems, t.Elems[0])
	}
	if a.selecting {
		return eval.NotAssignable, nil
	}
	return eval.NotAssignable, invalid("Unexpected receiver type '%s'; only list and vector are expected", t)
}

func (a *typing) matchMap(e *syntax.Map, t *value.Type) (eval.Match, error) {
	if t.Kind == value.UDT && a.selecting {
		u, err := a.asUDT(e, t)
		if err != nil {
			return eval.NotAssignable, err
		}
		return a.match(u, t)
	}
	if t.Kind != value.Map {
		return eval.NotAssignable, nil
	}
	m := eval.Exact
	for _, entry := range e.Entries {
		k, err := a.match(entry.Key, t.Elems[0])
		if err != nil {
			return eval.NotAssignable, err
		}
		v, err := a.match(entry.Value, t.Elems[1])
		if err != nil {
			return eval.NotAssignable, err
		}
		m = min(m, k, v)
	}
	return m, nil
}

// asUDT reads a selected {a: 1}, whose keys look like columns, as a UDT literal.
func (a *typing) asUDT(e *syntax.Map, t *value.Type) (*syntax.UDT, error) {
	u := &syntax.UDT{}
	for _, entry := range e.Entries {
		c, ok := entry.Key.(*syntax.Column)
		if !ok {
			return nil, invalid("%s is not a valid field identifier of type %s ", a.text(entry.Key), t.Name)
		}
		if a.memo.field(t, c.Name) < 0 {
			return nil, invalid("Unknown field '%s' in value of user defined type %s", c.Name, t.Name)
		}
		u.Fields = append(u.Fields, syntax.UDTField{Name: c.Name, Value: entry.Value})
	}
	return u, nil
}

func (a *typing) matchHint(e *syntax.Hint, t *value.Type) (eval.Match, error) {
	h, err := a.hinted(e)
	if err != nil {
		return eval.NotAssignable, err
	}
	switch {
	case t.Equal(h):
		return eval.Exact, nil
	case eval.Reads(t, h):
		return eval.Weak, nil
	}
	return eval.NotAssignable, nil
}

// hinted returns the type that a type hint names.
func (a *typing) hinted(e *syntax.Hint) (*value.Type, error) {
	t, err := ResolveType(e.Type, a.ks)
	if err != nil {
		return nil, err
	}
	if a.selecting {
		return t.Freeze(), nil
	}
	return t, nil
}

// matchCall returns how well a call within a term fits. A call that cannot be resolved is an error
// later; here it is a weak match.
func (a *typing) matchCall(e syntax.Expr, t *value.Type) (eval.Match, error) {
	f, _, err := a.resolve(e, t)
	switch {
	case err != nil || f == nil:
		return eval.Weak, nil
	case eval.Made(f.Name):
		return eval.Weak, nil
	case t.Equal(f.Returns):
		return eval.Exact, nil
	case eval.Reads(t, f.Returns):
		return eval.Weak, nil
	}
	return eval.NotAssignable, nil
}

// tupleLike reports whether a tuple literal may be a value of type t.
func tupleLike(t *value.Type) bool { return t.Kind == value.Tuple || t.Kind == value.UDT }

// exact returns the type that an expression certainly has; nil if the type depends on what is
// wanted.
func (a *typing) exact(e syntax.Expr) *value.Type {
	q := question{e: e, selecting: a.selecting}
	t, known := a.memo.exact[q]
	if !known {
		t = a.own(e)
		a.memo.exact[q] = t
	}
	return t
}

func (a *typing) own(e syntax.Expr) *value.Type {
	switch e := e.(type) {
	case *syntax.Column:
		if c := a.table.Column(e.Name); c != nil {
			return c.Type
		}
	case *syntax.List:
		if t := first(e.Elems, a.exact); t != nil && a.selecting {
			return value.ListOf(t, false)
		}
	case *syntax.Set:
		if t := first(e.Elems, a.exact); t != nil {
			return value.SetOf(t, false)
		}
	case *syntax.Map:
		if a.selecting {
			return nil
		}
		keys, values := entries(e)
		if k, v := first(keys, a.exact), first(values, a.exact); k != nil && v != nil {
			return value.MapOf(k, v, false)
		}
	case *syntax.Tuple:
		if a.selecting && len(e.Elems) == 1 {
			return nil
		}
		return tupleOf(e.Elems, a.exact)
	case *syntax.Hint:
		t, err := a.hinted(e)
		if err == nil {
			return t
		}
	case *syntax.Cast:
		if a.selecting {
			if t, err := ResolveType(e.Type, a.ks); err == nil {
				return t
			}
			return nil
		}
		return a.returns(e)
	case *syntax.Call:
		if a.selecting && timesOf(e) {
			return a.timesType(e)
		}
		return a.returns(e)
	case *syntax.Binary, *syntax.Negate:
		return a.returns(e)
	case *syntax.Field:
		if t := a.exact(e.Expr); t != nil && t.Kind == value.UDT {
			if i := t.Field(e.Name); i >= 0 {
				return t.Elems[i]
			}
		}
	case *syntax.Element:
		if t := a.exact(e.Expr); t != nil && t.Collection() {
			return t.Elems[len(t.Elems)-1]
		}
	case *syntax.Range:
		if t := a.exact(e.Expr); t != nil && t.Collection() {
			return t
		}
	}
	return nil
}

func (a *typing) returns(e syntax.Expr) *value.Type {
	if !a.selecting {
		if c, ok := e.(*syntax.Call); ok && c.Func.Name == "token" {
			return nil // token has no receiver that would tell its table
		}
	}
	f, _, err := a.resolve(e, nil)
	if err != nil || f == nil {
		return nil
	}
	return f.Returns
}

// timesType returns the type of writetime, maxwritetime or ttl.
func (a *typing) timesType(c *syntax.Call) *value.Type {
	t := value.Native(value.Bigint)
	if timesKinds[c.Func.Name] == eval.TTL {
		t = value.Native(value.Int)
	}
	if of := a.exact(c.Args[0]); of != nil && of.Multicell() && timesKinds[c.Func.Name] != eval.MaxWriteTime {
		return value.ListOf(t, false)
	}
	return t
}

// compatible returns the type that an expression has if no type is wanted.
func (a *typing) compatible(e syntax.Expr) *value.Type {
	switch e := e.(type) {
	case *syntax.Constant:
		return preferred(e)
	case *syntax.List:
		if !a.selecting {
			return nil
		}
		if t := a.agreed(e.Elems); t != nil {
			return value.ListOf(t, false)
		}
		return nil
	case *syntax.Set:
		if t := a.agreed(e.Elems); t != nil {
			return value.SetOf(t, false)
		}
		return nil
	case *syntax.Map:
		if a.selecting {
			return nil
		}
		keys, values := entries(e)
		if k, v := a.agreed(keys), a.agreed(values); k != nil && v != nil {
			return value.MapOf(k, v, false)
		}
		return nil
	case *syntax.Tuple:
		if !a.selecting {
			return a.exact(e)
		}
		if len(e.Elems) == 1 {
			return nil
		}
		return tupleOf(e.Elems, a.compatible)
	}
	return a.exact(e)
}

// agreed returns the first type among those of the elements that fits all elements.
func (a *typing) agreed(es []syntax.Expr) *value.Type {
	var types []*value.Type
	for _, e := range es {
		if t := a.compatible(e); t != nil {
			types = append(types, t)
		}
	}
next:
	for _, t := range types {
		for _, u := range types {
			if eval.Assign(u, t) == eval.NotAssignable {
				continue next
			}
		}
		return t
	}
	return nil
}

func first(es []syntax.Expr, of func(syntax.Expr) *value.Type) *value.Type {
	for _, e := range es {
		if t := of(e); t != nil {
			return t
		}
	}
	return nil
}

func tupleOf(es []syntax.Expr, of func(syntax.Expr) *value.Type) *value.Type {
	types := make([]*value.Type, len(es))
	for i, e := range es {
		if types[i] = of(e); types[i] == nil {
			return nil
		}
	}
	return value.TupleOf(types...)
}

func entries(m *syntax.Map) (keys, values []syntax.Expr) {
	for _, e := range m.Entries {
		keys, values = append(keys, e.Key), append(values, e.Value)
	}
	return keys, values
}
