// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"fmt"
	"strings"
)

// kind is the kind of a token.
type kind uint8

const (
	eof    kind = iota
	word        // a keyword, or a name without quotes
	quoted      // a name in double quotes
	str         // a string in single quotes
	number      // without its sign
	symbol      // and parameters
	wrong       // characters that begin no token
)

// token is a piece of a statement. The text of names and strings does not include the quotes.
type token struct {
	kind       kind
	start, end int
	text       string
}

// lexer splits a statement into tokens.
type lexer struct {
	src string
	pos int
}

// symbols lists the symbols; a symbol stands before those that are its beginning.
var symbols = [...]string{"<<", ">>", "<>", "<=", ">=", "!=", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "*", "=", "<", ">", "+", "-", "?"}

func (l *lexer) next() token {
	if !l.space() {
		return token{kind: wrong, start: l.pos, end: len(l.src)}
	}
	start := l.pos
	if start == len(l.src) {
		return token{kind: eof, start: start, end: start}
	}
	t := token{kind: wrong, start: start}
	switch c := l.src[start]; {
	case c == '\'' || c == '"':
		if text, ok := l.quotes(c); ok {
			t.text, t.kind = text, str
			if c == '"' {
				t.kind = quoted
			}
		}
	case letter(c):
		for l.pos < len(l.src) && (letter(l.src[l.pos]) || digit(l.src[l.pos])) {
			l.pos++
		}
		t.kind, t.text = word, l.src[start:l.pos]
	case digit(c) || c == '.' && start+1 < len(l.src) && digit(l.src[start+1]):
		l.number()
		t.kind, t.text = number, l.src[start:l.pos]
	default:
		for _, s := range symbols {
			if strings.HasPrefix(l.src[start:], s) {
				l.pos += len(s)
				t.kind, t.text = symbol, s
				break
			}
		}
	}
	t.end = l.pos
	return t
}

// space skips white space and comments. It returns false if a comment has no end.
func (l *lexer) space() bool {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\v\f", rest[0]) >= 0:
			l.pos++
		case strings.HasPrefix(rest, "--"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return false
			}
			l.pos += n + 4
		default:
			return true
		}
	}
	return true
}

// quotes reads a text in quotes. A doubled quote stands for one quote.
func (l *lexer) quotes(q byte) (string, bool) {
	var b strings.Builder
	for i := l.pos + 1; i < len(l.src); i++ {
		if l.src[i] != q {
			b.WriteByte(l.src[i])
			continue
		}
		if i+1 < len(l.src) && l.src[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		l.pos = i + 1
		return b.String(), true
	}
	l.pos = len(l.src)
	return "", false
}

// number skips digits, a fraction and an exponent.
func (l *lexer) number() {
	digits := func() {
		for l.pos < len(l.src) && digit(l.src[l.pos]) {
			l.pos++
		}
	}
	digits()
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		l.pos++
		digits()
	}
	if l.pos < len(l.src) && (l.src[l.pos] == 'e' || l.src[l.pos] == 'E') {
		i := l.pos + 1
		if i < len(l.src) && (l.src[i] == '+' || l.src[i] == '-') {
			i++
		}
		if i < len(l.src) && digit(l.src[i]) {
			l.pos = i
			digits()
		}
	}
}

// at returns the place of a token as AWS's messages have it: line, column and length.
func (l *lexer) at(t token) string {
	before := l.src[:t.start]
	line := strings.Count(before, "\n")
	return fmt.Sprintf(" at %d:%d:%d", line+1, t.start-strings.LastIndexByte(before, '\n'), t.end-t.start)
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
