// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/value"
)

// Eval computes an expression. row may be nil for terms, which have no columns. An unset marker
// counts as null here; see Term. The result may share memory with the values of env and the cells
// of row.
func Eval(e Expr, env *Env, row Row) ([]byte, error) {
	ev := evaluate(env, row)
	return ev.eval(e)
}

// Term computes a term for binding. A bare marker may be unset, and so may a list, set or map of
// unset values. In other places an unset marker is an error. What functions and literals make for
// all terms of an env is bounded together.
func Term(e Expr, env *Env) (Value, error) {
	if m, ok := e.(*Marker); ok {
		return marker(m, env)
	}
	if _, ok := e.(*Unset); ok {
		return Value{Unset: true}, nil
	}
	ev := evaluation{env: env, making: making{bytes: env.made}}
	b, err := ev.eval(e)
	env.made = ev.making.bytes
	return Value{Bytes: b}, err
}

// evaluation is one computation. aggregates, if not nil, holds the results of aggregate calls; the
// rest is then computed on the group's first row.
type evaluation struct {
	env        *Env
	row        Row
	aggregates map[*Call]accumulator
	lookups    lookups
	making
}

// evaluate begins an evaluation on a row.
func evaluate(env *Env, row Row) evaluation {
	return evaluation{env: env, row: row, making: making{before: env.made}}
}

func (ev *evaluation) eval(e Expr) ([]byte, error) {
	switch e := e.(type) {
	case *Const:
		return e.Value, nil
	case *Column:
		if ev.row == nil {
			return nil, nil
		}
		return ev.row.Cell(e.Cell), nil
	case *Marker:
		v, err := marker(e, ev.env)
		return v.Bytes, err
	case *Call:
		return ev.call(e)
	case *Collection:
		return ev.collection(e)
	case *Field:
		return ev.field(e)
	case *Element:
		return ev.element(e)
	case *Range:
		return ev.slice(e)
	case *Times:
		return ev.times(e)
	case *Retype:
		return ev.eval(e.Of)
	case *Unset:
		return nil, nil
	}
	return nil, invalid("unknown expression %T", e)
}

// marker returns a marker's value, validated and in its stored form.
func marker(m *Marker, env *Env) (Value, error) {
	if m.Index >= len(env.Values) {
		return Value{}, invalid("Invalid amount of bind variables")
	}
	v := env.Values[m.Index]
	if v.Unset || v.Bytes == nil {
		return v, nil
	}
	stored, err := m.T.Bind(v.Bytes)
	if err != nil {
		return v, invalid("%s", err)
	}
	v.Bytes = stored
	return v, nil
}

// parts returns all parts of a collection, tuple, UDT or vector.
func parts(t *value.Type, v []byte) [][]byte {
	var all [][]byte
	p := t.Parts(v)
	for p.Next() {
		all = append(all, p.Part())
	}
	return all
}

// call runs a scalar function, or returns an aggregate's result.
func (ev *evaluation) call(c *Call) ([]byte, error) {
	if c.Func.Aggregate {
		if a := ev.aggregates[c]; a != nil {
			return a.result()
		}
		return nil, invalid("Aggregation function are not supported in the where clause")
	}
	args, err := ev.args(c)
	if err != nil {
		return nil, err
	}
	if c.Func.Digits {
		if err := ev.digits(c.Func.Args, args); err != nil {
			return nil, err
		}
	}
	if c.Func.grow != nil {
		return ev.grow(ev.env, c.Func.Name, total(args), c.Func.beside, func(most int) ([]byte, bool, error) { return c.Func.grow(args, most) })
	}
	v, err := c.Func.call(ev.env, args)
	if err != nil || shared(v, args) {
		return v, err
	}
	return v, ev.room(ev.env, c.Func.Name, len(v))
}

// longNumber is how many bytes a number has that takes a while to calculate with.
const longNumber = 4096

var errDigits = invalid("a number has more than 1,000,000 digits; such numbers are stored and returned as they are, but not calculated with or shown as text")

// digits refuses arguments with too many digits. If some are long, it finds out whether the result
// is still wanted.
func (ev *evaluation) digits(types []*value.Type, args [][]byte) error {
	long := false
	for i, v := range args {
		if len(v) < longNumber {
			continue
		}
		if types[i].TooManyDigits(v) {
			return errDigits
		}
		long = true
	}
	if long && ev.env.Wanted != nil {
		return ev.env.Wanted.Err()
	}
	return nil
}

