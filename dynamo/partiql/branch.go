// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// maxReads is the largest number of reads that a SELECT may be split into.
const maxReads = 50

// branch is an alternative of a WHERE that binds a partition key. One Query reads it.
type branch struct {
	key  expression.KeyRange
	rest []condition // the conditions that the key range does not cover
}

// reader splits a WHERE for one key schema.
type reader struct {
	table      *schema.Table
	hash, sort []expression.KeyAttribute
}

func newReader(t *schema.Table, key schema.Key) *reader {
	r := &reader{table: t}
	r.hash, r.sort = api.KeyAttributes(t, key)
	return r
}

func (r *reader) isKey(name string) bool {
	is := func(a expression.KeyAttribute) bool { return a.Name == name }
	return slices.ContainsFunc(r.hash, is) || slices.ContainsFunc(r.sort, is)
}

// keyed reports whether each alternative of a condition binds the whole partition key.
func (r *reader) keyed(c condition) bool {
	if c == nil {
		return false
	}
	for _, a := range r.hash {
		if !binds(c, a.Name) {
			return false
		}
	}
	return true
}

// binds reports whether each alternative of a condition sets an attribute equal to a value.
func binds(c condition, name string) bool {
	switch c := c.(type) {
	case and:
		return slices.ContainsFunc(c, func(c condition) bool { return binds(c, name) })
	case or:
		return !slices.ContainsFunc(c, func(c condition) bool { return !binds(c, name) })
	case compare:
		a, v, op := c.sides()
		return op == "=" && a == name && v.Kind() != attribute.Invalid
	case in:
		return c.value.isAttribute() && c.value.path.Name == name && c.literals()
	}
	return false
}

// sides returns the attribute, the value and the operator of a comparison of an attribute with a
// literal. It returns an empty name for other comparisons.
func (c *compare) sides() (name string, v attribute.Value, operator string) {
	switch {
	case c.left.isAttribute() && c.right.isLiteral():
		return c.left.path.Name, c.right.literal, c.operator
	case c.left.isLiteral() && c.right.isAttribute():
		mirrored := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[c.operator]
		if mirrored == "" {
			mirrored = c.operator
		}
		return c.right.path.Name, c.left.literal, mirrored
	}
	return "", attribute.Value{}, ""
}

func (c *in) literals() bool {
	return !slices.ContainsFunc(c.list, func(o operand) bool { return !o.isLiteral() })
}

// branches splits a keyed condition into alternatives.
func (r *reader) branches(c condition) ([]branch, error) {
	alternatives, ok := r.expand(c)
	if !ok {
		return nil, exception.Invalid("Too many decomposed read operations for a given query.")
	}
	var out []branch
	var intervals []interval
	for _, list := range alternatives {
		b, i, possible, err := r.branch(list)
		if err != nil {
			return nil, err
		}
		if !possible {
			continue
		}
		for k := range out {
			if slices.EqualFunc(out[k].key.Hash, b.key.Hash, attribute.Value.Equal) && intervals[k].overlaps(i) {
				return nil, exception.Invalid("Overlapping conditions with range keys are not supported in where clause")
			}
		}
		out, intervals = append(out, b), append(intervals, i)
	}
	return out, nil
}

// expand returns a condition as a list of alternatives. Each alternative is a list of conditions
// that must all hold. Conditions that do not look at the key are not split. expand returns false if
// there are too many alternatives.
func (r *reader) expand(c condition) ([][]condition, bool) {
	switch c := c.(type) {
	case and:
		out := [][]condition{nil}
		for _, part := range c {
			alternatives, ok := r.expand(part)
			if !ok || len(out)*len(alternatives) > maxReads {
				return nil, false
			}
			var product [][]condition
			for _, left := range out {
				for _, right := range alternatives {
					product = append(product, append(slices.Clone(left), right...))
				}
			}
			out = product
		}
		return out, true
	case or:
		if names(c, func(name string) bool { return !r.isKey(name) }) {
			break
		}
		var out [][]condition
		for _, part := range c {
			alternatives, ok := r.expand(part)
			if out = append(out, alternatives...); !ok || len(out) > maxReads {
				return nil, false
			}
		}
		return out, true
	case in:
		if !c.value.isAttribute() || !r.isKey(c.value.path.Name) || !c.literals() {
			break
		}
		if len(c.list) > maxReads {
			return nil, false
		}
		var out [][]condition
		for _, v := range c.list {
			out = append(out, []condition{compare{"=", c.value, v}})
		}
		return out, true
	}
	return [][]condition{{c}}, true
}

