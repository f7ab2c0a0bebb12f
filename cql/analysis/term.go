// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// terms turns the terms of a statement into expressions, and records their markers.
type terms struct {
	typing
	binds *binds
}

// term returns an analysis of terms within selectors.
func (a *terms) term() *terms { return &terms{typing: *a.typing.term(), binds: a.binds} }

// prepare types a term for its spec, and records its markers.
func (a *terms) prepare(e syntax.Expr, s spec) (eval.Expr, error) {
	switch e := e.(type) {
	case *syntax.Constant:
		return a.constant(e, s)
	case *syntax.Null:
		if s.t.Kind == value.Counter {
			return nil, invalid("Invalid null value for counter increment/decrement")
		}
		return &eval.Const{T: s.t}, nil
	case *syntax.Bind:
		a.binds.add(e, a.table, s)
		return &eval.Marker{Index: e.Index, T: s.t}, nil
	case *syntax.List:
		return a.list(e, s)
	case *syntax.Set:
		return a.set(e, s)
	case *syntax.Map:
		return a.mapLiteral(e, s)
	case *syntax.UDT:
		return a.udt(e, s)
	case *syntax.Tuple:
		return a.tuple(e, s)
	case *syntax.Hint:
		return a.hint(e, s)
	case *syntax.Call, *syntax.Cast, *syntax.Binary, *syntax.Negate:
		return a.call(e, s)
	}
	return nil, invalid("a column cannot be used here: %s", a.text(e))
}

func (a *terms) constant(c *syntax.Constant, s spec) (eval.Expr, error) {
	kind := literalKind(c.Kind)
	if literalMatch(c, s.t) == eval.NotAssignable {
		return nil, a.notConstant(c, s)
	}
	if c.Kind == syntax.ConstHex {
		v, err := value.Native(value.Blob).FromLiteral(kind, c.Text)
		return &eval.Const{T: s.t, Value: v}, inner(err)
	}
	v, err := s.t.FromLiteral(kind, c.Text)
	if errors.Is(err, value.ErrNotAssignable) {
		return nil, a.notConstant(c, s)
	}
	if err != nil {
		return nil, inner(err)
	}
	return &eval.Const{T: s.t, Value: v}, nil
}

func (a *terms) notConstant(c *syntax.Constant, s spec) error {
	text := c.Text
	if c.Kind == syntax.ConstHex {
		text = "0x" + text
	}
	return invalid(`Invalid %s constant (%s) for "%s" of type %s`, literalKind(c.Kind), text, s.name, s.t)
}

// element types one element of a collection literal. It refuses bind markers.
func (a *terms) element(e syntax.Expr, kind string, of spec, s spec) (eval.Expr, error) {
	x, err := a.prepare(e, s)
	if err != nil {
		return nil, err
	}
	if marked(x) {
		return nil, invalid("Invalid %s literal for %s: bind variables are not supported inside collection literals", kind, of.name)
	}
	return x, nil
}

// marked reports whether an expression has bind markers.
func marked(e eval.Expr) bool {
	return !eval.Walk(e, func(e eval.Expr) bool {
		_, ok := e.(*eval.Marker)
		return !ok
	})
}

func (a *terms) list(l *syntax.List, s spec) (eval.Expr, error) {
	if s.t.Kind == value.Vector {
		return a.vector(l, s)
	}
	if s.t.Kind != value.List {
		return nil, invalid("Unexpected receiver type '%s'; only list and vector are expected", s.t)
	}
	of := spec{name: "value(" + s.name + ")", t: s.t.Elems[0]}
	if err := a.checkElements(l.Elems, "list", s, of); err != nil {
		return nil, err
	}
	c := &eval.Collection{T: s.t}
	for _, e := range l.Elems {
		x, err := a.element(e, "list", s, of)
		if err != nil {
			return nil, err
		}
		c.Elems = append(c.Elems, x)
	}
	return fold(c)
}

// checkElements verifies that each element fits.
func (a *terms) checkElements(es []syntax.Expr, kind string, s, of spec) error {
	for _, e := range es {
		m, err := a.match(e, of.t)
		if err != nil {
			return err
		}
		if m == eval.NotAssignable {
			return invalid("Invalid %s literal for %s: value %s is not of type %s", kind, s.name, a.text(e), of.t)
		}
	}
	return nil
}

func (a *terms) vector(l *syntax.List, s spec) (eval.Expr, error) {
	if len(l.Elems) != s.t.Dim {
		return nil, invalid("Invalid vector literal for %s of type %s; expected %d elements, but given %d", s.name, s.t, s.t.Dim, len(l.Elems))
	}
	of := spec{name: "value(" + s.name + ")", t: s.t.Elems[0]}
	c := &eval.Collection{T: s.t}
	for _, e := range l.Elems {
		if err := a.checkElements([]syntax.Expr{e}, "vector", s, of); err != nil {
			return nil, err
		}
		x, err := a.prepare(e, of)
		if err != nil {
			return nil, err
		}
		c.Elems = append(c.Elems, x)
	}
	return fold(c)
}

