// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// cursor moves over the tokens of one statement. It keeps the first error and then behaves as if at
// the end.
type cursor struct {
	lexer      lexer
	tok        token
	parameters []attribute.Value
	used       int // the number of parameters used so far
	err        error
	failed     int  // the place of the error, in bytes
	open       bool // the parameters are not known
}

func (p *cursor) fail(err error) {
	if p.err == nil {
		p.err, p.failed = err, p.tok.start
	}
	p.tok = token{kind: eof, start: len(p.lexer.src), end: len(p.lexer.src)}
	p.lexer.pos = len(p.lexer.src)
}

// malformed fails because the text is not a statement.
func (p *cursor) malformed(detail string) {
	p.fail(exception.Invalid("Statement wasn't well formed, can't be processed: %s", detail))
}

func (p *cursor) invalid(format string, args ...any) { p.fail(exception.Invalid(format, args...)) }

func (p *cursor) advance() {
	if p.err != nil {
		return
	}
	if p.tok = p.lexer.next(); p.tok.kind == wrong {
		p.malformed("")
	}
}

// peek returns the token after the current one.
func (p *cursor) peek() token {
	ahead := p.lexer
	return ahead.next()
}

func (p *cursor) is(text string) bool { return p.tok.kind == symbol && p.tok.text == text }

func (p *cursor) take(text string) bool {
	if p.err != nil || !p.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *cursor) expect(text, detail string) {
	if !p.take(text) && p.err == nil {
		p.malformed(detail)
	}
}

func (t token) isWord(w string) bool { return t.kind == word && strings.EqualFold(t.text, w) }

func (p *cursor) takeWord(w string) bool {
	if p.err != nil || !p.tok.isWord(w) {
		return false
	}
	p.advance()
	return true
}
