// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"unicode/utf8"
)

// A lexer cuts a statement into tokens. Like the reference grammar's lexer, it predicts a token
// from its first characters and then accepts nothing else. For example, 1else is not 1 and else,
// but a float without its exponent.
type lexer struct {
	text string
	pos  int
	raw  uint32
	// plain makes keywords ordinary words, for callers that look for only a few of them.
	plain bool
	err   *lexError // the first error; the lexer stops there
}

// lexError is the error for a character that fits no token.
type lexError struct {
	pos     int    // of the character; len(text) at the end
	message string // with %s for the character
}

const eof = 0 // at returns it after the end; a NUL in the text fits no token either, except within quotes

func (l *lexer) at(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return eof
}

func (l *lexer) fail(pos int, message string) kind {
	if l.err == nil {
		l.err = &lexError{pos: pos, message: message}
	}
	l.pos = len(l.text)
	return tEOF
}

const (
	noViableChar = "no viable alternative at character %s"
	mismatchSet  = "mismatched character %s expecting set null"
	earlyExit    = "required (...)+ loop did not match anything at character %s"
)

func mismatch(want string) string { return "mismatched character %s expecting '" + want + "'" }

// next returns the next token and skips blanks and comments. It returns tEOF at the end and after
// an error.
func (l *lexer) next() token {
	if !l.blank() {
		return token{pos: uint32(len(l.text)), end: uint32(len(l.text)), raw: l.raw}
	}
	start := l.pos
	k := l.scan()
	if k == tEOF {
		start = len(l.text)
	}
	t := token{pos: uint32(start), end: uint32(l.pos), raw: l.raw, kind: k}
	l.raw++
	return t
}

// blank skips blanks and comments and reports whether a token follows.
func (l *lexer) blank() bool {
	for l.blankOnce() {
	}
	return l.pos < len(l.text)
}

// blankOnce skips one run of blanks or one comment and reports whether there was one. Each is a
// token of the grammar's hidden channel.
func (l *lexer) blankOnce() bool {
	if l.pos >= len(l.text) {
		return false
	}
	switch c := l.text[l.pos]; c {
	case ' ', '\t', '\n', '\r':
		for l.pos++; l.pos < len(l.text); l.pos++ {
			if c := l.text[l.pos]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				break
			}
		}
	case '-', '/':
		d := l.at(l.pos + 1)
		if d == c {
			// The reference lexer too refuses a comment at the very end without a line break.
			n := strings.IndexAny(l.text[l.pos:], "\n\r")
			if n < 0 {
				l.fail(len(l.text), mismatchSet)
				return false
			}
			l.pos += n + 1
		} else if c == '/' && d == '*' {
			n := strings.Index(l.text[l.pos+2:], "*/")
			if n < 0 {
				l.fail(len(l.text), mismatch("*"))
				return false
			}
			l.pos += n + 4
		} else {
			return false
		}
	default:
		return false
	}
	l.raw++
	return true
}

var punctuation = [128]kind{
	'%': tPercent, '(': tLParen, ')': tRParen, ',': tComma, ':': tColon, ';': tSemicolon,
	'=': tEQ, '[': tLBracket, '*': tStar, ']': tRBracket, '{': tLBrace, '}': tRBrace, '?': tQMark,
}

const (
	charLetter = 1 << iota
	charDigit
	charHex
	charUnder
	charWord = charLetter | charDigit | charUnder
)

var chars = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = charDigit | charHex
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-32] = charLetter, charLetter
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c], t[c-32] = charLetter|charHex, charLetter|charHex
	}
	t['_'] = charUnder
	return
}()