func (a *terms) set(l *syntax.Set, s spec) (eval.Expr, error) {
	if s.t.Kind == value.Map && len(l.Elems) == 0 {
		return fold(&eval.Collection{T: s.t})
	}
	if s.t.Kind != value.Set {
		return nil, invalid("Invalid set literal for %s of type %s", s.name, s.t)
	}
	of := spec{name: "value(" + s.name + ")", t: s.t.Elems[0]}
	if err := a.checkElements(l.Elems, "set", s, of); err != nil {
		return nil, err
	}
	c := &eval.Collection{T: s.t}
	for _, e := range l.Elems {
		x, err := a.element(e, "set", s, of)
		if err != nil {
			return nil, err
		}
		c.Elems = append(c.Elems, x)
	}
	return fold(c)
}

func (a *terms) mapLiteral(m *syntax.Map, s spec) (eval.Expr, error) {
	if s.t.Kind != value.Map {
		return nil, invalid("Invalid map literal for %s of type %s", s.name, s.t)
	}
	key := spec{name: "key(" + s.name + ")", t: s.t.Elems[0]}
	val := spec{name: "value(" + s.name + ")", t: s.t.Elems[1]}
	for _, e := range m.Entries {
		k, err := a.match(e.Key, key.t)
		if err != nil {
			return nil, err
		}
		if k == eval.NotAssignable {
			return nil, invalid("Invalid map literal for %s: key %s is not of type %s", s.name, a.text(e.Key), key.t)
		}
		v, err := a.match(e.Value, val.t)
		if err != nil {
			return nil, err
		}
		if v == eval.NotAssignable {
			return nil, invalid("Invalid map literal for %s: value %s is not of type %s", s.name, a.text(e.Value), val.t)
		}
	}
	c := &eval.Collection{T: s.t}
	for _, e := range m.Entries {
		k, err := a.prepare(e.Key, key)
		if err != nil {
			return nil, err
		}
		v, err := a.prepare(e.Value, val)
		if err != nil {
			return nil, err
		}
		if marked(k) || marked(v) {
			return nil, invalid("Invalid map literal for %s: bind variables are not supported inside collection literals", s.name)
		}
		c.Elems = append(c.Elems, k, v)
	}
	return fold(c)
}

// checkFields verifies the fields of a UDT literal that the type has.
func (a *typing) checkFields(u *syntax.UDT, s spec) error {
	if s.t.Kind != value.UDT {
		return invalid("Invalid user type literal for %s of type %s", s.name, s.t)
	}
	fields, _ := a.fields(u, s.t)
	for _, f := range fields {
		m, err := a.match(f.value, s.t.Elems[f.index])
		if err != nil {
			return err
		}
		if m == eval.NotAssignable {
			return invalid("Invalid user type literal for %s: field %s is not of type %s", s.name, s.t.Fields[f.index], s.t.Elems[f.index])
		}
	}
	return nil
}

// given is a field of a UDT that a literal gives.
type given struct {
	index int
	value syntax.Expr
}

// fields returns the fields of a type that a literal gives, in the type's order, and the first name
// that is no field. The last value counts if a field is given more than once.
func (a *typing) fields(u *syntax.UDT, t *value.Type) (fields []given, unknown *string) {
	fields = make([]given, 0, len(u.Fields))
	for i := range slices.Backward(u.Fields) {
		f := a.memo.field(t, u.Fields[i].Name)
		if f < 0 {
			unknown = &u.Fields[i].Name
			continue
		}
		fields = append(fields, given{f, u.Fields[i].Value})
	}
	slices.SortStableFunc(fields, func(x, y given) int { return cmp.Compare(x.index, y.index) })
	return slices.CompactFunc(fields, func(x, y given) bool { return x.index == y.index }), unknown
}

func (a *terms) udt(u *syntax.UDT, s spec) (eval.Expr, error) {
	if err := a.checkFields(u, s); err != nil {
		return nil, err
	}
	c := &eval.Collection{T: s.t}
	fields, unknown := a.fields(u, s.t)
	for _, f := range fields {
		x, err := a.prepare(f.value, fieldSpec(s, f.index))
		if err != nil {
			return nil, err
		}
		c.Elems, c.Fields = append(c.Elems, x), append(c.Fields, f.index)
	}
	if unknown != nil {
		return nil, invalid("Unknown field '%s' in value of user defined type %s", *unknown, s.t.Name)
	}
	return fold(c)
}

func fieldSpec(s spec, i int) spec {
	return spec{name: s.name + "." + s.t.Fields[i], t: s.t.Elems[i]}
}

// checkComponents verifies the components of a tuple literal.
func (a *typing) checkComponents(t *syntax.Tuple, s spec) error {
	if !tupleLike(s.t) {
		return invalid("Invalid tuple type literal for %s of type %s", s.name, s.t)
	}
	for i, e := range t.Elems {
		if i >= len(s.t.Elems) {
			return invalid("Invalid tuple literal for %s: too many elements. Type %s expects %d but got %d",
				s.name, s.t, len(s.t.Elems), len(t.Elems))
		}
		m, err := a.match(e, s.t.Elems[i])
		if err != nil {
			return err
		}
		if m == eval.NotAssignable {
			return invalid("Invalid tuple literal for %s: component %d is not of type %s", s.name, i, s.t.Elems[i])
		}
	}
	return nil
}

