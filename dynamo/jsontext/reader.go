// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth is the largest depth of nested objects and arrays.
const MaxDepth = 512

// Kind is the kind of a JSON value.
type Kind uint8

const (
	Invalid Kind = iota // no JSON value, or the input's end
	Null
	False
	True
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"invalid", "null", "false", "true", "number", "string", "array", "object"}[k]
}

// ErrDepth is in the chain of the error for nesting deeper than MaxDepth.
var ErrDepth = errors.New("nested too deeply")

// Reader reads one JSON document. It keeps its first error; after that, reads return zero values
// and loops end. The zero Reader reads an empty document, which is an error. NewReader and Reset
// give it another document.
type Reader struct {
	buf  []byte
	pos  int
	err  error
	name string

	depth int
	in    [MaxDepth/64 + 1]uint64 // a bit for each level: set in an object
	first bool                    // nothing of the innermost object or array was read
}

// NewReader returns a reader of a document.
func NewReader(buf []byte) *Reader { return &Reader{buf: buf} }

// Reset makes r read another document.
func (r *Reader) Reset(buf []byte) {
	r.buf, r.pos, r.err, r.name, r.depth, r.first = buf, 0, nil, "", 0, false
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail makes err the reader's error, if it has none.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
		r.pos = len(r.buf)
	}
}

func (r *Reader) fail(what string) {
	if r.err == nil {
		r.Fail(fmt.Errorf("JSON: %s at byte %d", what, r.pos))
	}
}

// End returns the first error, or an error if there is more after the document.
func (r *Reader) End() error {
	if r.space(); r.err == nil && r.pos < len(r.buf) {
		r.fail("more after the document's end")
	}
	return r.err
}

