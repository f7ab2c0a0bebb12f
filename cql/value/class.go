// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const marshal = "org.apache.cassandra.db.marshal."

// classes holds the Java classes' simple names.
var classes = [kinds]string{
	Ascii: "AsciiType", Bigint: "LongType", Blob: "BytesType", Boolean: "BooleanType", Counter: "CounterColumnType",
	Decimal: "DecimalType", Double: "DoubleType", Float: "FloatType", Int: "Int32Type", Timestamp: "TimestampType",
	UUID: "UUIDType", Text: "UTF8Type", Varint: "IntegerType", Timeuuid: "TimeUUIDType", Inet: "InetAddressType",
	Date: "SimpleDateType", Time: "TimeType", Smallint: "ShortType", Tinyint: "ByteType", Duration: "DurationType",
	List: "ListType", Map: "MapType", Set: "SetType", UDT: "UserType", Tuple: "TupleType", Vector: "VectorType",
	Empty: "EmptyType",
}

// Class returns the type as a Java class of Cassandra:
// org.apache.cassandra.db.marshal.ListType(org.apache.cassandra.db.marshal.Int32Type).
func (t *Type) Class() string {
	var b strings.Builder
	t.class(&b, false)
	return b.String()
}

// class writes the class. Within a frozen type it leaves out FrozenType.
func (t *Type) class(b *strings.Builder, within bool) {
	if t.Kind == Custom {
		b.WriteString(t.Name)
		return
	}
	wrap := !within && t.Frozen && (t.Collection() || t.Kind == UDT)
	if wrap {
		b.WriteString(marshal + "FrozenType(")
	}
	b.WriteString(marshal)
	b.WriteString(classes[t.Kind])
	switch t.Kind {
	case List, Set, Map, Tuple, UDT, Vector:
		within = within || t.Frozen && t.Kind != Vector
		b.WriteByte('(')
		if t.Kind == UDT {
			b.WriteString(t.Keyspace)
			b.WriteByte(',')
			b.WriteString(hex.EncodeToString([]byte(t.Name)))
		}
		for i, e := range t.Elems {
			if i > 0 || t.Kind == UDT {
				b.WriteByte(',')
			}
			if t.Kind == UDT {
				b.WriteString(hex.EncodeToString([]byte(t.Fields[i])))
				b.WriteByte(':')
			}
			e.class(b, within)
		}
		if t.Kind == Vector {
			b.WriteString(" , ")
			b.WriteString(strconv.Itoa(t.Dim))
		}
		b.WriteByte(')')
	}
	if wrap {
		b.WriteByte(')')
	}
}

// ParseClass parses a Java class in the form that Class writes. Names without a package are
// Cassandra's own. reversed is set if the class is wrapped in ReversedType. A class that is not one
// of CQL's own types becomes a Custom type.
func ParseClass(class string) (t *Type, reversed bool, err error) {
	p := classParser{text: strings.TrimSpace(class)}
	if inner, ok := strings.CutPrefix(strings.TrimPrefix(p.text, marshal), "ReversedType("); ok {
		reversed, p.at = true, len(p.text)-len(inner)
	}
	t, err = p.parse(0)
	if err == nil && reversed {
		err = p.expect(')')
	}
	if err == nil && p.next() != 0 {
		err = errors.New("more behind the class")
	}
	if err != nil {
		return nil, false, fmt.Errorf("parse class %q at character %d: %w", class, p.at, err)
	}
	return t, reversed, nil
}

type classParser struct {
	text string
	at   int
}

func (p *classParser) next() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *classParser) expect(c byte) error {
	if p.next() != c {
		return fmt.Errorf("no %q", c)
	}
	p.at++
	return nil
}

// word reads up to the next separator.
func (p *classParser) word() string {
	p.next()
	n := strings.IndexAny(p.text[p.at:], "(),: =")
	if n < 0 {
		n = len(p.text) - p.at
	}
	p.at += n
	return p.text[p.at-n : p.at]
}

func (p *classParser) parse(depth int) (*Type, error) {
	if depth > maxDepth {
		return nil, errors.New("types nest too deeply")
	}
	p.next()
	start := p.at
	name := p.word()
	simple := strings.TrimPrefix(name, marshal)
	kind := kinds
	for k, c := range classes {
		if c != "" && c == simple {
			kind = Kind(k)
		}
	}
	switch simple {
	case "":
		return nil, errors.New("no class")
	case "FrozenType":
		elems, err := p.params(depth)
		if err == nil && len(elems) != 1 {
			err = errors.New("FrozenType takes one type")
		}
		if err != nil {
			return nil, err
		}
		return elems[0].Freeze(), nil
	case "DateType":
		return native[Timestamp], nil
	case "LegacyTimeUUIDType":
		return native[Timeuuid], nil
	}
	switch kind {
	case kinds:
		return p.custom(start, name)
	case UDT:
		return p.udt(depth)
	case Vector:
		return p.vector(depth)
	case List, Set, Map, Tuple:
		elems, err := p.params(depth)
		if err != nil {
			return nil, err
		}
		want := map[Kind]int{List: 1, Set: 1, Map: 2, Tuple: len(elems)}[kind]
		if len(elems) != want || want == 0 {
			return nil, fmt.Errorf("%s with %d types", simple, len(elems))
		}
		if kind == Tuple {
			return TupleOf(elems...), nil
		}
		return &Type{Kind: kind, Elems: elems}, nil
	}
	return native[kind], nil
}

func (p *classParser) params(depth int) ([]*Type, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var elems []*Type
	for {
		e, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
		if p.next() != ',' {
			return elems, p.expect(')')
		}
		p.at++
	}
}

// custom skips the parameters of an unknown class.
func (p *classParser) custom(start int, name string) (*Type, error) {
	end := p.at
	if p.next() == '(' {
		open := 0
		for ; p.at < len(p.text); p.at++ {
			switch p.text[p.at] {
			case '(':
				open++
			case ')':
				open--
			}
			if open == 0 {
				break
			}
		}
		if open > 0 {
			return nil, errors.New("no closing parenthesis")
		}
		p.at++
		end = p.at
	}
	if !strings.Contains(name, ".") {
		return CustomOf(marshal + p.text[start:end]), nil
	}
	return CustomOf(p.text[start:end]), nil
}

func (p *classParser) udt(depth int) (*Type, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	t := &Type{Kind: UDT, Keyspace: p.word()}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	name, err := hex.DecodeString(p.word())
	if err != nil {
		return nil, err
	}
	t.Name = string(name)
	for p.next() == ',' {
		p.at++
		field, err := hex.DecodeString(p.word())
		if err != nil {
			return nil, err
		}
		if err := p.expect(':'); err != nil {
			return nil, err
		}
		e, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, string(field))
		t.Elems = append(t.Elems, e)
	}
	return t, p.expect(')')
}

func (p *classParser) vector(depth int) (*Type, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	elem, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	dim, err := strconv.Atoi(p.word())
	if err != nil || dim < 1 {
		return nil, errors.New("no dimension")
	}
	return VectorOf(elem.Freeze(), dim), p.expect(')')
}
