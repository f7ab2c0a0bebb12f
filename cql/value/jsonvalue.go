// SPDX-License-Identifier: Apache-2.0

package value

import (
	"strconv"
	"unsafe"
)

// jsonKind is the kind of a JSON value. It is the name of the Java class that Cassandra's decoder
// makes of the value, as in Cassandra's messages.
type jsonKind string

const (
	jsonNull   jsonKind = "null"
	jsonBool   jsonKind = "Boolean"
	jsonInt    jsonKind = "Integer"
	jsonLong   jsonKind = "Long"
	jsonBig    jsonKind = "BigInteger"
	jsonDouble jsonKind = "Double"
	jsonString jsonKind = "String"
	jsonArray  jsonKind = "ArrayList"
	jsonObject jsonKind = "LinkedHashMap"
)

// jsonValue is a JSON value as Java shows it: 1.0, a, [1, a], {a=1}.
type jsonValue struct {
	kind jsonKind
	text string
}

// number reports whether v is a number of any size.
func (v *jsonValue) number() bool {
	return v.kind == jsonInt || v.kind == jsonLong || v.kind == jsonBig || v.kind == jsonDouble
}

// kind returns the kind of the value that begins here.
func (p *jsonReader) kind() jsonKind {
	switch p.text[p.at] {
	case 'n':
		return jsonNull
	case 't', 'f':
		return jsonBool
	case '"':
		return jsonString
	case '[':
		return jsonArray
	case '{':
		return jsonObject
	}
	q := *p
	word := q.skipWord()
	for _, c := range word {
		if c == '.' || c|0x20 == 'e' {
			return jsonDouble
		}
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	switch {
	case err != nil:
		return jsonBig
	case n != int64(int32(n)):
		return jsonLong
	}
	return jsonInt
}

// read returns the value that begins here, and moves to its end.
func (p *jsonReader) read() jsonValue {
	v := jsonValue{kind: p.kind()}
	var text []byte
	if v.kind == jsonArray || v.kind == jsonObject {
		text = make([]byte, 0, (len(p.text)-p.at)*3/2+16)
	}
	text = p.print(text)
	v.text = unsafe.String(unsafe.SliceData(text), len(text))
	return v
}

// print appends the value that begins here as Java shows it, and moves to its end.
func (p *jsonReader) print(dst []byte) []byte {
	switch p.text[p.at] {
	case '"':
		dst, _ = p.string(dst)
		return dst
	case '[':
		dst = append(dst, '[')
		_ = p.array(func(i int) error {
			dst = p.print(comma(dst, i))
			return nil
		})
		return append(dst, ']')
	case '{':
		dst = append(dst, '{')
		_ = p.object(func(i, key int) error {
			dst = append(append(comma(dst, i), p.key(key, &p.keys[0])...), '=')
			dst = p.print(dst)
			return nil
		})
		return append(dst, '}')
	}
	kind := p.kind()
	word := p.skipWord()
	switch {
	case kind == jsonDouble:
		f, _ := parseFloat(string(word), 64)
		return formatDouble(dst, f, 64)
	case string(word) == "-0":
		return append(dst, '0')
	}
	return append(dst, word...)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ", "...)
	}
	return dst
}
