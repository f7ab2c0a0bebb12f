// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// selectors turns the selectors of a statement into expressions, and records the columns that they
// fetch.
type selectors struct {
	terms
	fetch []Fetched
}

// checkSelector verifies, before any other check, that a selector's columns and functions exist.
func (a *selectors) checkSelector(e syntax.Expr) error {
	switch e := e.(type) {
	case *syntax.Column:
		_, err := a.column(e.Name)
		return err
	case *syntax.Call:
		if timesOf(e) {
			return a.checkSelector(e.Args[0])
		}
		return a.checkCall(e, e.Args)
	case *syntax.Binary:
		return a.checkCall(e, []syntax.Expr{e.Left, e.Right})
	case *syntax.Negate:
		return a.checkCall(e, []syntax.Expr{e.Expr})
	case *syntax.Cast:
		return a.checkSelector(e.Expr)
	case *syntax.Field:
		return a.checkSelector(e.Expr)
	case *syntax.Element:
		return a.checkSelector(e.Expr)
	case *syntax.Range:
		return a.checkSelector(e.Expr)
	case *syntax.Hint:
		if err := a.checkSelector(e.Expr); err != nil {
			return err
		}
		_, err := a.hinted(e)
		return err
	case *syntax.List:
		return a.checkSelectors(e.Elems)
	case *syntax.Set:
		return a.checkSelectors(e.Elems)
	case *syntax.Tuple:
		return a.checkSelectors(e.Elems)
	}
	return nil
}