func (r *Reader) space() {
	for r.pos < len(r.buf) {
		switch r.buf[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

// Peek returns the kind of the next value.
func (r *Reader) Peek() Kind {
	r.space()
	if r.pos >= len(r.buf) {
		return Invalid
	}
	switch c := r.buf[r.pos]; c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't':
		return True
	case 'f':
		return False
	case 'n':
		return Null
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return Invalid
}

// Object enters an object. Next goes through its members.
func (r *Reader) Object() { r.enter('{', "object") }

// Array enters an array. Next goes through its elements.
func (r *Reader) Array() { r.enter('[', "array") }

func (r *Reader) enter(c byte, what string) {
	r.space()
	if r.pos >= len(r.buf) || r.buf[r.pos] != c {
		r.fail("no " + what)
		return
	}
	if r.depth == MaxDepth {
		r.Fail(fmt.Errorf("JSON: %w: more than %d levels at byte %d", ErrDepth, MaxDepth, r.pos))
		return
	}
	r.pos++
	r.depth++
	word, bit := r.depth/64, uint64(1)<<(r.depth%64)
	if r.in[word] &^= bit; c == '{' {
		r.in[word] |= bit
	}
	r.first = true
}

// Next goes to the next member or element of the innermost object or array. At its end, and after
// an error, Next leaves it and returns false.
func (r *Reader) Next() bool {
	r.space()
	if r.err != nil || r.depth == 0 {
		return false
	}
	if r.pos >= len(r.buf) {
		r.fail("the document breaks off")
		return false
	}
	object := r.in[r.depth/64]&(1<<(r.depth%64)) != 0
	c := r.buf[r.pos]
	if object && c == '}' || !object && c == ']' {
		r.pos++
		r.depth--
		r.first = false
		return false
	}
	if !r.first {
		if c != ',' {
			r.fail("no comma")
			return false
		}
		r.pos++
		r.space()
	}
	r.first = false
	if !object {
		return true
	}
	r.name = r.Text()
	if r.space(); r.err != nil {
		return false
	}
	if r.pos >= len(r.buf) || r.buf[r.pos] != ':' {
		r.fail("no colon")
		return false
	}
	r.pos++
	return true
}

// Name returns the name of the present member.
func (r *Reader) Name() string { return r.name }

// Text reads a string.
func (r *Reader) Text() string {
	r.space()
	if r.pos >= len(r.buf) || r.buf[r.pos] != '"' {
		r.fail("no string")
		return ""
	}
	start := r.pos + 1
	for i := start; i < len(r.buf); i++ {
		if i += plainLen(r.buf[i:]); i == len(r.buf) {
			break
		}
		c := r.buf[i]
		switch {
		case c == '"':
			r.pos = i + 1
			return unsafe.String(unsafe.SliceData(r.buf[start:]), i-start)
		case c >= utf8.RuneSelf:
			n := runeLen(r.buf, i)
			if n == 0 {
				r.pos = i
				r.fail("invalid UTF-8")
				return ""
			}
			i += n - 1
		default:
			return r.escaped(start, i)
		}
	}
	r.pos = len(r.buf)
	r.fail("the string breaks off")
	return ""
}

// escaped reads the rest, from i, of the string that begins at start, into a copy.
func (r *Reader) escaped(start, i int) string {
	end := bytes.IndexByte(r.buf[i:], '"')
	out := make([]byte, i-start, i-start+max(end, 0)+16)
	copy(out, r.buf[start:i])
	for i < len(r.buf) {
		c := r.buf[i]
		switch {
		case c == '"':
			r.pos = i + 1
			return unsafe.String(unsafe.SliceData(out), len(out))
		case c < 0x20:
			r.pos = i
			r.fail("a control character in a string")
			return ""
		case c == '\\':
			var n int
			out, n = unescape(out, r.buf[i:])
			if n == 0 {
				r.pos = i
				r.fail("a wrong escape")
				return ""
			}
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			n := runeLen(r.buf, i)
			if n == 0 {
				r.pos = i
				r.fail("invalid UTF-8")
				return ""
			}
			out = append(out, r.buf[i:i+n]...)
			i += n
		}
	}
	r.pos = len(r.buf)
	r.fail("the string breaks off")
	return ""
}

// unescape appends the meaning of the escape at the beginning of src and returns the escape's
// length, or 0 if it is invalid.
func unescape(dst, src []byte) ([]byte, int) {
	if len(src) < 2 {
		return dst, 0
	}
	switch c := src[1]; c {
	case '"', '\\', '/':
		return append(dst, c), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		c, ok := hex4(src[2:])
		if !ok {
			return dst, 0
		}
		if !utf16.IsSurrogate(c) {
			return utf8.AppendRune(dst, c), 6
		}
		if len(src) >= 12 && src[6] == '\\' && src[7] == 'u' {
			if low, ok := hex4(src[8:]); ok {
				if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
					return utf8.AppendRune(dst, pair), 12
				}
			}
		}
		return utf8.AppendRune(dst, utf8.RuneError), 6
	}
	return dst, 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Number reads a number and returns its text.
func (r *Reader) Number() string {
	r.space()
	start := r.pos
	i := start
	digits := func() bool {
		from := i
		for i < len(r.buf) && r.buf[i] >= '0' && r.buf[i] <= '9' {
			i++
		}
		return i > from
	}
	at := func(c byte) bool { return i < len(r.buf) && r.buf[i] == c }

	if at('-') {
		i++
	}
	ok := true
	if at('0') {
		i++
	} else {
		ok = digits()
	}
	if ok && at('.') {
		i++
		ok = digits()
	}
	if ok && (at('e') || at('E')) {
		i++
		if at('+') || at('-') {
			i++
		}
		ok = digits()
	}
	if !ok {
		r.fail("no number")
		return ""
	}
	r.pos = i
	return unsafe.String(unsafe.SliceData(r.buf[start:]), i-start)
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.Peek() == True {
		r.word("true")
		return r.err == nil
	}
	r.word("false")
	return false
}

// Null reads null.
func (r *Reader) Null() { r.word("null") }

func (r *Reader) word(w string) {
	r.space()
	if !bytes.HasPrefix(r.buf[r.pos:], []byte(w)) {
		r.fail("no " + w)
		return
	}
	r.pos += len(w)
}

// Skip reads any value.
func (r *Reader) Skip() {
	switch r.Peek() {
	case Null:
		r.Null()
	case True, False:
		r.Bool()
	case Number:
		r.Number()
	case String:
		r.Text()
	case Array:
		for r.Array(); r.Next(); {
			r.Skip()
		}
	case Object:
		for r.Object(); r.Next(); {
			r.Skip()
		}
	default:
		r.fail("no value")
	}
}

// Raw reads any value and returns its text.
func (r *Reader) Raw() []byte {
	r.space()
	start := r.pos
	r.Skip()
	if r.err != nil {
		return nil
	}
	return r.buf[start:r.pos:r.pos]
}

// Offset returns how far r has read.
func (r *Reader) Offset() int { return r.pos }

// Since returns the text from an offset to where r stands, without white space
// around it.
func (r *Reader) Since(offset int) []byte {
	if r.err != nil {
		return nil
	}
	return bytes.TrimSpace(r.buf[offset:r.pos:r.pos])
}
