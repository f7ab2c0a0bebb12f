package value

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bind validates a value that a client sent for a bind marker and returns it as
// Cassandra stores it, which is v itself for most. Collections are written anew:
// sets and maps in order and without duplicates (a map's later value stands),
// and of their elements, varints and decimals in the fewest bytes, booleans as 0
// or 1, IPv4 within IPv6 as IPv4, text checked strictly. Tuples, user-defined
// types and vectors stay as they are, unless a vector is inside a collection.
// The error has Cassandra's text.
func (t *Type) Bind(v []byte) ([]byte, error) {
	if v == nil || !t.Collection() {
		return v, t.Validate(v)
	}
	if len(v) >= 4 && int32(binary.BigEndian.Uint32(v)) < 0 {
		return nil, fmt.Errorf("The data cannot be deserialized as a %s", names[t.Kind])
	}
	if err := t.Validate(v); err != nil {
		return nil, err
	}
	if sorted, ok := t.sorted(v); ok && t.Kind != List {
		v = sorted
	}
	if !t.rewritten() {
		return v, nil
	}
	return t.rewrite(v)
}

// rewritten says whether values inside a collection may change, or fail, when
// they are written anew.
func (t *Type) rewritten() bool {
	switch t.Kind {
	case Text, Boolean, Varint, Decimal, Inet, Duration, Set, Map:
		return true
	case Int, Bigint, Double, Float, Timestamp, UUID, Timeuuid:
		return true // the empty value becomes null
	case List, Vector:
		return t.Elems[0].rewritten()
	}
	return false
}

// errNullElement is what a null inside a collection gives; an empty value of
// most types is one.
var errNullElement = errors.New("null is not supported inside collections")

// rewrite writes anew what is inside a collection, or the collection; v is valid.
func (t *Type) rewrite(v []byte) ([]byte, error) {
	switch t.Kind {
	case Text:
		if !utf8.Valid(v) {
			return nil, fmt.Errorf("Invalid UTF-8 bytes %x", v)
		}
	case List, Set, Map, Vector:
		if sorted, ok := t.sorted(v); ok && (t.Kind == Set || t.Kind == Map) {
			v = sorted
		}
		changed := false
		var parts [][]byte
		for p, i := t.Parts(v), 0; p.Next(); i++ {
			e := t.Elems[i%len(t.Elems)]
			if len(p.part) == 0 && e.EmptyMeaningless() {
				return nil, errNullElement
			}
			part, err := e.rewrite(p.part)
			if err != nil {
				return nil, err
			}
			changed = changed || len(part) != len(p.part) || len(part) > 0 && &part[0] != &p.part[0]
			parts = append(parts, part)
		}
		if changed {
			return t.Build(nil, parts), nil
		}
	case Boolean:
		if v[0] > 1 {
			return []byte{1}, nil
		}
	case Varint:
		return trimVarint(v), nil
	case Decimal:
		if digits := trimVarint(v[4:]); len(digits) < len(v)-4 {
			return append(v[:4:4], digits...), nil
		}
	case Inet:
		return unmap(v), nil
	case Duration:
		s, _ := SpanOf(v)
		return s.Append(nil), nil
	}
	return v, nil
}
