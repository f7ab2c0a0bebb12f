// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Condition is a condition or filter on an item. A nil *Condition always holds.
type Condition struct {
	root node
	once sync.Once // root is prepared for many items
}

// Match reports whether the item meets the condition. A nil item stands for an item that does not
// exist. It has no attributes.
func (c *Condition) Match(item attribute.Item) bool {
	if c == nil {
		return true
	}
	c.once.Do(func() { prepare(c.root) })
	return c.root.match(item)
}

// Condition parses a FilterExpression or ConditionExpression.
func (p *Placeholders) Condition(parameter Parameter, text string) (*Condition, error) {
	root, err := p.condition(parameter, text)
	if err != nil {
		return nil, err
	}
	return &Condition{root: root}, nil
}

// condition parses an expression that is a condition.
func (p *Placeholders) condition(parameter Parameter, text string) (node, error) {
	begun, err := p.begin(parameter, text)
	if err != nil {
		return nil, err
	}
	q := conditionParser{begun}
	root := q.condition()
	return root, q.end(conditionOrder)
}

// conditionParser reads conditions.
type conditionParser struct{ *parser }

// term is a condition or an operand of one. The grammar allows either in the same place.
type term struct {
	node    node // nil: an operand
	operand operand
	// call is the name of a function that is not an operand in its place. The call is a condition
	// unless a comparator follows.
	call string
	size bool // size() alone, which is not a condition
	open bool // in parentheses
}

// condition reads conditions joined by OR.
func (q conditionParser) condition() node {
	t := q.or()
	return q.asCondition(t)
}

// asCondition returns the term as a condition. An operand alone is not a condition.
func (q conditionParser) asCondition(t term) node {
	if t.size {
		q.found.note(misusedFunction, "The function is not allowed to be used this way in an expression; function: size")
		return andNode(nil)
	}
	if t.node == nil && q.err == nil {
		q.syntax()
	}
	return t.node
}

func (q conditionParser) or() term {
	t := q.and()
	if !q.isKeyword("OR") {
		return t
	}
	n := orNode{q.asCondition(t)}
	for q.takeKeyword("OR") {
		q.operator()
		n = append(n, q.asCondition(q.and()))
	}
	return term{node: n}
}

func (q conditionParser) and() term {
	t := q.not()
	if !q.isKeyword("AND") {
		return t
	}
	n := andNode{q.asCondition(t)}
	for q.takeKeyword("AND") {
		q.operator()
		n = append(n, q.asCondition(q.not()))
	}
	return term{node: n}
}

func (q conditionParser) not() term {
	if !q.takeKeyword("NOT") {
		return q.comparison()
	}
	q.operator()
	return term{node: notNode{q.asCondition(q.not())}}
}

// comparison reads a condition without AND, OR and NOT, or a single operand.
func (q conditionParser) comparison() term {
	t := q.primary()
	if q.err != nil || t.node != nil && t.call == "" {
		return t
	}
	defer q.endCondition()
	for op, text := range comparators {
		if !q.is(text) {
			continue
		}
		q.advance()
		q.operator()
		n := &compareNode{op: comparator(op), left: q.asOperand(t), right: q.operand()}
		q.checkDistinct(text, &n.left, &n.right)
		if n.op != eq && n.op != ne {
			q.checkOrdered(text, &n.left, &n.right)
		}
		return term{node: n}
	}
	switch {
	case q.takeKeyword("BETWEEN"):
		q.operator()
		n := &betweenNode{value: q.asOperand(t), low: q.operand()}
		if !q.takeKeyword("AND") {
			q.syntax()
		}
		n.high = q.operand()
		q.checkDistinct("BETWEEN", &n.value, &n.low)
		q.checkDistinct("BETWEEN", &n.value, &n.high)
		q.checkOrdered("BETWEEN", &n.value, &n.low, &n.high)
		q.checkBounds(n)
		return term{node: n}
	case q.takeKeyword("IN"):
		q.operator()
		n := &inNode{value: q.asOperand(t)}
		q.expect("(")
		for q.err == nil {
			n.list = append(n.list, q.operand())
			if !q.take(",") {
				break
			}
		}
		q.expect(")")
		for i := range n.list {
			q.checkDistinct("IN", &n.value, &n.list[i])
		}
		if len(n.list) > MaxOperands {
			q.found.note(operandCount, "The IN operator is provided with too many operands; number of operands: %d", len(n.list))
		}
		n.index()
		return term{node: n}
	}
	return t
}

// primary reads an operand, a function, or anything in parentheses.
func (q conditionParser) primary() term {
	if !q.take("(") {
		return q.single()
	}
	t := q.or()
	if t.open {
		q.found.note(parentheses, "The expression has redundant parentheses;")
	}
	if !q.is(")") {
		q.syntax()
	} else {
		q.advance()
	}
	t.open = true
	t.call = ""
	return t
}

// single reads a path, a value or a function.
func (q conditionParser) single() term {
	switch q.tok.kind {
	case value:
		return term{operand: operand{kind: literalOperand, literal: q.literal(placeholder)}}
	case word:
		for _, k := range []string{"AND", "OR", "NOT", "BETWEEN", "IN"} {
			if q.isKeyword(k) {
				q.syntax()
				return term{}
			}
		}
		function := q.tok
		ahead := q.lexer
		if next := ahead.next(); next.kind == symbol && next.text == "(" {
			q.advance()
			q.advance()
			return q.function(function.text)
		}
	case name:
	default:
		q.syntax()
		return term{}
	}
	return term{operand: operand{path: q.path()}}
}

