// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the greatest depth of nested JSON, as in encoding/json.
const maxDepth = 10_000

// jsonScanner reads JSON values in data[at:end]. It accepts what encoding/json accepts.
type jsonScanner struct {
	data    []byte
	at, end int
	spoiled bool // some string was unescaped in place
	open    []byte
}

// next returns the next byte; 0 at the end.
func (j *jsonScanner) next() byte {
	if j.at < j.end {
		return j.data[j.at]
	}
	return 0
}

func (j *jsonScanner) space() {
	for j.at < j.end {
		switch j.data[j.at] {
		case ' ', '\t', '\r':
			j.at++
		default:
			return
		}
	}
}

// value reads a value. It unescapes a string.
func (j *jsonScanner) value() (Span, bool) {
	from := j.at
	switch c := j.next(); {
	case c == '"':
		return j.text()
	case c == '{' || c == '[':
		ok := j.nested()
		return Span{At: uint32(from), len: uint32(j.at-from) | markNested}, ok
	case c == '-' || c >= '0' && c <= '9':
		ok := j.number()
		return Span{At: uint32(from), len: uint32(j.at - from)}, ok
	case c == 't':
		return Span{At: uint32(from), len: 4}, j.word("true")
	case c == 'f':
		return Span{At: uint32(from), len: 5}, j.word("false")
	case c == 'n':
		return Span{len: markNull}, j.word("null")
	}
	return Span{}, false
}

func (j *jsonScanner) word(w string) bool {
	if j.end-j.at < len(w) || string(j.data[j.at:j.at+len(w)]) != w {
		return false
	}
	j.at += len(w)
	return true
}

func (j *jsonScanner) digits() bool {
	from := j.at
	for j.at < j.end && j.data[j.at]-'0' <= 9 {
		j.at++
	}
	return j.at > from
}

func (j *jsonScanner) number() bool {
	if j.next() == '-' {
		j.at++
	}
	if j.next() == '0' {
		j.at++
	} else if !j.digits() {
		return false
	}
	if j.next() == '.' {
		j.at++
		if !j.digits() {
			return false
		}
	}
	if c := j.next(); c == 'e' || c == 'E' {
		j.at++
		if c := j.next(); c == '+' || c == '-' {
			j.at++
		}
		return j.digits()
	}
	return true
}

// text reads a string.
func (j *jsonScanner) text() (Span, bool) {
	j.at++
	from := j.at
	for j.at < j.end {
		switch c := j.data[j.at]; {
		case c == '"':
			s := Span{At: uint32(from), len: uint32(j.at-from) | markString}
			j.at++
			return s, true
		case c == '\\':
			return j.escaped(from)
		case c < ' ':
			return Span{}, false
		}
		j.at++
	}
	return Span{}, false
}

// escaped continues to read a string that began at from, and unescapes it in place: an escape is
// never shorter than its character.
func (j *jsonScanner) escaped(from int) (Span, bool) {
	j.spoiled = true
	to := j.at
	for j.at < j.end {
		c := j.data[j.at]
		switch {
		case c == '"':
			s := Span{At: uint32(from), len: uint32(to-from) | markString}
			j.at++
			return s, true
		case c < ' ':
			return Span{}, false
		case c != '\\':
			j.data[to] = c
			to++
			j.at++
			continue
		}
		j.at++
		c = j.next()
		j.at++
		switch c {
		case '"', '\\', '/':
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, ok := j.unit()
			if !ok {
				return Span{}, false
			}
			to += utf8.EncodeRune(j.data[to:], r)
			continue
		default:
			return Span{}, false
		}
		j.data[to] = c
		to++
	}
	return Span{}, false
}

// unit reads the four digits of \u, and a second such escape if both are a pair.
func (j *jsonScanner) unit() (rune, bool) {
	r, ok := j.hex(j.at)
	if !ok {
		return 0, false
	}
	j.at += 4
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	if j.end-j.at >= 6 && j.data[j.at] == '\\' && j.data[j.at+1] == 'u' {
		if low, ok := j.hex(j.at + 2); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				j.at += 6
				return pair, true
			}
		}
	}
	return utf8.RuneError, true
}

func (j *jsonScanner) hex(at int) (rune, bool) {
	if j.end-at < 4 {
		return 0, false
	}
	var r rune
	for _, c := range j.data[at : at+4] {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// nested skips an object or array, and checks it.
func (j *jsonScanner) nested() bool {
	j.open = j.open[:0]
	for {
		// A value must follow.
		j.space()
		switch c := j.next(); c {
		case '{', '[':
			if len(j.open) >= maxDepth-1 { // the row itself is one level
				return false
			}
			j.at++
			j.open = append(j.open, c)
			j.space()
			if n := j.next(); c == '{' && n == '}' || c == '[' && n == ']' {
				break
			}
			if c == '{' && !j.name() {
				return false
			}
			continue
		case '"':
			if !j.pass() {
				return false
			}
		default:
			if _, ok := j.value(); !ok {
				return false
			}
		}
		// A value, or an object or array, has ended.
		for {
			j.space()
			c := j.next()
			top := j.open[len(j.open)-1]
			if c == ',' {
				j.at++
				if top == '{' && !j.name() {
					return false
				}
				break
			}
			if top == '{' && c != '}' || top == '[' && c != ']' {
				return false
			}
			j.at++
			j.open = j.open[:len(j.open)-1]
			if len(j.open) == 0 {
				return true
			}
		}
	}
}

// name skips a field's name and the colon.
func (j *jsonScanner) name() bool {
	j.space()
	if j.next() != '"' || !j.pass() {
		return false
	}
	j.space()
	if j.next() != ':' {
		return false
	}
	j.at++
	return true
}

// pass skips a string and leaves it as it is.
func (j *jsonScanner) pass() bool {
	for j.at++; j.at < j.end; j.at++ {
		switch c := j.data[j.at]; {
		case c == '"':
			j.at++
			return true
		case c < ' ':
			return false
		case c == '\\':
			j.at++
			switch c := j.next(); c {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := j.hex(j.at + 1); !ok {
					return false
				}
				j.at += 4
			default:
				return false
			}
		}
	}
	return false
}
