// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Condition is one condition of an IF; AND joins them.
type Condition struct {
	Column *schema.Column
	Cell   int       // index in Write.Fetch
	Key    eval.Expr // for c[key]; else nil
	Field  int       // for c.field; else -1
	Op     syntax.Op // EQ, NE, LT, LE, GT, GE, In, Contains, ContainsKey
	Term   eval.Expr
	Terms  []eval.Expr // In with a list in the statement's text
	List   eval.Expr   // In with one marker
}

// BoundCondition is a condition with its bound values.
type BoundCondition struct {
	*Condition
	KeyValue []byte
	Values   [][]byte // one, except for In; nil is null, which EQ and NE can compare with
	unset    bool     // a value was unset: an error when the condition is evaluated
	unkeyed  bool     // the key was unset: no entry has it
}

// bind binds a condition to its values.
func (c *Condition) bind(env *eval.Env) (BoundCondition, error) {
	b := BoundCondition{Condition: c}
	if c.Key != nil {
		v, err := eval.Term(c.Key, env)
		if err != nil {
			return b, err
		}
		b.KeyValue, b.unkeyed = v.Bytes, v.Unset
	}
	if c.List != nil {
		v, err := eval.Term(c.List, env)
		switch {
		case err != nil:
			return b, err
		case v.Unset:
			return b, invalid("Invalid 'unset' value in condition")
		case v.Bytes == nil:
			return b, invalid("Invalid null list in IN condition")
		}
		for p := c.List.Type().Parts(v.Bytes); p.Next(); {
			b.Values = append(b.Values, p.Part())
		}
		return b, nil
	}
	terms := c.Terms
	if c.Term != nil {
		terms = []eval.Expr{c.Term}
	}
	for _, t := range terms {
		v, err := eval.Term(t, env)
		if err != nil {
			return b, err
		}
		if v.Unset {
			contains := c.Op == syntax.OpContains || c.Op == syntax.OpContainsKey
			b.unset = b.unset || c.Op != syntax.OpIn && !(contains && c.Column.Type.Multicell())
			continue
		}
		b.Values = append(b.Values, v.Bytes)
	}
	return b, nil
}

// Applies evaluates the condition on the present value of its column.
func (c *BoundCondition) Applies(present *Tested) (bool, error) {
	if c.unset {
		return false, invalid("Invalid 'unset' value in condition")
	}
	cur, t, err := c.current(present)
	if err != nil {
		return false, err
	}
	op := c.Op
	if op == syntax.OpIn {
		op = syntax.OpEQ
	}
	whole := c.Key == nil && c.Field < 0
	atomic := !whole || !t.Collection() || !t.Multicell()
	if atomic && op != syntax.OpContains && op != syntax.OpContainsKey {
		cur = present.canonical(t, cur)
	}
	for _, v := range c.Values {
		var ok bool
		switch {
		case op == syntax.OpContains || op == syntax.OpContainsKey:
			ok, err = containsValue(present, v, op)
		case !atomic:
			ok, err = compareCollection(t, cur, v, op)
		default:
			ok, err = compareValue(t, cur, v, op)
		}
		if ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// current returns the value that the condition tests (of the column, an element or a field) and its
// type.
func (c *BoundCondition) current(present *Tested) ([]byte, *value.Type, error) {
	t := c.Column.Type
	switch {
	case c.unkeyed && t.Kind == value.Map:
		return nil, t.Elems[1], nil
	case c.Key != nil && t.Kind == value.Map:
		if c.KeyValue == nil {
			return nil, nil, invalid("Invalid null value for map element access")
		}
		return present.entry(c.KeyValue), t.Elems[1], nil
	case c.Key != nil:
		if len(c.KeyValue) != 4 {
			return nil, nil, invalid("Invalid null value for list element access")
		}
		i := int32(binary.BigEndian.Uint32(c.KeyValue))
		if i < 0 {
			return nil, nil, invalid("Invalid negative list index %d", i)
		}
		return present.part(int(i)), t.Elems[0], nil
	case c.Field >= 0:
		return present.part(c.Field), t.Elems[c.Field], nil
	}
	return present.Value, t, nil
}

// compareValue compares an atomic value. Null equals only null.
func compareValue(t *value.Type, cur, v []byte, op syntax.Op) (bool, error) {
	if v == nil {
		switch op {
		case syntax.OpEQ:
			return cur == nil, nil
		case syntax.OpNE:
			return cur != nil, nil
		}
		return false, invalid(`Invalid comparison with null for operator "%s"`, symbol(op))
	}
	if cur == nil {
		return op == syntax.OpNE, nil
	}
	return holds(t.Compare(cur, v), op), nil
}

// holds reports whether the result c of a comparison satisfies an operator.
func holds(c int, op syntax.Op) bool {
	switch op {
	case syntax.OpEQ:
		return c == 0
	case syntax.OpNE:
		return c != 0
	case syntax.OpLT:
		return c < 0
	case syntax.OpLE:
		return c <= 0
	case syntax.OpGT:
		return c > 0
	case syntax.OpGE:
		return c >= 0
	}
	return false
}

var kindNames = map[value.Kind]string{value.List: "list", value.Set: "set", value.Map: "map"}

// compareCollection compares a non-frozen collection element by element. If one is a prefix of the
// other, the shorter one is smaller. An empty collection is null.
func compareCollection(t *value.Type, cur, v []byte, op syntax.Op) (bool, error) {
	exists := cur != nil && t.Len(cur) > 0
	if v == nil || t.Len(v) == 0 {
		switch {
		case op == syntax.OpEQ:
			return !exists, nil
		case op == syntax.OpNE:
			return exists, nil
		case v == nil:
			return false, invalid(`Invalid comparison with null for operator "%s"`, symbol(op))
		}
		return false, invalid(`Invalid comparison with an empty %s for operator "%s"`, kindNames[t.Kind], symbol(op))
	}
	if !exists {
		return op == syntax.OpNE, nil
	}
	if t.HasNull(v) {
		return false, invalid("null is not supported inside collections")
	}
	a, b := t.Parts(cur), t.Parts(v)
	for i := 0; ; i++ {
		more, wants := a.Next(), b.Next()
		switch {
		case !more && !wants:
			return holds(0, op), nil
		case !wants:
			return holds(1, op), nil
		case !more:
			return holds(-1, op), nil
		}
		of := t.Elems[0]
		if t.Kind == value.Map {
			of = t.Elems[i%2]
		}
		if c := of.Compare(a.Part(), b.Part()); c != 0 {
			return holds(c, op), nil
		}
	}
}

// containsValue evaluates CONTAINS and CONTAINS KEY.
func containsValue(present *Tested, v []byte, op syntax.Op) (bool, error) {
	if v == nil {
		return false, invalid(`Invalid comparison with null for operator "%s"`, symbol(op))
	}
	if present.Value == nil {
		return false, nil
	}
	return present.contains(v, op == syntax.OpContainsKey), nil
}
