// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// changes reads SET and REMOVE clauses.
func (p *parser) changes(s *Statement) {
	const detail = "Expected identifier for simple path"
	for p.err == nil {
		switch {
		case p.takeWord("SET"):
			for p.err == nil {
				c := change{path: p.path(detail)}
				p.expect("=", "Expected equals sign in SET")
				p.assigned(&c)
				s.changes = append(s.changes, c)
				if !p.take(",") {
					break
				}
			}
		case p.takeWord("REMOVE"):
			for p.err == nil {
				s.changes = append(s.changes, change{path: p.path(detail), remove: true})
				if !p.take(",") {
					break
				}
			}
		default:
			if len(s.changes) == 0 {
				p.malformed("Expected data manipulation")
			}
			return
		}
	}
}

// assigned reads the right side of an assignment in SET.
func (p *parser) assigned(c *change) {
	if p.tok.kind == word && p.peek().text == "(" {
		p.updateFunction(c)
		return
	}
	c.args[0] = p.source()
	if p.is("+") || p.is("-") {
		c.operator = p.tok.text
		p.advance()
		c.args[1] = p.source()
	}
}

// source reads a path or a value.
func (p *parser) source() operand {
	if p.err == nil && p.startsValue() {
		return operand{literal: p.value()}
	}
	return operand{path: p.path("Unexpected keyword")}
}

func (p *parser) updateFunction(c *change) {
	function := p.tok
	c.function = strings.ToLower(function.text)
	p.advance()
	p.advance()
	switch c.function {
	case "list_append", "set_add", "set_delete":
	default:
		p.invalid("Invalid function name; function: %s", c.function)
		return
	}
	first := p.tok
	c.args[0] = p.source()
	first.end = first.start + len(strings.TrimRight(p.lexer.src[first.start:p.tok.start], " \t\r\n"))
	p.expect(",", "Expected comma")
	c.args[1] = p.source()
	p.expect(")", "Expected right parenthesis")
	if p.err != nil || c.function == "list_append" {
		return
	}
	name := strings.ToUpper(c.function)
	switch {
	case c.args[0].literal.Kind() != attribute.Invalid || c.args[0].path.String() != c.path.String():
		p.invalid("The first argument to %s must equal the assignment value%s", name, p.lexer.at(function))
	case !c.args[1].literal.Kind().IsSet() && !p.open:
		p.invalid("The second argument to %s must be a value with type SET%s", name, p.lexer.at(first))
	}
}