func (a *selectors) checkSelectors(es []syntax.Expr) error {
	for _, e := range es {
		if err := a.checkSelector(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *selectors) checkCall(e syntax.Expr, args []syntax.Expr) error {
	if err := a.checkSelectors(args); err != nil {
		return err
	}
	f, _, err := a.resolve(e, nil)
	if err != nil {
		return err
	}
	if f == nil {
		_, written, _, _ := a.callee(e)
		return invalid("Unknown function '%s'", written)
	}
	return nil
}

// selection types the select list.
func (a *selectors) selection(stmt *syntax.Select, out *Select) error {
	if out.Wildcard {
		for _, c := range a.table.All() {
			out.Selection.Exprs = append(out.Selection.Exprs, &eval.Column{Cell: a.cell(c), Column: c})
			out.Columns = append(out.Columns, ResultColumn{c.Name, c.Type})
		}
	}
	a.selecting = true
	defer func() { a.selecting = false }()
	for _, s := range stmt.Selectors {
		a.memo.next()
		x, name, err := a.selector(s.Expr, nil)
		if err != nil {
			return err
		}
		if s.Alias != "" {
			name = s.Alias
		}
		out.Selection.Exprs = append(out.Selection.Exprs, x)
		out.Columns = append(out.Columns, ResultColumn{name, shownType(x)})
		out.Selection.Aggregated = out.Selection.Aggregated || aggregates(x)
	}
	if out.JSON {
		out.Selection.JSON = []string{}
		for _, c := range out.Columns {
			out.Selection.JSON = append(out.Selection.JSON, c.Name)
		}
		out.Columns = []ResultColumn{{"[json]", value.Native(value.Text)}}
	}
	return nil
}

// legacyTimeuuid is the type that Cassandra reports to clients for min and max of timeuuids.
// Cassandra has both functions twice and chooses the one of this type. The exception is a column in
// descending clustering order, which matches neither type exactly.
var legacyTimeuuid = value.CustomOf("org.apache.cassandra.db.marshal.LegacyTimeUUIDType")

// shownType returns the type of an expression in the result's metadata.
func shownType(x eval.Expr) *value.Type {
	if c, ok := x.(*eval.Call); ok && c.Func.Aggregate && (c.Func.Name == "min" || c.Func.Name == "max") &&
		c.Func.Returns.Kind == value.Timeuuid {
		if col, ok := c.Args[0].(*eval.Column); !ok || !col.Column.Desc {
			return legacyTimeuuid
		}
	}
	return x.Type()
}

// aggregates reports whether an expression calls an aggregate.
func aggregates(e eval.Expr) bool {
	return !eval.Walk(e, func(e eval.Expr) bool {
		c, ok := e.(*eval.Call)
		return !ok || !c.Func.Aggregate
	})
}

func (a *selectors) cannotInfer(e syntax.Expr) error {
	return invalid("Cannot infer type for term %s in selection clause (try using a cast to force a type)", a.text(e))
}

// selector types one selected expression and returns its column's name. want is the wanted type; it
// may be nil.
func (a *selectors) selector(e syntax.Expr, want *value.Type) (x eval.Expr, name string, err error) {
	switch e := e.(type) {
	case *syntax.Column:
		c, err := a.column(e.Name)
		if err != nil {
			return nil, "", err
		}
		return &eval.Column{Cell: a.cell(c), Column: c}, c.Name, nil
	case *syntax.Constant, *syntax.Null, *syntax.Bind:
		if want == nil {
			return nil, "", a.cannotInfer(e)
		}
		x, err = a.prepare(e, spec{name: "[selection]", t: want})
		return x, a.text(e), err
	case *syntax.Call:
		if timesOf(e) {
			return a.timesSelector(e)
		}
		return a.callSelector(e)
	case *syntax.Binary, *syntax.Negate:
		return a.callSelector(e)
	case *syntax.Cast:
		return a.castSelector(e)
	case *syntax.Hint:
		return a.hintSelector(e)
	case *syntax.Field:
		return a.fieldSelector(e)
	case *syntax.Element:
		return a.elementSelector(e)
	case *syntax.Range:
		return a.rangeSelector(e)
	case *syntax.Tuple:
		return a.tupleSelector(e, want)
	case *syntax.List:
		return a.listSelector(e, want)
	case *syntax.Set:
		return a.setSelector(e, want)
	case *syntax.Map:
		return a.mapSelector(e, want)
	}
	return nil, "", a.cannotInfer(e)
}

func (a *selectors) callSelector(e syntax.Expr) (eval.Expr, string, error) {
	f, args, err := a.resolve(e, nil)
	if err != nil {
		return nil, "", err
	}
	if f == nil {
		_, written, _, _ := a.callee(e)
		return nil, "", invalid("Unknown function '%s'", written)
	}
	c := &eval.Call{Func: f}
	names := make([]string, len(args))
	for i, arg := range args {
		x, name, err := a.selector(arg, f.Args[i])
		if err != nil {
			return nil, "", err
		}
		c.Args = append(c.Args, x)
		names[i] = name
	}
	if f.Aggregate {
		for _, x := range c.Args {
			if aggregates(x) {
				return nil, "", invalid("aggregate functions cannot be used as arguments of aggregate functions")
			}
		}
	}
	return c, f.ColumnName(names), nil
}

func (a *selectors) castSelector(e *syntax.Cast) (eval.Expr, string, error) {
	x, name, err := a.selector(e.Expr, nil)
	if err != nil {
		return nil, "", err
	}
	t, err := ResolveType(e.Type, a.ks)
	if err != nil {
		return nil, "", err
	}
	if t.Equal(x.Type()) {
		return x, name, nil
	}
	f, _, err := a.resolve(e, nil)
	if err != nil {
		return nil, "", err
	}
	if f == nil {
		of := name
		if cols := columnsOf(e.Expr); len(cols) > 0 {
			of = cols[0]
		}
		return nil, "", invalid("%s cannot be cast to %s", of, t)
	}
	return &eval.Call{Func: f, Args: []eval.Expr{x}}, f.ColumnName([]string{name}), nil
}

func (a *selectors) hintSelector(e *syntax.Hint) (eval.Expr, string, error) {
	t, err := a.hinted(e)
	if err != nil {
		return nil, "", err
	}
	m, err := a.match(e.Expr, t)
	if err != nil {
		return nil, "", err
	}
	if m == eval.NotAssignable {
		return nil, "", invalid("Cannot assign value %s to %s of type %s", a.text(e), a.text(e), t)
	}
	x, name, err := a.selector(e.Expr, t)
	if err != nil {
		return nil, "", err
	}
	if !t.Equal(x.Type()) {
		x = &eval.Retype{Of: x, T: t}
	}
	return x, "(" + hintText(e.Type, a.ks.Name) + ")" + name, nil
}

func (a *selectors) fieldSelector(e *syntax.Field) (eval.Expr, string, error) {
	var want *value.Type
	if t, ok := e.Expr.(*syntax.Tuple); ok {
		want = a.exact(t.Elems[0])
	}
	x, name, err := a.selector(e.Expr, want)
	if err != nil {
		return nil, "", err
	}
	t := x.Type()
	if t.Kind != value.UDT {
		return nil, "", invalid("Invalid field selection: %s of type %s is not a user type", a.text(e.Expr), t)
	}
	i := t.Field(e.Name)
	if i < 0 {
		return nil, "", invalid("%s of type %s has no field %s", a.text(e.Expr), t, e.Name)
	}
	return &eval.Field{Of: x, Index: i}, name + "." + e.Name, nil
}

// keyOf returns the spec of an element's key or of a bound of a range.
func (a *selectors) keyOf(of eval.Expr, e syntax.Expr, name, what, fault string) (spec, error) {
	t := of.Type()
	if !t.Collection() {
		return spec{}, invalid(fault, a.text(e), t)
	}
	switch t.Kind {
	case value.Set:
		return spec{name: "value(" + name + ")", t: t.Elems[0]}, nil
	case value.Map:
		return spec{name: "key(" + name + ")", t: t.Elems[0]}, nil
	}
	return spec{}, invalid("%s selection is only allowed on sets and maps, but %s is a list", what, a.text(e))
}

func (a *selectors) elementSelector(e *syntax.Element) (eval.Expr, string, error) {
	x, name, err := a.selector(e.Expr, nil)
	if err != nil {
		return nil, "", err
	}
	s, err := a.keyOf(x, e.Expr, name, "Element", "Invalid element selection: %s is of type %s is not a collection")
	if err != nil {
		return nil, "", err
	}
	key, err := a.term().prepare(e.Key, s)
	if err != nil {
		return nil, "", err
	}
	return &eval.Element{Of: x, Key: key}, a.text(e), nil
}

func (a *selectors) rangeSelector(e *syntax.Range) (eval.Expr, string, error) {
	x, name, err := a.selector(e.Expr, nil)
	if err != nil {
		return nil, "", err
	}
	s, err := a.keyOf(x, e.Expr, name, "Slice", "Invalid slice selection: %s of type %s is not a collection")
	if err != nil {
		return nil, "", err
	}
	r := &eval.Range{Of: x}
	if e.From != nil {
		if r.From, err = a.term().prepare(e.From, s); err != nil {
			return nil, "", err
		}
	}
	if e.To != nil {
		if r.To, err = a.term().prepare(e.To, s); err != nil {
			return nil, "", err
		}
	}
	return r, a.text(e), nil
}

// timesSelector types writetime, maxwritetime and ttl.
func (a *selectors) timesSelector(e *syntax.Call) (eval.Expr, string, error) {
	kind := timesKinds[e.Func.Name]
	root := e.Args[0]
	for {
		switch r := root.(type) {
		case *syntax.Field:
			root = r.Expr
			continue
		case *syntax.Element:
			root = r.Expr
			continue
		case *syntax.Range:
			root = r.Expr
			continue
		}
		break
	}
	n, ok := root.(*syntax.Column)
	if !ok {
		return nil, "", invalid("Cannot use selection function %s on %s", e.Func.Name, a.text(root))
	}
	c, err := a.column(n.Name)
	if err != nil {
		return nil, "", err
	}
	if c.Kind == schema.PartitionKey || c.Kind == schema.Clustering {
		return nil, "", invalid("Cannot use selection function %s on PRIMARY KEY part %s", e.Func.Name, c.Name)
	}
	x, name, err := a.selector(e.Args[0], nil)
	if err != nil {
		return nil, "", err
	}
	a.fetch[a.cell(c)].Times = true
	t := value.Native(value.Bigint)
	if kind == eval.TTL {
		t = value.Native(value.Int)
	}
	if x.Type().Multicell() && kind != eval.MaxWriteTime {
		t = value.ListOf(t, false)
	}
	return &eval.Times{Kind: kind, Of: x, T: t}, e.Func.Name + "(" + name + ")", nil
}

func (a *selectors) tupleSelector(e *syntax.Tuple, want *value.Type) (eval.Expr, string, error) {
	t := a.exact(e)
	if t == nil {
		t = want
	}
	if t == nil {
		return nil, "", a.cannotInfer(e)
	}
	if len(e.Elems) == 1 && t.Kind != value.Tuple {
		x, name, err := a.selector(e.Elems[0], want)
		return x, "(" + name + ")", err
	}
	if !tupleLike(t) || len(e.Elems) > len(t.Elems) {
		return nil, "", a.cannotInfer(e)
	}
	return a.collectionSelector(e.Elems, t, t.Elems, "(", ")")
}

// collectionSelector types the elements of a literal. want has their wanted types.
func (a *selectors) collectionSelector(es []syntax.Expr, t *value.Type, want []*value.Type, open, end string) (eval.Expr, string, error) {
	c := &eval.Collection{T: t}
	names := make([]string, len(es))
	for i, e := range es {
		x, name, err := a.selector(e, want[min(i, len(want)-1)])
		if err != nil {
			return nil, "", err
		}
		c.Elems = append(c.Elems, x)
		names[i] = name
	}
	return c, open + strings.Join(names, ", ") + end, nil
}

func (a *selectors) listSelector(e *syntax.List, want *value.Type) (eval.Expr, string, error) {
	if want != nil && want.Kind == value.Vector {
		if want.Dim != len(e.Elems) {
			return nil, "", invalid("Unable to create a vector selector of type %s from %d elements", want, len(e.Elems))
		}
		return a.collectionSelector(e.Elems, want, want.Elems, "[", "]")
	}
	t := a.exact(e)
	if t == nil {
		t = want
	}
	if t == nil || t.Kind != value.List {
		return nil, "", a.cannotInfer(e)
	}
	return a.collectionSelector(e.Elems, t, t.Elems, "[", "]")
}

func (a *selectors) setSelector(e *syntax.Set, want *value.Type) (eval.Expr, string, error) {
	t := a.exact(e)
	if t == nil {
		t = want
	}
	switch {
	case t != nil && t.Kind == value.Map && len(e.Elems) == 0:
		return a.collectionSelector(nil, t, t.Elems, "{", "}")
	case t == nil || t.Kind != value.Set:
		return nil, "", a.cannotInfer(e)
	case t.Elems[0].Kind == value.Duration:
		return nil, "", invalid("Durations are not allowed inside sets: %s", t)
	}
	return a.collectionSelector(e.Elems, t, t.Elems, "{", "}")
}

func (a *selectors) mapSelector(e *syntax.Map, want *value.Type) (eval.Expr, string, error) {
	if want == nil {
		return nil, "", a.cannotInfer(e)
	}
	if want.Kind == value.UDT {
		return a.udtSelector(e, want)
	}
	if want.Kind != value.Map {
		return nil, "", a.cannotInfer(e)
	}
	if want.Elems[0].Kind == value.Duration {
		return nil, "", invalid("Durations are not allowed as map keys: %s", want)
	}
	c := &eval.Collection{T: want}
	var names []string
	for _, m := range e.Entries {
		k, kn, err := a.selector(m.Key, want.Elems[0])
		if err != nil {
			return nil, "", err
		}
		v, vn, err := a.selector(m.Value, want.Elems[1])
		if err != nil {
			return nil, "", err
		}
		c.Elems = append(c.Elems, k, v)
		names = append(names, kn+": "+vn)
	}
	return c, "{" + strings.Join(names, ", ") + "}", nil
}

func (a *selectors) udtSelector(e *syntax.Map, t *value.Type) (eval.Expr, string, error) {
	u, err := a.asUDT(e, t)
	if err != nil {
		return nil, "", err
	}
	c := &eval.Collection{T: t}
	var names []string
	fields, _ := a.fields(u, t)
	for _, f := range fields {
		x, name, err := a.selector(f.value, t.Elems[f.index])
		if err != nil {
			return nil, "", err
		}
		c.Elems, c.Fields = append(c.Elems, x), append(c.Fields, f.index)
		names = append(names, t.Fields[f.index]+": "+name)
	}
	return c, "{" + strings.Join(names, ", ") + "}", nil
}