func (ev *evaluation) args(c *Call) ([][]byte, error) {
	args := make([][]byte, len(c.Args))
	for i, a := range c.Args {
		if m, ok := a.(*Marker); ok && m.Index < len(ev.env.Values) && ev.env.Values[m.Index].Unset {
			return nil, invalid("Invalid unset value for argument in call to function %s", c.Func.Name)
		}
		v, err := ev.eval(a)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return args, nil
}

// collection builds a collection, tuple, UDT or vector from its elements.
func (ev *evaluation) collection(c *Collection) ([]byte, error) {
	elems := make([][]byte, len(c.Elems))
	bytes := 4
	for i, e := range c.Elems {
		if m, ok := e.(*Marker); ok && m.Index < len(ev.env.Values) && ev.env.Values[m.Index].Unset {
			switch c.T.Kind {
			case value.Tuple:
				return nil, invalid("Invalid unset value for tuple field number %d", i)
			case value.UDT:
				return nil, invalid("Invalid unset value for field '%s' of user defined type %s", c.T.Fields[c.index(i)], c.T.Name)
			}
			return nil, invalid("Invalid unset value for element number %d of a collection", i)
		}
		v, err := ev.eval(e)
		if err != nil {
			return nil, err
		}
		if v == nil && c.T.Kind != value.Tuple && c.T.Kind != value.UDT {
			return nil, invalid("null is not supported inside %s", map[bool]string{true: "vectors", false: "collections"}[c.T.Kind == value.Vector])
		}
		bytes += 4 + len(v)
		elems[i] = v
	}
	if c.Fields != nil {
		bytes += 4 * (len(c.T.Elems) - len(elems))
	}
	if err := ev.room(ev.env, literalOf(c.T), bytes); err != nil {
		return nil, err
	}
	if c.Fields != nil {
		return c.udt(elems, bytes), nil
	}
	if c.T.Kind == value.Set || c.T.Kind == value.Map {
		elems = c.T.Sort(elems)
	}
	return c.T.Build(nil, elems), nil
}

// index returns which field of a UDT an element is.
func (c *Collection) index(i int) int {
	if c.Fields != nil {
		return c.Fields[i]
	}
	return i
}

// udt builds a UDT of about so many bytes from the values of the fields that are given.
func (c *Collection) udt(given [][]byte, bytes int) []byte {
	dst, next := make([]byte, 0, bytes), 0
	for i := range c.T.Elems {
		if next == len(given) || c.Fields[next] != i {
			dst = value.AppendPart(dst, nil)
			continue
		}
		dst = value.AppendPart(dst, given[next])
		next++
	}
	return dst
}

func (ev *evaluation) field(f *Field) ([]byte, error) {
	v, err := ev.eval(f.Of)
	if err != nil || v == nil {
		return nil, err
	}
	p := f.Of.Type().Parts(v)
	for i := 0; p.Next(); i++ {
		if i == f.Index {
			return p.Part(), nil
		}
	}
	return nil, nil
}

// key computes the key of an element or a bound of a range. what names it in messages.
func (ev *evaluation) key(e Expr, what, name string) ([]byte, error) {
	v, err := ev.termValue(e)
	switch {
	case err != nil:
		return nil, err
	case v.Unset:
		return nil, invalid("Invalid unset value for %s selection on %s", what, name)
	case v.Bytes == nil:
		return nil, invalid("Invalid null value for %s selection on %s", what, name)
	}
	return v.Bytes, nil
}

func (ev *evaluation) termValue(e Expr) (Value, error) {
	if m, ok := e.(*Marker); ok {
		return marker(m, ev.env)
	}
	b, err := ev.eval(e)
	return Value{Bytes: b}, err
}

func (ev *evaluation) element(e *Element) ([]byte, error) {
	key, err := ev.key(e.Key, "element", name(e.Of))
	if err != nil {
		return nil, err
	}
	v, err := ev.eval(e.Of)
	if err != nil || v == nil {
		return nil, err
	}
	_, part, err := ev.find(e.Of, v, key)
	return part, err
}

// find looks up an element of a set or a key of a map. It returns its index (-1 if absent) and the
// element or the key's value.
func find(t *value.Type, v, key []byte) (int, []byte) {
	p := t.Parts(v)
	for i := 0; p.Next(); i++ {
		k := p.Part()
		found := t.Elems[0].Compare(k, key) == 0
		if t.Kind == value.Map {
			if !p.Next() {
				break
			}
			k = p.Part()
		}
		if found {
			return i, k
		}
	}
	return -1, nil
}

func (ev *evaluation) slice(r *Range) ([]byte, error) {
	from, to, err := ev.bounds(r)
	if err != nil {
		return nil, err
	}
	v, err := ev.eval(r.Of)
	if err != nil || v == nil {
		return nil, err
	}
	t := r.Of.Type()
	lo, hi, kept := cut(t, v, from, to)
	if lo == hi && !t.Frozen {
		return nil, nil
	}
	bytes := 4
	for _, part := range kept {
		bytes += 4 + len(part)
	}
	if err := ev.room(ev.env, "a slice of "+name(r.Of), bytes); err != nil {
		return nil, err
	}
	return t.Build(make([]byte, 0, bytes), kept), nil
}

// bounds computes the bounds of a range; nil is open.
func (ev *evaluation) bounds(r *Range) (from, to []byte, err error) {
	for i, e := range []Expr{r.From, r.To} {
		if e == nil {
			continue
		}
		v, err := ev.termValue(e)
		if err != nil {
			return nil, nil, err
		}
		if v.Unset {
			continue
		}
		if v.Bytes == nil {
			return nil, nil, invalid("Invalid null value for slice selection on %s", name(r.Of))
		}
		if i == 0 {
			from = v.Bytes
		} else {
			to = v.Bytes
		}
	}
	return from, to, nil
}

// cut returns the elements of a set or map between from and to: their indexes [lo, hi) and their
// parts.
func cut(t *value.Type, v, from, to []byte) (lo, hi int, kept [][]byte) {
	p := t.Parts(v)
	lo = -1
	for i := 0; p.Next(); i++ {
		k := p.Part()
		in := (from == nil || t.Elems[0].Compare(k, from) >= 0) && (to == nil || t.Elems[0].Compare(k, to) <= 0)
		if in {
			if lo < 0 {
				lo = i
			}
			hi = i + 1
			kept = append(kept, k)
		}
		if t.Kind == value.Map {
			if !p.Next() {
				break
			}
			if in {
				kept = append(kept, p.Part())
			}
		}
	}
	if lo < 0 {
		lo, hi = 0, 0
	}
	return lo, hi, kept
}

// name returns the name of the selected expression, for messages.
func name(e Expr) string {
	switch e := e.(type) {
	case *Column:
		return e.Column.Name
	case *Field:
		t := e.Of.Type()
		return name(e.Of) + "." + t.Fields[e.Index]
	case *Retype:
		return name(e.Of)
	}
	return "the selected value"
}