func (l *lexer) scan() kind {
	c := l.text[l.pos]
	switch {
	case chars[c]&charLetter != 0:
		return l.word()
	case chars[c]&charDigit != 0:
		return l.number(l.pos, false)
	case c >= utf8.RuneSelf:
		return l.fail(l.pos, noViableChar)
	}
	if k := punctuation[c]; k != tEOF {
		l.pos++
		return k
	}
	d := l.at(l.pos + 1)
	two := func(second byte, k, alone kind) kind {
		if d == second {
			l.pos += 2
			return k
		}
		l.pos++
		return alone
	}
	switch c {
	case '\'':
		return l.quoted('\'', tString)
	case '"':
		if d == '"' && l.at(l.pos+2) != '"' {
			l.pos += 2
			return tEmptyQuoted
		}
		if d == eof && l.pos+1 >= len(l.text) {
			return l.fail(l.pos+1, noViableChar)
		}
		return l.quoted('"', tQuoted)
	case '$':
		if d != '$' {
			return l.fail(l.pos+1, mismatch("$"))
		}
		n := strings.Index(l.text[l.pos+2:], "$$")
		if n < 0 {
			// the text runs to its last character, which has no $ after it
			return l.fail(l.lastChar(l.pos+2), mismatch("$"))
		}
		l.pos += n + 4
		return tString
	case '.':
		return two('.', tRange, tDot)
	case '<':
		return two('=', tLE, tLT)
	case '>':
		return two('=', tGE, tGT)
	case '+':
		return two('=', tPlusEQ, tPlus)
	case '/':
		l.pos++
		return tSlash
	case '!':
		if d != '=' {
			return l.fail(l.pos+1, mismatch("="))
		}
		l.pos += 2
		return tNE
	case '-':
		switch {
		case d == '=':
			l.pos += 2
			return tMinusEQ
		case chars[d]&charDigit != 0:
			return l.number(l.pos+1, true)
		case d == 'n' || d == 'N':
			return l.negative("-nan", tNegNaN)
		case d == 'i' || d == 'I':
			return l.negative("-infinity", tNegInfinity)
		case d == 'P':
			if n := l.period(l.pos + 1); n > 0 {
				l.pos += n + 1
				return tDuration
			}
			return l.fail(l.pos+2, noViableChar)
		}
		l.pos++
		return tMinus
	}
	return l.fail(l.pos, noViableChar)
}

// lastChar returns the position of the last character of text[at:], or the end if there is none.
func (l *lexer) lastChar(at int) int {
	_, n := utf8.DecodeLastRuneInString(l.text[at:])
	return len(l.text) - n
}

// quoted scans text in quotes q. A doubled q within it is one character.
func (l *lexer) quoted(q byte, k kind) kind {
	i := l.pos + 1
	for {
		n := strings.IndexByte(l.text[i:], q)
		if n < 0 {
			return l.fail(len(l.text), mismatch(string(q)))
		}
		i += n + 1
		if l.at(i) != q {
			l.pos = i
			return k
		}
		i++
	}
}

func (l *lexer) negative(want string, k kind) kind {
	for i := range len(want) {
		if lowerByte(l.at(l.pos+i)) != want[i] {
			return l.fail(l.pos+i, mismatchSet)
		}
	}
	l.pos += len(want)
	return k
}

func (l *lexer) word() kind {
	i := l.pos + 1
	for i < len(l.text) && chars[l.text[i]]&charWord != 0 {
		i++
	}
	word := l.text[l.pos:i]
	switch {
	case i-l.pos == 8 && l.at(i) == '-' && hexRun(l.text, l.pos, 8) == 8:
		return l.uuid()
	case word[0] == 'P':
		if n := l.period(l.pos); n > 0 {
			l.pos += n
			return tDuration
		}
		if l.err != nil {
			return tEOF
		}
	case word == "expr" && l.at(i) == '(':
		l.pos = i + 1
		return tExpr
	}
	l.pos = i
	if l.plain {
		return tIdent
	}
	return lookup(word)
}

// hexRun counts hexadecimal digits from position i on, up to limit.
func hexRun(s string, i, limit int) int {
	n := 0
	for n < limit && i+n < len(s) && chars[s[i+n]]&charHex != 0 {
		n++
	}
	return n
}

func (l *lexer) uuid() kind {
	i := l.pos
	for group, n := range [...]int{8, 4, 4, 4, 12} {
		if group > 0 {
			if l.at(i) != '-' {
				return l.fail(i, mismatch("-"))
			}
			i++
		}
		run := hexRun(l.text, i, n)
		i += run
		if run < n {
			return l.fail(i, mismatchSet)
		}
	}
	l.pos = i
	return tUUID
}

func (l *lexer) digits(i int) int {
	for i < len(l.text) && chars[l.text[i]]&charDigit != 0 {
		i++
	}
	return i
}

// number scans a token that starts with a digit at i: an integer, a float, a duration, a UUID or a
// hexadecimal number. signed is set if a minus sign precedes it.
func (l *lexer) number(i int, signed bool) kind {
	start := i
	i = l.digits(i)
	c := lowerByte(l.at(i))
	maybeUUID := !signed && i-start < 8
	if !signed {
		if run := hexRun(l.text, start, 9); run == 8 && l.at(start+8) == '-' {
			return l.uuid()
		}
		if i-start == 1 && l.text[start] == '0' && c == 'x' {
			i++
			i += hexRun(l.text, i, len(l.text))
			l.pos = i
			return tHex
		}
	}
	switch {
	case c == '.':
		if l.at(i+1) == '.' {
			if l.at(i+2) == '.' {
				l.pos = i + 1
				return tFloat
			}
			l.pos = i
			return tInteger
		}
		i = l.digits(i + 1)
		if e := l.at(i); e == 'e' || e == 'E' {
			return l.exponent(i)
		}
		l.pos = i
		return tFloat
	case c == 'e':
		if !maybeUUID {
			return l.exponent(i)
		}
		d := l.at(i + 1)
		switch {
		case d == '+' || d == '-':
			return l.exponent(i)
		case chars[d]&charDigit != 0:
			end := l.digits(i + 1)
			if end-start < 8 && chars[l.at(end)]&charHex != 0 {
				return l.uuid()
			}
			return l.exponent(i)
		case chars[d]&charHex != 0 && i+1-start < 8:
			return l.uuid()
		}
		return l.fail(i+1, noViableChar)
	case maybeUUID && c != 'd' && chars[c]&charHex != 0:
		return l.uuid()
	case l.unit(i) > 0 || c == 'n' || c == 'u' || strings.HasPrefix(l.text[i:], "µ"):
		return l.duration(start, i, maybeUUID)
	}
	l.pos = i
	return tInteger
}