// branch returns the read of one alternative. possible reports whether the alternative can hold at
// all.
func (r *reader) branch(list []condition) (b branch, i interval, possible bool, err error) {
	b.key.Hash = make([]attribute.Value, len(r.hash))
	ranges := make([]keyRanges, len(r.sort))
	for _, c := range list {
		taken, err := r.take(c, &b, ranges)
		if err != nil {
			return b, i, false, err
		}
		switch taken {
		case impossible:
			return b, i, false, nil
		case notTaken:
			b.rest = append(b.rest, c)
		}
	}
	for k := range ranges {
		q := &ranges[k]
		if !q.possible() {
			return b, i, false, nil
		}
		if i.done {
			b.rest = append(b.rest, q.conditions...)
			continue
		}
		i.add(q)
		if q.equal.Kind() != attribute.Invalid {
			if b.key.Op == expression.Equal {
				b.key.Prefix = append(b.key.Prefix, b.key.Low)
			}
			b.key.Op, b.key.Low = expression.Equal, q.equal
			continue
		}
		if len(q.conditions) == 0 {
			continue
		}
		if b.key.Op == expression.Equal {
			b.key.Prefix = append(b.key.Prefix, b.key.Low)
		}
		var left []condition
		b.key.Op, b.key.Low, b.key.High, left = q.keyRange()
		b.rest = append(b.rest, left...)
	}
	return b, i, true, nil
}

// taking is the result of adding a condition to a read.
type taking uint8

const (
	notTaken taking = iota
	taken
	impossible
)

// take adds a condition on the key to the read b.
func (r *reader) take(c condition, b *branch, ranges []keyRanges) (taking, error) {
	name, values, operator := keyCondition(c)
	if name == "" {
		return notTaken, nil
	}
	check := func(a expression.KeyAttribute) error {
		for _, v := range values {
			if v.Kind() != a.Type {
				return exception.Invalid("Key attribute's data type should match its data type in table's schema: Key %s", a.Name)
			}
		}
		return nil
	}
	for k, a := range r.hash {
		if a.Name != name || operator != "=" {
			continue
		}
		if err := check(a); err != nil {
			return notTaken, err
		}
		if was := b.key.Hash[k]; was.Kind() != attribute.Invalid && !was.Equal(values[0]) {
			return impossible, nil
		}
		b.key.Hash[k] = values[0]
		return taken, nil
	}
	for k, a := range r.sort {
		if a.Name != name {
			continue
		}
		if err := check(a); err != nil {
			return notTaken, err
		}
		if operator == "begins_with" && a.Type == attribute.N {
			return notTaken, nil
		}
		ranges[k].add(c, operator, values)
		return taken, nil
	}
	return notTaken, nil
}

// keyCondition returns the attribute, values and operator of a condition that a key condition can
// contain. It returns an empty name for other conditions.
func keyCondition(c condition) (name string, values []attribute.Value, operator string) {
	switch c := c.(type) {
	case compare:
		name, v, operator := c.sides()
		if operator == "<>" {
			return "", nil, ""
		}
		return name, []attribute.Value{v}, operator
	case between:
		if c.value.isAttribute() && c.low.isLiteral() && c.high.isLiteral() {
			return c.value.path.Name, []attribute.Value{c.low.literal, c.high.literal}, "between"
		}
	case call:
		if c.function == "begins_with" && len(c.args) == 2 && c.args[0].isAttribute() && c.args[1].isLiteral() {
			return c.args[0].path.Name, []attribute.Value{c.args[1].literal}, c.function
		}
	}
	return "", nil, ""
}
