// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// operandKind is the kind of an operand.
type operandKind uint8

const (
	pathOperand operandKind = iota
	literalOperand
	sizeOperand   // size(path)
	sizeOfLiteral // size(:v)
)

// operand is an operand of a comparison or function: a path, a value, or the size of one of these.
type operand struct {
	kind    operandKind
	path    Path
	literal attribute.Value
	sized   sized // of sizeOfLiteral, if it is known
}

type sized struct {
	v         attribute.Value
	known, ok bool
}

// resolve returns the operand's value for an item, if it has one.
func (o *operand) resolve(item attribute.Item) (attribute.Value, bool) {
	switch o.kind {
	case literalOperand:
		return o.literal, true
	case sizeOperand:
		v, ok := o.path.Get(item)
		if !ok {
			return attribute.Value{}, false
		}
		return size(v)
	case sizeOfLiteral:
		if o.sized.known {
			return o.sized.v, o.sized.ok
		}
		return size(o.literal)
	}
	return o.path.Get(item)
}

// hasPath reports whether the operand looks at the item.
func (o *operand) hasPath() bool { return o.kind == pathOperand || o.kind == sizeOperand }

// size returns the value of the function size: the UTF-16 code units of an S, the bytes of a B, or
// the elements of a set, L or M.
func size(v attribute.Value) (attribute.Value, bool) {
	switch k := v.Kind(); {
	case k == attribute.S:
		return attribute.Int(int64(codeUnits(v.Text()))), true
	case k == attribute.B:
		return attribute.Int(int64(len(v.Text()))), true
	case k == attribute.L || k == attribute.M || k.IsSet():
		return attribute.Int(int64(v.Len())), true
	}
	return attribute.Value{}, false
}

// codeUnits returns the number of UTF-16 code units of a text: two for each character with four
// bytes in UTF-8, one for each other character.
func codeUnits(s string) int {
	n := 0
	for i := range len(s) {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if n++; s[i] >= 0xf0 {
			n++
		}
	}
	return n
}

// constant returns the type of an operand if it does not depend on the item; else Invalid.
func (o *operand) constant() attribute.Kind {
	switch o.kind {
	case literalOperand:
		return o.literal.Kind()
	case sizeOperand, sizeOfLiteral:
		return attribute.N
	}
	return attribute.Invalid
}

func (o *operand) samePath(p *operand) bool {
	return o.kind == pathOperand && p.kind == pathOperand && o.path.equal(p.path)
}

// node is a condition.
type node interface {
	match(item attribute.Item) bool
}

type (
	andNode []node
	orNode  []node
	notNode struct{ node }

	compareNode struct {
		op          comparator
		left, right operand
		decided     decided
		among       *haystack // a long set that is one of the operands
	}
	betweenNode struct {
		value, low, high operand
		decided          decided
	}
	inNode struct {
		decided decided
		value   operand
		list    []operand
		among   map[scalar]bool // the list's literals of type S, N and B, if the list is long; else nil
		rest    []operand       // all other elements of the list, if among is not nil
	}
	existsNode struct {
		path   Path
		absent bool
	}
	typeNode struct {
		path operand
		kind operand // a literal S
	}
	beginsNode struct {
		value, prefix operand
		decided       decided
	}
	containsNode struct {
		value, element operand
		decided        decided
		among          *haystack // a long value in which the elements are looked for
	}
)

// comparator is an operator that compares two operands.
type comparator uint8

const (
	eq comparator = iota
	ne
	lt
	le
	gt
	ge
)

var comparators = [...]string{eq: "=", ne: "<>", lt: "<", le: "<=", gt: ">", ge: ">="}

func (n andNode) match(item attribute.Item) bool {
	for _, c := range n {
		if !c.match(item) {
			return false
		}
	}
	return true
}

func (n orNode) match(item attribute.Item) bool {
	for _, c := range n {
		if c.match(item) {
			return true
		}
	}
	return false
}

func (n notNode) match(item attribute.Item) bool { return !n.node.match(item) }

