// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// express returns a condition of the API that holds if all of the given ones hold; nil if there are
// none.
func express(all []condition) (*expression.Condition, error) {
	var b expression.Builder
	c := b.And(built(&b, all)...)
	return c, b.Err()
}

func built(b *expression.Builder, all []condition) []*expression.Condition {
	out := make([]*expression.Condition, len(all))
	for i, c := range all {
		out[i] = build(b, c)
	}
	return out
}

func build(b *expression.Builder, c condition) *expression.Condition {
	switch c := c.(type) {
	case and:
		return b.And(built(b, c)...)
	case or:
		return b.Or(built(b, c)...)
	case not:
		return b.Not(build(b, c.condition))
	case compare:
		return b.Compare(c.operator, buildOperand(b, c.left), buildOperand(b, c.right))
	case between:
		return b.Between(buildOperand(b, c.value), buildOperand(b, c.low), buildOperand(b, c.high))
	case in:
		return b.In(buildOperand(b, c.value), buildOperands(b, c.list))
	case call:
		return b.Function(c.function, buildOperands(b, c.args)...)
	}
	panic(fmt.Sprintf("partiql: unknown condition %T", c))
}

func buildOperands(b *expression.Builder, all []operand) []expression.Operand {
	out := make([]expression.Operand, len(all))
	for i, o := range all {
		out[i] = buildOperand(b, o)
	}
	return out
}

func buildOperand(b *expression.Builder, o operand) expression.Operand {
	out := expression.PathOperand(o.path)
	if o.size {
		plain := o
		plain.size = false
		return b.Size(buildOperand(b, plain))
	}
	if o.isLiteral() {
		out = expression.ValueOperand(o.literal)
	}
	return out
}

// names calls yield with the attributes that a condition looks at, in their order, until yield
// returns false. It then returns false, too.
func names(c condition, yield func(name string) bool) bool {
	operands := func(list ...operand) bool {
		for _, o := range list {
			if o.path.Name != "" && !yield(o.path.Name) {
				return false
			}
		}
		return true
	}
	all := func(list []condition) bool {
		for _, c := range list {
			if !names(c, yield) {
				return false
			}
		}
		return true
	}
	switch c := c.(type) {
	case and:
		return all(c)
	case or:
		return all(c)
	case not:
		return names(c.condition, yield)
	case compare:
		return operands(c.left, c.right)
	case between:
		return operands(c.value, c.low, c.high)
	case in:
		return operands(c.value) && operands(c.list...)
	case call:
		return operands(c.args...)
	}
	return true
}
