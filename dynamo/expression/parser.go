// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// parser reads one expression. A syntax error ends the parsing. The parser notes all other faults
// and continues.
type parser struct {
	parameter    Parameter
	placeholders *Placeholders
	lexer        lexer
	prev, tok    token
	err          error
	found        found
	operators    int
}

// begin checks the text's size and reads the first token.
func (p *Placeholders) begin(parameter Parameter, text string) (*parser, error) {
	if text == "" {
		return nil, parameter.invalid("The expression can not be empty;")
	}
	if len(text) > MaxSize {
		return nil, parameter.invalid("Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
	}
	q := &parser{parameter: parameter, placeholders: p, lexer: lexer{src: text}}
	q.tok = q.lexer.next()
	q.prev = q.tok
	return q, nil
}

// end returns the syntax error, or the first fault in an order of classes.
func (q *parser) end(order []fault) error {
	if q.err == nil && q.tok.kind != eof {
		q.syntax()
	}
	if q.err != nil {
		return q.err
	}
	if message := q.found.first(order); message != "" {
		return q.parameter.invalid("%s", message)
	}
	return nil
}

func (q *parser) advance() {
	q.prev = q.tok
	q.tok = q.lexer.next()
}

// syntax makes the current token the syntax error. Near is the text from the token before it to the
// token after it.
func (q *parser) syntax() {
	if q.err != nil {
		return
	}
	after := q.lexer.next()
	near := strings.TrimRight(q.lexer.src[q.prev.start:after.end], " \t\r\n")
	q.err = q.parameter.invalid(`Syntax error; token: "%s", near: "%s"`, q.tok.text, near)
	q.tok = token{kind: eof}
	q.lexer.pos = len(q.lexer.src)
}

func (q *parser) is(text string) bool { return q.tok.kind == symbol && q.tok.text == text }

// take skips the token if it is the symbol text, and reports whether it is.
func (q *parser) take(text string) bool {
	if !q.is(text) {
		return false
	}
	q.advance()
	return true
}

// expect skips the symbol text, which must be there.
func (q *parser) expect(text string) {
	if !q.take(text) {
		q.syntax()
	}
}

// isKeyword reports whether the token is a keyword of the grammar, in any case.
func (q *parser) isKeyword(k string) bool {
	return q.tok.kind == word && len(q.tok.text) == len(k) && strings.EqualFold(q.tok.text, k)
}

func (q *parser) takeKeyword(k string) bool {
	if !q.isKeyword(k) {
		return false
	}
	q.advance()
	return true
}

// operator counts an operator. It fails if there are too many.
func (q *parser) operator() {
	q.operators++
	if q.operators > MaxOperators && q.err == nil {
		q.err = q.parameter.invalid("The expression contains too many operators; operator count: %d", q.operators)
		q.tok = token{kind: eof}
		q.lexer.pos = len(q.lexer.src)
	}
}

// path reads a document path.
func (q *parser) path() Path {
	p := Path{Name: q.pathName()}
	for q.err == nil {
		switch {
		case q.take("."):
			p.Steps = append(p.Steps, Step{Field: q.pathName(), Index: -1})
		case q.is("["):
			q.advance()
			if q.tok.kind != number {
				q.syntax()
				return p
			}
			index, err := strconv.ParseInt(q.tok.text, 10, 32)
			if err != nil || len(q.tok.text) > 10 {
				q.err = q.parameter.invalid("List index is not within the allowable range; index: [%s]", q.tok.text)
				return p
			}
			q.advance()
			q.expect("]")
			p.Steps = append(p.Steps, Step{Index: int(index)})
		default:
			if len(p.Steps) >= MaxLevels {
				q.err = q.parameter.invalid("The document path has too many nesting levels; nesting levels: %d", len(p.Steps)+1)
			}
			return p
		}
	}
	return p
}

// pathName reads a word or placeholder that names an attribute or field.
func (q *parser) pathName() string {
	text := q.tok.text
	switch q.tok.kind {
	case word:
		if isReserved(text) {
			q.found.note(keyword, "Attribute name is a reserved keyword; reserved keyword: %s", text)
		}
	case name:
		attribute, ok := q.placeholders.name(text)
		if !ok {
			q.found.note(placeholder, "An expression attribute name used in the document path is not defined; attribute name: %s", text)
		}
		text = attribute
	default:
		q.syntax()
		return ""
	}
	q.advance()
	return text
}

// literal reads the placeholder of a value.
func (q *parser) literal(class fault) attribute.Value {
	v, ok := q.placeholders.value(q.tok.text)
	if !ok {
		q.found.note(class, "An expression attribute value used in expression is not defined; attribute value: %s", q.tok.text)
	}
	q.advance()
	return v
}

func (q *parser) wrongType(function string, k attribute.Kind) {
	q.found.note(operandType, "Incorrect operand type for operator or function; operator or function: %s, operand type: %s", function, k)
}
