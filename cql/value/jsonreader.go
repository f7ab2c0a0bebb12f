// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const maxJSONDeep = 1000

// jsonReader reads a JSON text. It makes no tree of the text: scan verifies the text once, and the
// other methods read the values from the text again. They rely on scan.
type jsonReader struct {
	text     []byte
	at       int
	members  []member // of the objects that scan is within
	repeated []repeated
	scratch  []byte // a string that scan reads
	keys     [2][]byte
}

// member is a member of an object: the positions of its key, of its value, and of the value's end.
type member struct{ key, value, end uint32 }

// repeated is the value of a key that an object has more than once. The last value counts, at the
// place of the first one, as in Java's LinkedHashMap.
type repeated struct {
	at, end uint32
	last    uint32 // of the key's first value: where its last one is; 0 otherwise
}

// scanJSON verifies the first value of a text and moves to its begin. Like Cassandra, it ignores the
// text after the value.
func scanJSON(text []byte) (jsonReader, error) {
	p := jsonReader{text: text}
	if err := p.scan(0); err != nil {
		return p, err
	}
	slices.SortFunc(p.repeated, func(a, b repeated) int { return cmp.Compare(a.at, b.at) })
	p.text, p.at, p.members, p.scratch = text[:p.at], 0, nil, nil
	p.space()
	return p, nil
}

func (p *jsonReader) fault(what string) error {
	line, column := 1, 1
	for _, c := range p.text[:p.at] {
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	if p.at == len(p.text) {
		what = "Unexpected end-of-input"
	} else {
		r, _ := utf8.DecodeRune(p.text[p.at:])
		what = fmt.Sprintf("Unexpected character ('%c' (code %d)): %s", r, r, what)
	}
	return fmt.Errorf("Error decoding JSON string: %s; line: %d, column: %d", what, line, column)
}

func (p *jsonReader) space() byte {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return c
		}
	}
	return 0
}

// scan verifies a value and moves to its end.
func (p *jsonReader) scan(depth int) error {
	const wanted = "expected a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	if depth > maxJSONDeep {
		return fmt.Errorf("Error decoding JSON string: Document nesting depth (%d) exceeds the maximum allowed (%d)", depth, maxJSONDeep)
	}
	c := p.space()
	switch {
	case c == '"':
		return p.scanString()
	case c == '[':
		return p.scanArray(depth)
	case c == '{':
		return p.scanObject(depth)
	case c == '-' || c >= '0' && c <= '9':
		return p.scanNumber()
	}
	rest := p.text[p.at:min(len(p.text), p.at+6)]
	for _, word := range []string{"null", "true", "false"} {
		if !strings.HasPrefix(string(rest), word) || len(rest) > len(word) && wordByte(rest[len(word)]) {
			continue
		}
		p.at += len(word)
		return nil
	}
	return p.fault(wanted)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func (p *jsonReader) scanNumber() error {
	digits := func() int {
		from := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at - from
	}
	is := func(set string) bool { return p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 }
	if is("-") {
		p.at++
	}
	first := p.at
	whole := digits()
	if whole == 0 {
		return p.fault("expected digit (0-9) to follow minus sign, for valid numeric value")
	}
	if p.text[first] == '0' && whole > 1 {
		p.at = first + 1
		return p.fault("Invalid numeric value: Leading zeroes not allowed")
	}
	fraction := false
	if is(".") {
		p.at++
		fraction = true
		if digits() == 0 {
			return p.fault("Decimal point not followed by a digit")
		}
	}
	if is("eE") {
		p.at++
		fraction = true
		if is("+-") {
			p.at++
		}
		if digits() == 0 {
			return p.fault("Exponent indicator not followed by a digit")
		}
	}
	if p.at < len(p.text) && wordByte(p.text[p.at]) {
		return p.fault("Expected space separating root-level values")
	}
	if n := p.at - first; !fraction && n > MaxDigits {
		return p.fault("A number has more than 1,000,000 digits")
	}
	return nil
}

func (p *jsonReader) scanString() (err error) {
	p.scratch, err = p.string(p.scratch[:0])
	return err
}

// string appends the string that begins here, and moves to its end.
func (p *jsonReader) string(b []byte) ([]byte, error) {
	p.at++
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return b, nil
		case c < 0x20:
			return b, fmt.Errorf("Error decoding JSON string: Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c)
		case c != '\\':
			from := p.at
			for p.at < len(p.text) && p.text[p.at] >= 0x20 && p.text[p.at] != '"' && p.text[p.at] != '\\' {
				p.at++
			}
			b = append(b, p.text[from:p.at]...)
			continue
		}
		p.at++
		if p.at == len(p.text) {
			break
		}
		if i := strings.IndexByte(`"\/bfnrt`, p.text[p.at]); i >= 0 {
			b = append(b, "\"\\/\b\f\n\r\t"[i])
			p.at++
			continue
		}
		r, ok := p.unicode()
		if !ok {
			return b, p.fault("Unrecognized character escape")
		}
		if utf16.IsSurrogate(r) {
			at := p.at
			second := rune(-1)
			if p.at < len(p.text) && p.text[p.at] == '\\' {
				p.at++
				second, _ = p.unicode()
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				p.at, r = at, '?' // half of a surrogate pair, as Java encodes it
			}
		}
		b = utf8.AppendRune(b, r)
	}
	return b, p.fault("was expecting closing quote for a string value")
}