func (n *compareNode) match(item attribute.Item) bool {
	if n.decided.known {
		return n.decided.holds
	}
	v, ok1 := n.left.resolve(item)
	w, ok2 := n.right.resolve(item)
	switch n.op {
	case eq:
		return ok1 && ok2 && n.among.equal(v, w)
	case ne:
		// A value that does not exist differs from all values, and from another that does not
		// exist.
		return !ok1 || !ok2 || !n.among.equal(v, w)
	}
	if !ok1 || !ok2 {
		return false
	}
	return inOrder(n.op, v, w)
}

func inOrder(op comparator, v, w attribute.Value) bool {
	c, ok := attribute.Compare(v, w)
	if !ok {
		return false
	}
	switch op {
	case lt:
		return c < 0
	case le:
		return c <= 0
	case gt:
		return c > 0
	case ge:
		return c >= 0
	}
	return c == 0
}

func (n *betweenNode) match(item attribute.Item) bool {
	if n.decided.known {
		return n.decided.holds
	}
	v, ok := n.value.resolve(item)
	if !ok {
		return false
	}
	low, ok1 := n.low.resolve(item)
	high, ok2 := n.high.resolve(item)
	return ok1 && ok2 && inOrder(ge, v, low) && inOrder(le, v, high)
}

func (n *inNode) match(item attribute.Item) bool {
	if n.decided.known {
		return n.decided.holds
	}
	v, ok := n.value.resolve(item)
	if !ok {
		return false
	}
	list := n.list
	if n.among != nil {
		if isScalar(v.Kind()) && n.among[scalar{v.Kind(), v.Text()}] {
			return true
		}
		list = n.rest
	}
	for i := range list {
		if w, ok := list[i].resolve(item); ok && v.Equal(w) {
			return true
		}
	}
	return false
}

// scalar is an S, N or B. Two scalars are equal if their texts are.
type scalar struct {
	kind attribute.Kind
	text string
}

func isScalar(k attribute.Kind) bool { return k == attribute.S || k == attribute.N || k == attribute.B }

// index prepares the list for many items. A list may be as long as a request, and a page has many
// items. To compare each element with each item would take the product of the two numbers.
func (n *inNode) index() {
	const few = 16
	if len(n.list) <= few {
		return
	}
	n.among = make(map[scalar]bool, len(n.list))
	for _, o := range n.list {
		if o.kind == literalOperand && isScalar(o.literal.Kind()) {
			n.among[scalar{o.literal.Kind(), o.literal.Text()}] = true
		} else {
			n.rest = append(n.rest, o)
		}
	}
}

func (n *existsNode) match(item attribute.Item) bool {
	_, ok := n.path.Get(item)
	return ok != n.absent
}

func (n *typeNode) match(item attribute.Item) bool {
	v, ok := n.path.resolve(item)
	return ok && v.Kind().String() == n.kind.literal.Text()
}

func (n *beginsNode) match(item attribute.Item) bool {
	if n.decided.known {
		return n.decided.holds
	}
	v, ok1 := n.value.resolve(item)
	w, ok2 := n.prefix.resolve(item)
	if !ok1 || !ok2 || v.Kind() != w.Kind() || v.Kind() != attribute.S && v.Kind() != attribute.B {
		return false
	}
	return strings.HasPrefix(v.Text(), w.Text())
}

func (n *containsNode) match(item attribute.Item) bool {
	if n.decided.known {
		return n.decided.holds
	}
	v, ok1 := n.value.resolve(item)
	w, ok2 := n.element.resolve(item)
	if n.among != nil {
		return ok2 && n.among.contains(w)
	}
	return ok1 && ok2 && contains(v, w)
}

// contains returns the value of the function contains: w is a part of an S or B, or an element of a
// set or L.
func contains(v, w attribute.Value) bool {
	switch k := v.Kind(); {
	case k == attribute.S || k == attribute.B:
		return w.Kind() == k && strings.Contains(v.Text(), w.Text())
	case k == attribute.L || k.IsSet() && w.Kind() == k.Element():
		return v.Contains(w)
	}
	return false
}
