// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bind validates a value that a client sent for a bind marker and returns it as Cassandra takes it.
// Most values stay v itself. Bind rewrites collections: it sorts sets and maps and removes
// duplicates (a map keeps the last value of a key). It also rewrites a collection's elements:
// varints and decimals take the fewest bytes, booleans become 0 or 1, and IPv4 within IPv6 becomes
// IPv4. Text is checked strictly. An empty value becomes null if it has no meaning. Tuples,
// user-defined types and vectors stay as they are, unless a vector is inside a collection. The
// error has Cassandra's text.
//
// A list may contain nulls, and a bound collection may contain them as a result. Values can be
// compared with such a collection. Cassandra stores it too, but cannot read it again; see HasNull.
func (t *Type) Bind(v []byte) ([]byte, error) {
	if v == nil || !t.Collection() {
		return v, t.Validate(v)
	}
	return t.rebindCollection(v, false)
}

// HasNull reports whether a bound collection contains a null, at any depth.
func (t *Type) HasNull(v []byte) bool {
	if v == nil || !t.Collection() {
		return false
	}
	for p, i := t.Parts(v), 0; p.Next(); i++ {
		if p.part == nil || t.Elems[i%len(t.Elems)].HasNull(p.part) {
			return true
		}
	}
	return false
}

// rebind validates and rewrites a value that is inside a collection.
func (t *Type) rebind(v []byte) ([]byte, error) {
	switch t.Kind {
	case List, Set, Map:
		return t.rebindCollection(v, true)
	case Vector:
		if err := t.Validate(v); err != nil {
			return nil, err
		}
		return t.rebindParts(v, true)
	}
	if err := t.Validate(v); err != nil {
		return nil, err
	}
	switch t.Kind {
	case Text:
		if !utf8.Valid(v) {
			return nil, fmt.Errorf("Invalid UTF-8 bytes %x", v)
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

func (t *Type) rebindCollection(v []byte, nested bool) ([]byte, error) {
	if count(v) < 0 {
		return nil, fmt.Errorf("The data cannot be deserialized as a %s", names[t.Kind])
	}
	out, err := t.rebindParts(v, nested)
	if err != nil || t.Kind == List {
		return out, err
	}
	if sorted, ok := t.sorted(out); ok {
		out = sorted
	}
	return out, nil
}

// rebindParts rewrites the parts. It returns v itself if no part changes. Only a list that is not
// nested may contain nulls.
func (t *Type) rebindParts(v []byte, nested bool) ([]byte, error) {
	p := t.Parts(v)
	if p.fault == sound && len(v) < 4 && t.Collection() {
		p.fault = shortSize
	}
	var parts [][]byte // nil as long as no part has changed
	for i := 0; p.Next(); i++ {
		e, part := t.Elems[i%len(t.Elems)], p.part
		var err error
		changed := false
		switch {
		case part == nil && (nested || t.Kind != List):
			return nil, errNullPart
		case part == nil:
		case len(part) == 0 && (t.Kind == Set || t.Kind == Map): // kept as it is
		case len(part) == 0 && e.EmptyMeaningless():
			if part = nil; t.Kind == Vector {
				return nil, errNullElement
			}
			changed = true
		default:
			if part, err = e.rebind(part); err != nil {
				return nil, err
			}
			changed = len(part) != len(p.part) || len(part) > 0 && &part[0] != &p.part[0]
		}
		if changed && parts == nil {
			parts = make([][]byte, 0, i+1+min(p.left, len(p.rest)))
			for before := t.Parts(v); len(parts) < i && before.Next(); {
				parts = append(parts, before.part)
			}
		}
		if parts != nil {
			parts = append(parts, part)
		}
	}
	if err := t.faultOf(&p); err != nil {
		return nil, err
	}
	if parts != nil {
		return t.Build(nil, parts), nil
	}
	return v, nil
}

// errNullElement is the error for a null inside a vector. The empty value of most types counts as
// null.
var errNullElement = errors.New("null is not supported inside collections")