// unicode reads uXXXX, the part of an escape after the backslash.
func (p *jsonReader) unicode() (rune, bool) {
	if len(p.text)-p.at < 5 || p.text[p.at] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.text[p.at+1:p.at+5]), 16, 16)
	if err != nil {
		return 0, false
	}
	p.at += 5
	return rune(n), true
}

func (p *jsonReader) scanArray(depth int) error {
	p.at++
	if p.space() == ']' {
		p.at++
		return nil
	}
	for {
		if err := p.scan(depth + 1); err != nil {
			return err
		}
		switch p.space() {
		case ',':
			p.at++
		case ']':
			p.at++
			return nil
		default:
			return p.fault("was expecting comma to separate Array entries")
		}
	}
}

func (p *jsonReader) scanObject(depth int) error {
	p.at++
	if p.space() == '}' {
		p.at++
		return nil
	}
	base := len(p.members)
	for {
		if p.space() != '"' {
			return p.fault("was expecting double-quote to start field name")
		}
		m := member{key: uint32(p.at)}
		if err := p.scanString(); err != nil {
			return err
		}
		if p.space() != ':' {
			return p.fault("was expecting a colon to separate field name and value")
		}
		p.at++
		p.space()
		m.value = uint32(p.at)
		if err := p.scan(depth + 1); err != nil {
			return err
		}
		m.end = uint32(p.at)
		p.members = append(doubled(p.members), m)
		switch p.space() {
		case ',':
			p.at++
		case '}':
			p.at++
			p.repeats(p.members[base:])
			p.members = p.members[:base]
			return nil
		default:
			return p.fault("was expecting comma to separate Object entries")
		}
	}
}

// repeats records the values of keys that an object has more than once.
func (p *jsonReader) repeats(own []member) {
	ascending := true
	for i := 1; i < len(own) && ascending; i++ {
		ascending = p.compareKeys(own[i-1], own[i]) < 0
	}
	if ascending {
		return
	}
	slices.SortFunc(own, func(a, b member) int { return cmp.Or(p.compareKeys(a, b), cmp.Compare(a.key, b.key)) })
	for first := 0; first < len(own); {
		next := first + 1
		for next < len(own) && p.compareKeys(own[first], own[next]) == 0 {
			next++
		}
		for i := first; i < next && next-first > 1; i++ {
			r := repeated{at: own[i].value, end: own[i].end}
			if i == first {
				r.last = own[next-1].value
			}
			p.repeated = append(doubled(p.repeated), r)
		}
		first = next
	}
}

func (p *jsonReader) compareKeys(a, b member) int {
	return bytes.Compare(p.key(int(a.key), &p.keys[0]), p.key(int(b.key), &p.keys[1]))
}

// key returns the string at a position, in scratch if it has escapes.
func (p *jsonReader) key(at int, scratch *[]byte) []byte {
	rest := p.text[at+1:]
	plain := rest[:bytes.IndexByte(rest, '"')]
	if bytes.IndexByte(plain, '\\') < 0 {
		return plain
	}
	q := jsonReader{text: p.text, at: at}
	*scratch, _ = q.string((*scratch)[:0])
	return *scratch
}

// array calls f for each element of the array that begins here, and moves to its end. f moves from
// the element's begin to its end.
func (p *jsonReader) array(f func(i int) error) error {
	p.at++
	for i := 0; p.space() != ']'; i++ {
		if i > 0 {
			p.at++
			p.space()
		}
		if err := f(i); err != nil {
			return err
		}
	}
	p.at++
	return nil
}

// object calls f for each member of the object that begins here, with the position of its key, and
// moves to the object's end. f moves from the begin of the member's value to its end.
func (p *jsonReader) object(f func(i, key int) error) error {
	p.at++
	for i := 0; p.space() != '}'; {
		if p.text[p.at] == ',' {
			p.at++
			p.space()
		}
		key := p.at
		p.skipString()
		p.space()
		p.at++
		p.space()
		at, again := slices.BinarySearchFunc(p.repeated, p.at, func(r repeated, at int) int { return cmp.Compare(int(r.at), at) })
		if again {
			r := p.repeated[at]
			p.at = int(r.end)
			if r.last == 0 {
				continue
			}
			p.at = int(r.last)
		}
		if err := f(i, key); err != nil {
			return err
		}
		i++
		if again {
			p.at = int(p.repeated[at].end)
		}
	}
	p.at++
	return nil
}

// skip moves to the end of a value.
func (p *jsonReader) skip() {
	for deep := 0; ; {
		switch p.space() {
		case '"':
			p.skipString()
		case '[', '{':
			p.at++
			deep++
			continue
		case ']', '}':
			p.at++
			deep--
		case ',', ':':
			p.at++
			continue
		default:
			p.skipWord()
		}
		if deep == 0 {
			return
		}
	}
}

func (p *jsonReader) skipString() {
	for {
		p.at++
		switch p.text[p.at] {
		case '"':
			p.at++
			return
		case '\\':
			p.at++
		}
	}
}

// skipWord moves to the end of a number, null, true or false, and returns it.
func (p *jsonReader) skipWord() []byte {
	from := p.at
	for p.at < len(p.text) && (wordByte(p.text[p.at]) || strings.IndexByte("+-.", p.text[p.at]) >= 0) {
		p.at++
	}
	return p.text[from:p.at]
}