// operand reads an operand, perhaps in parentheses.
func (q conditionParser) operand() operand {
	if q.take("(") {
		doubled := q.is("(")
		o := q.operand()
		if doubled {
			q.found.note(parentheses, "The expression has redundant parentheses;")
		}
		q.expect(")")
		return o
	}
	return q.asOperand(q.single())
}

// asOperand returns the term as an operand. size is the only function that is an operand.
func (q conditionParser) asOperand(t term) operand {
	if t.call != "" {
		q.found.note(misusedFunction, "The function is not allowed to be used this way in an expression; function: %s", t.call)
	}
	return t.operand
}

// conditionFunctions holds the number of operands of each function of conditions.
var conditionFunctions = map[string]int{
	"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2, "size": 1,
}

// function reads the operands of a function, after its opening parenthesis.
func (q conditionParser) function(function string) term {
	var args []operand
	for q.err == nil {
		args = append(args, q.operand())
		if !q.take(",") {
			break
		}
	}
	q.expect(")")
	t := term{call: function}
	want, known := conditionFunctions[function]
	switch {
	case function == "if_not_exists" || function == "list_append":
		q.found.note(unknownFunction, "The function is not allowed in a condition expression; function: %s", function)
	case !known:
		q.found.note(unknownFunction, "Invalid function name; function: %s", function)
	case want != len(args):
		q.found.note(operandCount, "Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", function, len(args))
	default:
		t.node = q.call(function, args)
	}
	if t.node == nil && function != "size" {
		t.node = andNode(nil)
	}
	if function == "size" {
		t = term{size: true}
		if len(args) > 0 {
			t.operand = operand{kind: sizeOperand, path: args[0].path}
			if args[0].kind == literalOperand {
				t.operand = operand{kind: sizeOfLiteral, literal: args[0].literal}
			}
		}
	}
	return t
}

// call checks the operands of a function. The caller has checked their number.
func (q conditionParser) call(function string, args []operand) node {
	if len(args) == 2 {
		q.checkDistinct(function, &args[0], &args[1])
	}
	switch function {
	case "attribute_exists", "attribute_not_exists":
		q.needPath(function, &args[0])
		return &existsNode{path: args[0].path, absent: function == "attribute_not_exists"}
	case "attribute_type":
		q.checkTypeName(&args[1])
		return &typeNode{path: args[0], kind: args[1]}
	case "begins_with":
		for i := range args {
			if k := args[i].constant(); k != attribute.Invalid && k != attribute.S && k != attribute.B {
				q.wrongType(function, k)
			}
		}
		return &beginsNode{value: args[0], prefix: args[1]}
	case "contains":
		return &containsNode{value: args[0], element: args[1]}
	}
	// size
	switch k := args[0].constant(); k {
	case attribute.N, attribute.BOOL, attribute.NULL:
		q.wrongType(function, k)
	}
	return nil
}

func (q conditionParser) needPath(function string, o *operand) {
	if o.kind != pathOperand {
		q.found.note(operandType, "Operator or function requires a document path; operator or function: %s", function)
	}
}

func (q conditionParser) checkTypeName(o *operand) {
	const valid = "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
	switch k := o.constant(); {
	case o.kind == pathOperand:
		q.found.note(operandType, "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
	case k != attribute.S:
		q.wrongType("attribute_type", k)
	default:
		if _, ok := attribute.KindOf(o.literal.Text()); !ok {
			q.found.note(operandType, "Invalid attribute type name found; type: %s, valid types: %s", o.literal.Text(), valid)
		}
	}
}

const notDistinct = "The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s"

func (q conditionParser) checkDistinct(operator string, a, b *operand) {
	if a.samePath(b) && q.found[placeholder] == "" {
		q.found.note(distinct, notDistinct, operator, a.path)
	}
}

// checkOrdered refuses values that have no order.
func (q conditionParser) checkOrdered(operator string, operands ...*operand) {
	for _, o := range operands {
		switch k := o.constant(); k {
		case attribute.Invalid, attribute.S, attribute.N, attribute.B:
		default:
			q.wrongType(operator, k)
		}
	}
}

// checkBounds refuses a BETWEEN whose low and high values cannot be bounds.
func (q conditionParser) checkBounds(n *betweenNode) {
	if n.low.kind != literalOperand || n.high.kind != literalOperand {
		return
	}
	low, high := n.low.literal, n.high.literal
	if low.Kind() == attribute.Invalid || high.Kind() == attribute.Invalid {
		return
	}
	what := ""
	if low.Kind() != high.Kind() {
		what = "same data type for lower and upper bounds"
	} else if c, ok := attribute.Compare(low, high); ok && c > 0 {
		what = "upper bound to be greater than or equal to lower bound"
	}
	if what != "" {
		q.found.note(operandType, "The BETWEEN operator requires %s; lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s",
			what, describe(low), describe(high))
	}
}

// describe returns a value as AWS's messages have it: {S:a}.
func describe(v attribute.Value) string {
	s := v.String()
	s = strings.ReplaceAll(s, `"`, "")
	return s
}

// endCondition keeps the first of the current condition's faults.
func (q conditionParser) endCondition() {
	if q.found[inCondition] == "" {
		q.found[inCondition] = q.found.first(oneCondition)
	}
}
