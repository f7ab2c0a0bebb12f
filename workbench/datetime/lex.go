// SPDX-License-Identifier: Apache-2.0

package datetime

import "unicode/utf8"

type kind uint8

const (
	end kind = iota
	number
	word
	sign // one character; spaces are one
)

// token is a piece of a text.
type token struct {
	kind     kind
	role     role
	c        byte // of a sign
	from, to uint8
	n        int64 // of a number
}

func (t token) digits() int { return int(t.to - t.from) }

// These are bounds of a text that may be a time.
const (
	shortest  = 6
	longest   = 80
	maxTokens = 32
	maxDigits = 14
)

// Parser reads texts, one after the other. Its zero value is ready; it is for one goroutine.
type Parser struct {
	text   []byte
	tokens [maxTokens + 2]token // the last ones are ends
	count  int
	at     int
	buf    [longestName]byte
	v      reading
}

// lex splits a text into tokens. It returns false if the text is certainly no time.
func (p *Parser) lex(b []byte) bool {
	if len(b) < shortest || len(b) > longest {
		return false
	}
	p.text, p.count, p.at, p.v = b, 0, 0, reading{}
	some := false
	for i := 0; i < len(b); {
		if p.count == maxTokens {
			return false
		}
		t := &p.tokens[p.count]
		*t = token{from: uint8(i)}
		switch c := b[i]; {
		case c-'0' <= 9:
			t.kind, some = number, true
			for ; i < len(b) && b[i]-'0' <= 9; i++ {
				t.n = t.n*10 + int64(b[i]-'0')
				if i-int(t.from) >= maxDigits {
					return false
				}
			}
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf && !blank(b[i:]):
			t.kind = word
			for i < len(b) && (b[i]|0x20 >= 'a' && b[i]|0x20 <= 'z' || b[i] >= utf8.RuneSelf && !blank(b[i:])) {
				i++
			}
			if i-int(t.from) > longestName {
				return false
			}
		default:
			t.kind, t.c = sign, c
			if n := width(b[i:]); n > 0 {
				t.c = ' '
				for n > 0 {
					i += n
					n = width(b[i:])
				}
			} else {
				switch c {
				case '-', '/', '.', ',', ':', '+', '_', '(', ')', '[', ']', '\'':
				default:
					return false
				}
				i++
			}
		}
		t.to = uint8(i)
		p.count++
	}
	p.tokens[p.count], p.tokens[p.count+1] = token{from: uint8(len(b)), to: uint8(len(b))}, token{from: uint8(len(b)), to: uint8(len(b))}
	return some
}

// width returns the bytes of a blank at the beginning of a text: a space, a tab, or a space that
// does not break; 0: there is none.
func width(b []byte) int {
	switch {
	case len(b) == 0:
	case b[0] == ' ' || b[0] == '\t':
		return 1
	case len(b) > 1 && b[0] == 0xc2 && b[1] == 0xa0:
		return 2
	case len(b) > 2 && b[0] == 0xe2 && b[1] == 0x80 && (b[2] == 0xaf || b[2] == 0x89):
		return 3
	case len(b) > 2 && b[0] == 0xe3 && b[1] == 0x80 && b[2] == 0x80:
		return 3
	}
	return 0
}

func blank(b []byte) bool { return width(b) > 0 }

func (p *Parser) peek() token { return p.tokens[p.at] }

// ahead returns the token that is n tokens ahead.
func (p *Parser) ahead(n int) token { return p.tokens[min(p.at+n, p.count)] }

func (p *Parser) is(c byte) bool { return p.tokens[p.at].kind == sign && p.tokens[p.at].c == c }

func (p *Parser) take(c byte) bool {
	if p.is(c) {
		p.at++
		return true
	}
	return false
}

// skip skips a sign.
func (p *Parser) skip(c byte) { p.take(c) }

// folded returns a word in lower case. It is valid until the next call.
func (p *Parser) folded(t token) []byte { return fold(&p.buf, p.text[t.from:t.to]) }

// wordIn looks up the word at the cursor; 0: it is none of the names.
func (p *Parser) wordIn(names map[string]uint8) uint8 {
	if t := p.peek(); t.kind == word {
		return names[string(p.folded(t))]
	}
	return 0
}