func (l *lexer) exponent(i int) kind {
	i++
	if c := l.at(i); c == '+' || c == '-' {
		i++
	}
	end := l.digits(i)
	if end == i {
		return l.fail(i, earlyExit)
	}
	l.pos = end
	return tFloat
}

// unit returns the length of the duration unit at i; 0 if there is none.
func (l *lexer) unit(i int) int {
	second := lowerByte(l.at(i + 1))
	switch lowerByte(l.at(i)) {
	case 'y', 'w', 'd', 'h', 's':
		return 1
	case 'm':
		if second == 'o' || second == 's' {
			return 2
		}
		return 1
	case 'u', 'n':
		if second == 's' {
			return 2
		}
	case "µ"[0]:
		if l.at(i+1) == "µ"[1] && lowerByte(l.at(i+2)) == 's' {
			return 3
		}
	}
	return 0
}

// duration scans 1y2mo…. The first unit is at i. While all characters so far are hexadecimal, the
// token may still be a UUID.
func (l *lexer) duration(start, i int, maybeUUID bool) kind {
	for {
		n := l.unit(i)
		if n == 0 {
			switch c := lowerByte(l.at(i)); {
			case c == 'u' || c == 'n':
				return l.fail(i+1, mismatchSet)
			case strings.HasPrefix(l.text[i:], "µ"):
				return l.fail(i+len("µ"), mismatchSet)
			case maybeUUID && chars[c]&charHex != 0 && i-start < 8:
				return l.uuid()
			}
			return l.fail(i, noViableChar)
		}
		maybeUUID = maybeUUID && lowerByte(l.at(i)) == 'd'
		i += n
		end := l.digits(i)
		if end == i {
			if maybeUUID && i-start < 8 && chars[l.at(i)]&charHex != 0 {
				return l.uuid()
			}
			l.pos = i
			return tDuration
		}
		i = end
	}
}

// period returns the length of the ISO 8601 duration at i. The character at i is a P. period
// returns 0 if a word is there, or after an error.
func (l *lexer) period(i int) int {
	start := i
	i++
	part := func(designator byte) bool {
		if end := l.digits(i); end > i && l.at(end) == designator {
			i = end + 1
			return true
		}
		return false
	}
	done := func() int {
		if chars[l.at(i)]&charWord != 0 {
			return 0
		}
		return i - start
	}
	if l.digits(i) == i+4 && l.at(i+4) == '-' { // the alternative form
		const form = "P0000-00-00T00:00:00"
		for j := 1; j < len(form); j++ {
			c := l.at(start + j)
			if form[j] == '0' && chars[c]&charDigit == 0 {
				l.fail(start+j, mismatchSet)
				return 0
			} else if form[j] != '0' && c != form[j] {
				l.fail(start+j, mismatch(form[j:j+1]))
				return 0
			}
		}
		return len(form)
	}
	clock := func() bool {
		i++
		h := part('H')
		m := part('M')
		s := part('S')
		return h || m || s
	}
	if l.at(i) == 'T' {
		if !clock() {
			return 0
		}
		return done()
	}
	if part('W') {
		return done()
	}
	y := part('Y')
	m := part('M')
	d := part('D')
	if !y && !m && !d {
		return 0
	}
	if l.at(i) == 'T' && !clock() {
		return 0
	}
	return done()
}

// countTokens returns the number of tokens that tokenize appends.
func countTokens(text string) (n int) {
	for l := (lexer{text: text}); ; {
		n++
		if l.next().kind == tEOF {
			return n
		}
	}
}

// tokenize appends the tokens of text to dst, tEOF last. A lexical error ends the tokens; tokenize
// returns it.
func tokenize(dst []token, text string) ([]token, *lexError) {
	l := lexer{text: text}
	for {
		t := l.next()
		dst = append(dst, t)
		if t.kind == tEOF {
			return dst, l.err
		}
	}
}
