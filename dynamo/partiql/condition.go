// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// maxConditionDepth is the largest depth of nested conditions. The 8,192 characters of a statement
// could nest deeper, but nobody writes such conditions.
const maxConditionDepth = 500

// term is a condition or an operand. The grammar allows either in the same place.
type term struct {
	condition condition // nil: an operand
	operand   operand
}

// where reads a condition.
func (p *conditionParser) where() condition { return p.asCondition(p.or()) }

func (p *conditionParser) asCondition(t term) condition {
	if t.condition == nil && p.err == nil {
		p.invalid("Unsupported operation: an operand stands where a condition is wanted")
	}
	return t.condition
}

// nested calls read, unless conditions are nested too deep.
func (p *conditionParser) nested(read func() term) term {
	if p.depth++; p.depth > maxConditionDepth {
		p.invalid("The expression has too many nested conditions; at most %d are read", maxConditionDepth)
	}
	defer func() { p.depth-- }()
	if p.err != nil {
		return term{}
	}
	return read()
}

func (p *conditionParser) or() term {
	t := p.and()
	if !p.tok.isWord("OR") {
		return t
	}
	all := or{p.asCondition(t)}
	for p.takeWord("OR") {
		p.rightHand()
		all = append(all, p.asCondition(p.and()))
	}
	return term{condition: all}
}

func (p *conditionParser) and() term {
	t := p.not()
	if !p.tok.isWord("AND") {
		return t
	}
	all := and{p.asCondition(t)}
	for p.takeWord("AND") {
		p.rightHand()
		all = append(all, p.asCondition(p.not()))
	}
	return term{condition: all}
}

// rightHand fails if nothing follows an operator.
func (p *conditionParser) rightHand() {
	if p.err == nil && (p.tok.kind == eof || p.is(";")) {
		p.malformed("Missing right-hand side expression of infix operator")
	}
}

func (p *conditionParser) not() term {
	if !p.takeWord("NOT") {
		return p.comparison()
	}
	return p.nested(func() term { return term{condition: not{p.asCondition(p.not())}} })
}

var comparators = map[string]string{"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

func (p *conditionParser) comparison() term {
	t := p.primary()
	for p.err == nil {
		if operator := comparators[p.tok.text]; p.tok.kind == symbol && operator != "" {
			p.advance()
			p.rightHand()
			t = p.compared(operator, t, p.primary())
			continue
		}
		negated := p.tok.isWord("NOT")
		if next := p.peek(); negated && !next.isWord("IN") && !next.isWord("BETWEEN") && !next.isWord("LIKE") {
			return t
		}
		if negated {
			p.advance()
		}
		switch {
		case p.takeWord("BETWEEN"):
			b := between{value: p.asOperand(t), low: p.asOperand(p.primary())}
			if !p.takeWord("AND") {
				p.malformed("Expected AND after BETWEEN")
			}
			b.high = p.asOperand(p.primary())
			t = term{condition: b}
		case p.takeWord("IN"):
			t = term{condition: in{p.asOperand(t), p.list()}}
		case p.tok.isWord("LIKE"):
			p.invalid("Unsupported operation: Like")
		case p.takeWord("IS"):
			t = p.isType(t)
			continue
		default:
			return t
		}
		if negated {
			t = term{condition: not{t.condition}}
		}
	}
	return t
}

// compared returns a comparison of two operands, or of a condition with true or false.
func (p *conditionParser) compared(operator string, left, right term) term {
	if left.condition == nil && right.condition == nil {
		return term{condition: compare{operator, left.operand, right.operand}}
	}
	if left.condition == nil {
		left, right = right, left
	}
	v := right.operand.literal
	switch {
	case right.condition != nil || v.Kind() != attribute.BOOL:
		p.invalid("Unsupported operation: a condition can be compared with TRUE and FALSE only")
	case operator != "=" && operator != "<>":
		p.invalid("Incorrect operand type for operator or function; operator or function: %s, operand type: BOOL", operator)
	case v.True() != (operator == "="):
		return term{condition: not{left.condition}}
	}
	return left
}

func (p *conditionParser) asOperand(t term) operand {
	if t.condition != nil && p.err == nil {
		p.invalid("Unsupported operation: a condition stands where an operand is wanted")
	}
	return t.operand
}

// list reads the values of IN.
func (p *conditionParser) list() []operand {
	end := "]"
	if p.take("(") {
		end = ")"
	} else if !p.take("[") {
		p.malformed("Expected a list after IN")
	}
	var list []operand
	for p.err == nil {
		list = append(list, p.asOperand(p.primary()))
		if !p.take(",") {
			p.expect(end, "Expected the end of the list")
			break
		}
	}
	return list
}

// isType reads what follows IS.
func (p *conditionParser) isType(t term) term {
	negated := p.takeWord("NOT")
	o := p.asOperand(t)
	var c condition
	switch {
	case p.takeWord("MISSING"):
		c = call{"attribute_not_exists", []operand{o}}
	case p.takeWord("NULL"):
		c = call{"attribute_type", []operand{o, {literal: attribute.String("NULL")}}}
	case p.tok.kind == word && typeNames[strings.ToLower(p.tok.text)]:
		p.invalid("Unsupported operation: IsType")
	default:
		p.malformed("Expected type name")
	}
	if negated {
		c = not{c}
	}
	return term{condition: c}
}

// primary reads an operand, a function, or anything in parentheses.
func (p *conditionParser) primary() term {
	switch {
	case p.err != nil:
		return term{}
	case p.take("("):
		t := p.nested(p.or)
		p.expect(")", "Expected right parenthesis")
		return t
	case p.startsValue():
		return term{operand: operand{literal: p.value()}}
	case p.tok.kind == word && p.peek().text == "(":
		return p.function()
	case p.tok.isWord("IS") || p.tok.isWord("LIKE") || p.tok.isWord("IN") || p.tok.isWord("BETWEEN") || p.tok.isWord("AND") || p.tok.isWord("OR"):
		p.malformed("Unexpected operator")
		return term{}
	}
	return term{operand: operand{path: p.path("Unexpected keyword")}}
}

// function reads a function call, which is a condition or size.
func (p *conditionParser) function() term {
	name := strings.ToLower(p.tok.text)
	p.advance()
	p.advance()
	var args []operand
	for p.err == nil && !p.is(")") {
		args = append(args, p.asOperand(p.nested(p.primary)))
		if !p.take(",") {
			break
		}
	}
	p.expect(")", "Expected right parenthesis")
	switch name {
	case "size":
		if len(args) != 1 && p.err == nil {
			p.fail(exception.Invalid("Incorrect number of operands for operator or function; operator or function: size, number of operands: %d", len(args)))
		}
		if p.err != nil {
			return term{}
		}
		o := args[0]
		if o.size {
			p.invalid("The function is not allowed to be used this way in an expression; function: size")
		}
		o.size = true
		return term{operand: o}
	case "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains":
		if p.open { // if the parameters are known, express reports this error
			p.count(name, len(args))
		}
		return term{condition: call{name, args}}
	}
	p.invalid("Invalid function name; function: %s", name)
	return term{}
}

// count fails if a function has the wrong number of operands.
func (p *conditionParser) count(function string, operands int) {
	want := 2
	if function == "attribute_exists" || function == "attribute_not_exists" {
		want = 1
	}
	if operands != want {
		p.invalid("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", function, operands)
	}
}
