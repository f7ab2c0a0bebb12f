// SPDX-License-Identifier: Apache-2.0

package expression

// kind is the kind of a token.
type kind uint8

const (
	eof kind = iota
	word
	name   // #n
	value  // :v
	number // of a list index
	symbol // ( ) [ ] . , + - and the comparators
	wrong  // characters that begin no token
)

// token is a piece of an expression.
type token struct {
	kind       kind
	start, end int
	text       string
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lexer splits an expression into tokens.
type lexer struct {
	src string
	pos int
}

func (l *lexer) next() token {
	for l.pos < len(l.src) && (l.src[l.pos] == ' ' || l.src[l.pos] == '\t' || l.src[l.pos] == '\r' || l.src[l.pos] == '\n') {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{kind: eof, start: start, end: start, text: "<EOF>"}
	}
	k := wrong
	switch c := l.src[l.pos]; {
	case letter(c) && c != '_':
		k = word
		l.run(func(c byte) bool { return letter(c) || digit(c) })
	case c == '0':
		k = number
		l.pos++
	case digit(c):
		k = number
		l.run(digit)
	case c == '#' || c == ':':
		l.run(func(c byte) bool { return letter(c) || digit(c) || c == '#' || c == ':' })
		if l.pos > start+1 {
			if k = name; c == ':' {
				k = value
			}
		}
	case c == '<' || c == '>':
		k = symbol
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '=' || c == '<' && l.src[l.pos] == '>') {
			l.pos++
		}
	case c == '(' || c == ')' || c == '[' || c == ']' || c == '.' || c == ',' || c == '=' || c == '+' || c == '-':
		k = symbol
		l.pos++
	default:
		// One character, which may have several bytes.
		l.pos++
		for l.pos < len(l.src) && l.src[l.pos]&0xc0 == 0x80 {
			l.pos++
		}
	}
	return token{kind: k, start: start, end: l.pos, text: l.src[start:l.pos]}
}

// run skips the first character and all following characters of a class.
func (l *lexer) run(class func(byte) bool) {
	for l.pos++; l.pos < len(l.src) && class(l.src[l.pos]); l.pos++ {
	}
}
