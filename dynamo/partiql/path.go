// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// simplePath reads names with dots between them.
func (p *operandParser) simplePath() []string {
	var names []string
	for {
		if p.err != nil || p.tok.kind != quoted && (p.tok.kind != word || isKeyword(p.tok.text)) {
			p.malformed("Expected identifier for simple path")
			return []string{""}
		}
		names = append(names, p.tok.text)
		p.advance()
		if !p.take(".") {
			return names
		}
	}
}

// path reads a document path. detail is the message if the path begins with a keyword.
func (p *operandParser) path(detail string) expression.Path {
	path := expression.Path{Name: p.name(detail)}
	for p.err == nil {
		switch {
		case p.take("."):
			path.Steps = append(path.Steps, expression.Step{Field: p.name("Invalid path dot component"), Index: -1})
		case p.take("["):
			if p.tok.kind == str {
				path.Steps = append(path.Steps, expression.Step{Field: p.tok.text, Index: -1})
				p.advance()
			} else {
				path.Steps = append(path.Steps, expression.Step{Index: p.listIndex()})
			}
			p.expect("]", "Expected right bracket")
		default:
			if len(path.Steps) >= expression.MaxLevels {
				p.invalid("The document path has too many nesting levels; nesting levels: %d", len(path.Steps)+1)
			}
			return path
		}
	}
	return path
}

func (p *operandParser) name(detail string) string {
	t := p.tok
	switch {
	case t.kind == quoted && t.text == "":
		p.invalid("Path component cannot be an empty string")
	case t.kind == quoted, t.kind == word && !isKeyword(t.text), p.namedByKeyword():
		p.advance()
		return t.text
	case t.kind == word:
		p.malformed(detail)
	default:
		p.malformed("Unexpected term")
	}
	return ""
}

func (p *operandParser) listIndex() int {
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	t := p.tok
	if t.kind != number || strings.ContainsAny(t.text, ".eE") {
		p.malformed("Expected list index")
		return 0
	}
	p.advance()
	n, ok := int32Of(t.text)
	if !ok || sign != "" && n != 0 {
		p.invalid("List index is not within the allowable range; index: [%s%s]%s", sign, t.text, p.lexer.at(t))
		return 0
	}
	return n
}

// namedByKeyword reports whether a keyword is the name of an attribute, from the token that follows
// it. It returns false unless only an outline is wanted.
func (p *operandParser) namedByKeyword() bool {
	if !p.open || p.err != nil || p.tok.kind != word || !isKeyword(p.tok.text) {
		return false
	}
	switch next := p.peek(); next.kind {
	case symbol:
		switch next.text {
		case ",", ".", "[", "=", "<", "<=", ">", ">=", "<>", "!=", ")":
			return !p.tok.isWord("IN")
		}
	case word:
		for _, w := range []string{"BETWEEN", "IN", "IS", "FROM", "WHERE"} {
			if next.isWord(w) {
				return !p.tok.isWord("NOT") && !p.tok.isWord("AND") && !p.tok.isWord("OR") && !p.tok.isWord("DELETE")
			}
		}
	}
	return false
}