func (a *terms) tuple(t *syntax.Tuple, s spec) (eval.Expr, error) {
	if len(t.Elems) == 1 && !tupleLike(s.t) {
		return a.prepare(t.Elems[0], s)
	}
	if err := a.checkComponents(t, s); err != nil {
		return nil, err
	}
	c := &eval.Collection{T: s.t}
	for i, e := range t.Elems {
		x, err := a.prepare(e, spec{name: s.name + "[" + itoa(i) + "]", t: s.t.Elems[i]})
		if err != nil {
			return nil, err
		}
		c.Elems = append(c.Elems, x)
	}
	return fold(c)
}

// components types a tuple of values for several columns, or the marker of one.
func (a *terms) components(e syntax.Expr, specs []spec) (eval.Expr, error) {
	types := make([]*value.Type, len(specs))
	names := make([]string, len(specs))
	for i, s := range specs {
		types[i], names[i] = s.t, s.name
	}
	tt := &value.Type{Kind: value.Tuple, Elems: types, Frozen: true}
	switch e := e.(type) {
	case *syntax.Bind:
		return a.prepare(e, spec{name: "(" + strings.Join(names, ",") + ")", t: tt})
	case *syntax.Tuple:
		if len(e.Elems) != len(specs) {
			return nil, invalid("Expected %d elements in value tuple, but got %d: %s", len(specs), len(e.Elems), a.text(e))
		}
		c := &eval.Collection{T: tt}
		for i, x := range e.Elems {
			p, err := a.prepare(x, specs[i])
			if err != nil {
				return nil, err
			}
			c.Elems = append(c.Elems, p)
		}
		return fold(c)
	}
	return nil, invalid("Expected %d elements in value tuple, but got %s", len(specs), a.text(e))
}

func (a *terms) hint(h *syntax.Hint, s spec) (eval.Expr, error) {
	t, err := a.hinted(h)
	if err != nil {
		return nil, err
	}
	m, err := a.match(h.Expr, t)
	if err != nil {
		return nil, err
	}
	if m == eval.NotAssignable {
		return nil, invalid("Cannot cast value %s to type %s", a.text(h.Expr), typeText(h.Type))
	}
	if m, _ := a.matchHint(h, s.t); m == eval.NotAssignable {
		return nil, invalid("Cannot assign value %s to %s of type %s", a.text(h), s.name, s.t)
	}
	return a.prepare(h.Expr, s)
}

// call types a call, cast or operation within a term.
func (a *terms) call(e syntax.Expr, s spec) (eval.Expr, error) {
	f, args, err := a.resolve(e, s.t)
	if err != nil {
		return nil, err
	}
	_, written, _, _ := a.callee(e)
	if f == nil {
		return nil, invalid("Unknown function %s called", written)
	}
	if f.Aggregate {
		return nil, invalid("Aggregation function are not supported in the where clause")
	}
	returns := f.Returns
	if s.t.Frozen {
		returns = returns.Freeze()
	}
	if !s.t.Equal(returns) && !eval.Reads(s.t, returns) {
		kind, name := "function", "system."+f.Name
		if op := eval.Symbol(f.Name); op != "" {
			kind, name = "operation", op
		}
		return nil, invalid("Type error: cannot assign result of %s %s (type %s) to %s (type %s)", kind, name, f.Returns, s.name, s.t)
	}
	if len(f.Args) != len(args) {
		return nil, invalid("Incorrect number of arguments specified for function %s (expected %d, found %d)", f, len(f.Args), len(args))
	}
	c := &eval.Call{Func: f}
	for i, arg := range args {
		x, err := a.prepare(arg, argSpec(f, i))
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, x)
	}
	return c, nil
}

func argSpec(f *eval.Function, i int) spec {
	return spec{name: "arg" + itoa(i) + "(system." + strings.ToLower(f.Name) + ")", t: f.Args[i]}
}

// fold turns a literal of constants into one constant. It leaves a literal as it is that gives few of
// the many fields of a UDT: the value is much longer than the text, so it is made, and counted, when
// the statement is bound. It returns any other literal unchanged.
func fold(c *eval.Collection) (eval.Expr, error) {
	wide := c.Fields != nil && len(c.T.Elems) > 16+4*len(c.Elems)
	var null eval.Expr
	for _, e := range c.Elems {
		switch e := e.(type) {
		case *eval.Const:
			if e.Value == nil {
				null = e
			}
			continue
		case *eval.Collection:
			if e.Constant {
				wide = true
				continue
			}
		}
		return c, nil
	}
	c.Constant = wide
	switch {
	case wide && (null == nil || tupleLike(c.T)):
		return c, nil
	case wide: // the error of a null is the analysis's
		c = &eval.Collection{T: c.T, Elems: []eval.Expr{null}}
	}
	v, err := eval.Eval(c, &eval.Env{}, nil)
	if err != nil {
		return nil, err
	}
	return &eval.Const{T: c.T, Value: v}, nil
}
