// SPDX-License-Identifier: Apache-2.0

package syntax

import "sync"

// Parse parses one statement, optionally followed by semicolons. The error is a *SyntaxError.
func Parse(text string) (Statement, error) {
	buf := tokenBuffers.Get().(*[]token)
	toks := (*buf)[:0]
	n := len(text) / 4
	if n > maxPooledTokens {
		n = countTokens(text) // a slice that grows takes several times its size
	}
	if cap(toks) < n {
		toks = make([]token, 0, n)
	}
	toks, lexErr := tokenize(toks, text)
	var p parser
	p.cursor = cursor{text: text, toks: toks}
	s := p.statement()
	for p.accept(tSemicolon) {
	}
	p.expect(tEOF)
	err := p.result(lexErr)
	if cap(toks) <= maxPooledTokens {
		*buf = toks
		tokenBuffers.Put(buf)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

const maxPooledTokens = 4096

// Parsed is about how many bytes of memory the tokens, the tree and the analysis of a long statement
// take for each byte of its text, if every token is short.
const Parsed = 64

var tokenBuffers = sync.Pool{New: func() any {
	b := make([]token, 0, 128)
	return &b
}}

// The parsers descend the grammar, each on top of the one before it. A rule calls those of its own
// parser and of the parsers below.
type (
	typeParser struct{ cursor } // names and types
	termParser struct {         // terms and properties
		typeParser
		given names // properties of the statement
	}
	selectorParser struct{ termParser }     // what SELECT shows
	queryParser    struct{ selectorParser } // SELECT, the writes, BATCH
	schemaParser   struct {                 // keyspaces, tables, types, indexes, views
		queryParser
		orders names // clustering orders of the statement
	}
	adminParser struct{ schemaParser } // roles, permissions, functions, triggers
	parser      struct{ adminParser }  // all statements
)

// names are the names that a list has given so far.
type names map[string]bool

// again reports whether a name was given before, and notes it.
func (n *names) again(name string) bool {
	if (*n)[name] {
		return true
	}
	if *n == nil {
		*n = names{}
	}
	(*n)[name] = true
	return false
}
