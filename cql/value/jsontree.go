// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonKind is the kind of a JSON value. It is the name of the Java class that Cassandra's decoder
// makes of the value, as in Cassandra's messages.
type jsonKind string

const (
	jsonNull    jsonKind = "null"
	jsonBool    jsonKind = "Boolean"
	jsonInt     jsonKind = "Integer"
	jsonLong    jsonKind = "Long"
	jsonBig     jsonKind = "BigInteger"
	jsonDouble  jsonKind = "Double"
	jsonString  jsonKind = "String"
	jsonArray   jsonKind = "ArrayList"
	jsonObject  jsonKind = "LinkedHashMap"
	maxJSONDeep          = 1000
)

// node is a decoded JSON value.
type node struct {
	kind jsonKind
	text string // a scalar's text, as Java prints it
	list []node
	keys []string // of an object; its values are in list
	raw  []byte
}

// String formats a value as Java does: [1, a], {a=1}.
func (n *node) String() string {
	if n.kind != jsonArray && n.kind != jsonObject {
		return n.text
	}
	var b strings.Builder
	n.print(&b)
	return b.String()
}

func (n *node) print(b *strings.Builder) {
	brackets := "[]"
	switch n.kind {
	case jsonArray:
	case jsonObject:
		brackets = "{}"
	default:
		b.WriteString(n.text)
		return
	}
	b.WriteByte(brackets[0])
	for i := range n.list {
		if i > 0 {
			b.WriteString(", ")
		}
		if n.kind == jsonObject {
			b.WriteString(n.keys[i] + "=")
		}
		n.list[i].print(b)
	}
	b.WriteByte(brackets[1])
}

// number reports whether n is a number of any size.
func (n *node) number() bool {
	return n.kind == jsonInt || n.kind == jsonLong || n.kind == jsonBig || n.kind == jsonDouble
}

// parseJSON decodes the first value of a text. Like Cassandra, it ignores the text after it.
func parseJSON(text []byte) (*node, error) {
	p := jsonParser{text: text}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

type jsonParser struct {
	text []byte
	at   int
}

func (p *jsonParser) fault(what string) error {
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

func (p *jsonParser) space() byte {
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

func (p *jsonParser) value(depth int) (n node, err error) {
	const wanted = "expected a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	if depth > maxJSONDeep {
		return n, fmt.Errorf("Error decoding JSON string: Document nesting depth (%d) exceeds the maximum allowed (%d)", depth, maxJSONDeep)
	}
	c := p.space()
	start := p.at
	switch {
	case c == '"':
		n.kind = jsonString
		n.text, err = p.string()
	case c == '[':
		err = p.array(&n, depth)
	case c == '{':
		err = p.object(&n, depth)
	case c == '-' || c >= '0' && c <= '9':
		err = p.number(&n)
	default:
		rest := string(p.text[p.at:min(len(p.text), p.at+6)])
		for _, word := range []string{"null", "true", "false"} {
			if !strings.HasPrefix(rest, word) || len(rest) > len(word) && wordByte(rest[len(word)]) {
				continue
			}
			p.at += len(word)
			n.kind, n.text = jsonBool, word
			if word == "null" {
				n.kind = jsonNull
			}
			n.raw = p.text[start:p.at]
			return n, nil
		}
		return n, p.fault(wanted)
	}
	n.raw = p.text[start:p.at]
	return n, err
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func (p *jsonParser) number(n *node) error {
	start := p.at
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
	text := string(p.text[start:p.at])
	if fraction {
		f, _ := parseFloat(text, 64)
		n.kind, n.text = jsonDouble, string(formatDouble(nil, f, 64))
		return nil
	}
	if len(strings.TrimPrefix(text, "-")) > MaxDigits {
		return p.fault("A number has more than 1,000,000 digits")
	}
	i, _ := bigInteger(text)
	n.kind, n.text = jsonBig, i.String()
	if i.IsInt64() {
		n.kind = jsonLong
		if i.Int64() == int64(int32(i.Int64())) {
			n.kind = jsonInt
		}
	}
	return nil
}

// string reads a string. The parser must be at its opening quote.
func (p *jsonParser) string() (string, error) {
	p.at++
	var b []byte
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return string(b), nil
		case c < 0x20:
			return "", fmt.Errorf("Error decoding JSON string: Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c)
		case c != '\\':
			b = append(b, c)
			p.at++
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
			return "", p.fault("Unrecognized character escape")
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
	return "", p.fault("was expecting closing quote for a string value")
}

// unicode reads uXXXX, the part of an escape after the backslash.
func (p *jsonParser) unicode() (rune, bool) {
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

func (p *jsonParser) array(n *node, depth int) error {
	n.kind = jsonArray
	p.at++
	if p.space() == ']' {
		p.at++
		return nil
	}
	for {
		e, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.list = append(n.list, e)
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

func (p *jsonParser) object(n *node, depth int) error {
	n.kind = jsonObject
	p.at++
	if p.space() == '}' {
		p.at++
		return nil
	}
	index := map[string]int{}
	for {
		if p.space() != '"' {
			return p.fault("was expecting double-quote to start field name")
		}
		key, err := p.string()
		if err != nil {
			return err
		}
		if p.space() != ':' {
			return p.fault("was expecting a colon to separate field name and value")
		}
		p.at++
		e, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		if i, again := index[key]; again {
			n.list[i] = e
		} else {
			index[key] = len(n.list)
			n.keys, n.list = append(n.keys, key), append(n.list, e)
		}
		switch p.space() {
		case ',':
			p.at++
		case '}':
			p.at++
			return nil
		default:
			return p.fault("was expecting comma to separate Object entries")
		}
	}
}
