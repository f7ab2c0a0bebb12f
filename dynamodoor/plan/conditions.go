// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// These are conditions on items that move.

// NoStub is the condition that no stub is at a place.
var NoStub = mustBuild(func(b *expression.Builder) *expression.Condition {
	return b.Function("attribute_not_exists", expression.PathOperand(expression.Top(Moved)))
})

// AStub is the condition that a stub is at a place.
var AStub = mustBuild(func(b *expression.Builder) *expression.Condition {
	return b.Function("attribute_exists", expression.PathOperand(expression.Top(Moved)))
})

// There returns the condition that an item is, or is not, at a place.
func (k *keys) There(is bool) *expression.Condition {
	f := "attribute_not_exists"
	if is {
		f = "attribute_exists"
	}
	return mustBuild(func(b *expression.Builder) *expression.Condition {
		return b.Function(f, expression.PathOperand(expression.Top(k.sort.Name)))
	})
}

// AsSeen returns the condition that the item at a place is not a stub and is unchanged since it was
// read.
func (k *keys) AsSeen(item attribute.Item) *expression.Condition {
	var b expression.Builder
	c := b.Function("attribute_not_exists", expression.PathOperand(expression.Top(Stamp)))
	if v, ok := item.Get(Stamp); ok {
		c = b.Compare("=", expression.PathOperand(expression.Top(Stamp)), expression.ValueOperand(v))
	}
	return Both(Both(k.There(true), NoStub), c)
}

// Both returns the condition that two conditions hold. The second may be nil.
func Both(c, d *expression.Condition) *expression.Condition {
	if d == nil {
		return c
	}
	var b expression.Builder // the store reports too many operators
	return b.And(c, d)
}

func mustBuild(build func(b *expression.Builder) *expression.Condition) *expression.Condition {
	var b expression.Builder
	c := build(&b)
	if b.Err() != nil {
		panic(b.Err())
	}
	return c
}
