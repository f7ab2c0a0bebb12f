// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Builder makes conditions and updates from parts, for languages with another syntax than
// expressions. It makes the same checks as the parser. The first fault is the Builder's error. The
// zero Builder is ready.
type Builder struct {
	q       parser
	actions []action
	paths   []Path
}

// checks returns the parser's checks of conditions.
func (b *Builder) checks() conditionParser { return conditionParser{&b.q} }

// Err returns the error that parsing an equal expression would give, without the name of the
// request's parameter.
func (b *Builder) Err() error {
	if b.q.err != nil {
		return bare(b.q.err)
	}
	for _, order := range [][]fault{updateOrder, oneCondition} {
		if message := b.q.found.first(order); message != "" {
			return exception.Invalid("%s", message)
		}
	}
	return nil
}

// bare returns an error without the name of a parameter.
func bare(err error) error {
	e := *exception.Of(err)
	if _, after, ok := strings.Cut(e.Message, ": "); ok && strings.HasPrefix(e.Message, "Invalid ") {
		e.Message = after
	}
	return &e
}

// Operand is a path or a value, or the size of one of these.
type Operand struct{ operand }

// PathOperand returns an operand for the value at a path.
func PathOperand(p Path) Operand { return Operand{operand{path: p}} }

// ValueOperand returns an operand for a value.
func ValueOperand(v attribute.Value) Operand {
	return Operand{operand{kind: literalOperand, literal: v}}
}

// Size returns the size of an operand. The operand must not be a size itself.
func (b *Builder) Size(o Operand) Operand {
	b.checks().call("size", []operand{o.operand})
	if o.kind == literalOperand {
		return Operand{operand{kind: sizeOfLiteral, literal: o.literal}}
	}
	return Operand{operand{kind: sizeOperand, path: o.path}}
}

// And returns the condition that all given conditions hold; nil if there are none.
func (b *Builder) And(conditions ...*Condition) *Condition {
	nodes := b.nodes(conditions)
	if len(nodes) < 2 {
		return single(nodes)
	}
	return &Condition{root: andNode(nodes)}
}

// Or returns the condition that any of the given conditions holds; nil if there are none.
func (b *Builder) Or(conditions ...*Condition) *Condition {
	nodes := b.nodes(conditions)
	if len(nodes) < 2 {
		return single(nodes)
	}
	return &Condition{root: orNode(nodes)}
}

func (b *Builder) nodes(conditions []*Condition) []node {
	nodes := make([]node, 0, len(conditions))
	for _, c := range conditions {
		if c == nil {
			continue
		}
		if len(nodes) > 0 {
			b.q.operator()
		}
		nodes = append(nodes, c.root)
	}
	return nodes
}

func single(nodes []node) *Condition {
	if len(nodes) == 0 {
		return nil
	}
	return &Condition{root: nodes[0]}
}

// Not returns the condition that c does not hold.
func (b *Builder) Not(c *Condition) *Condition {
	b.q.operator()
	return &Condition{root: notNode{c.root}}
}

// Compare returns a comparison by =, <>, <, <=, > or >=.
func (b *Builder) Compare(operator string, left, right Operand) *Condition {
	b.q.operator()
	n := &compareNode{left: left.operand, right: right.operand}
	for op, text := range comparators {
		if text == operator {
			n.op = comparator(op)
		}
	}
	b.checks().checkDistinct(operator, &n.left, &n.right)
	if n.op != eq && n.op != ne {
		b.checks().checkOrdered(operator, &n.left, &n.right)
	}
	return &Condition{root: n}
}

// Between returns the condition that a value is within bounds.
func (b *Builder) Between(value, low, high Operand) *Condition {
	b.q.operator()
	n := &betweenNode{value: value.operand, low: low.operand, high: high.operand}
	b.checks().checkOrdered("BETWEEN", &n.value, &n.low, &n.high)
	b.checks().checkBounds(n)
	return &Condition{root: n}
}

// In returns the condition that a value is one of a list.
func (b *Builder) In(value Operand, list []Operand) *Condition {
	b.q.operator()
	n := &inNode{value: value.operand}
	for _, o := range list {
		n.list = append(n.list, o.operand)
	}
	if len(n.list) > MaxOperands {
		b.q.found.note(operandCount, "The IN operator is provided with too many operands; number of operands: %d", len(n.list))
	}
	return &Condition{root: n}
}

// Function returns a function that is a condition, such as begins_with.
func (b *Builder) Function(function string, args ...Operand) *Condition {
	list := make([]operand, len(args))
	for i := range args {
		list[i] = args[i].operand
	}
	want, known := map[string]int{
		"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2,
	}[function]
	switch {
	case !known:
		b.q.found.note(unknownFunction, "Invalid function name; function: %s", function)
	case want != len(list):
		b.q.found.note(operandCount, "Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", function, len(list))
	default:
		if n := b.checks().call(function, list); n != nil {
			return &Condition{root: n}
		}
	}
	return &Condition{root: andNode(nil)}
}

// Source is an expression whose value Set assigns.
type Source struct{ source }

// From returns the source of an operand's value. The operand must not be a size.
func From(o Operand) Source {
	if o.kind == literalOperand {
		return Source{source{literal: o.literal}}
	}
	return Source{source{kind: pathSource, path: o.path}}
}

// Sum returns the sum, or with "-" the difference, of two numbers.
func (b *Builder) Sum(operator string, left, right Source) Source {
	b.q.operator()
	kind := plus
	if operator == "-" {
		kind = minus
	}
	b.checkLiterals(operator, attribute.N, left, right)
	return Source{source{kind: kind, args: []source{left.source, right.source}}}
}

// Append returns the elements of a list followed by those of another.
func (b *Builder) Append(first, second Source) Source {
	b.checkLiterals("list_append", attribute.L, first, second)
	return Source{source{kind: listAppend, args: []source{first.source, second.source}}}
}

func (b *Builder) checkLiterals(operator string, want attribute.Kind, sources ...Source) {
	for _, s := range sources {
		if k := s.literal.Kind(); s.kind == literalSource && k != attribute.Invalid && k != want {
			b.q.wrongType(operator, k)
		}
	}
}

// Set adds an action: a path gets a value.
func (b *Builder) Set(p Path, to Source) { b.act(action{verb: set, path: p, to: to.source}) }

// Remove adds an action: the value at a path is removed.
func (b *Builder) Remove(p Path) { b.act(action{verb: remove, path: p}) }

// AddToSet adds an action: a set gets elements.
func (b *Builder) AddToSet(p Path, elements attribute.Value) {
	b.act(action{verb: add, path: p, with: elements})
}

// RemoveFromSet adds an action: a set loses elements.
func (b *Builder) RemoveFromSet(p Path, elements attribute.Value) {
	b.act(action{verb: del, path: p, with: elements})
}

func (b *Builder) act(a action) {
	b.q.checkPath(b.paths, a.path)
	b.paths = append(b.paths, a.path)
	b.actions = append(b.actions, a)
}

// Update returns the update with the added actions.
func (b *Builder) Update() (*Update, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	return newUpdate(b.actions), nil
}
