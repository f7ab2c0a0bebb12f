// SPDX-License-Identifier: Apache-2.0

package attribute

import "unsafe"

// Kind is the type of a value.
type Kind uint8

// Invalid is the kind of the zero Value, and of values that DynamoDB refuses.
const (
	Invalid Kind = iota
	S
	N
	B
	SS
	NS
	BS
	M
	L
	BOOL
	NULL
)

var kindNames = [...]string{"invalid", "S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"}

// String returns the kind's name in DynamoDB JSON.
func (k Kind) String() string { return kindNames[k] }

// KindOf returns the kind that has a name in DynamoDB JSON.
func KindOf(name string) (Kind, bool) {
	for k := S; k <= NULL; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return Invalid, false
}

// IsSet reports whether the kind is one of the three set kinds.
func (k Kind) IsSet() bool { return k >= SS && k <= BS }

// Element returns the kind of a set's elements; Invalid for other kinds.
func (k Kind) Element() Kind {
	if k.IsSet() {
		return k - SS + S
	}
	return Invalid
}

// Set returns the kind of sets whose elements have this kind; Invalid for other kinds.
func (k Kind) Set() Kind {
	if k >= S && k <= B {
		return k - S + SS
	}
	return Invalid
}

// Value is an attribute value. The zero Value is invalid. Values are immutable. Compare them with
// Equal and Compare, not with ==.
type Value struct {
	_    [0]func()
	data unsafe.Pointer // points to n bytes, Values or Attributes, depending on kind
	n    uint32         // BOOL: 1 is true
	kind Kind
}

func textValue(k Kind, s string) Value {
	return Value{data: unsafe.Pointer(unsafe.StringData(s)), n: uint32(len(s)), kind: k}
}

// String returns an S. s must be valid UTF-8.
func String(s string) Value { return textValue(S, s) }

// Binary returns a B with the bytes of b.
func Binary(b string) Value { return textValue(B, b) }

// Bool returns a BOOL.
func Bool(b bool) Value {
	v := Value{kind: BOOL}
	if b {
		v.n = 1
	}
	return v
}

// Null returns a NULL.
func Null() Value { return Value{kind: NULL} }

// List returns an L that shares elems.
func List(elems []Value) Value {
	return Value{data: unsafe.Pointer(unsafe.SliceData(elems)), n: uint32(len(elems)), kind: L}
}

// Set returns a set of kind SS, NS or BS that shares elems. There must be at least one element, and
// the elements must be distinct and of the kind's element.
func Set(k Kind, elems []Value) Value {
	return Value{data: unsafe.Pointer(unsafe.SliceData(elems)), n: uint32(len(elems)), kind: k}
}

// Map returns an M that shares item.
func Map(item Item) Value {
	return Value{data: unsafe.Pointer(unsafe.SliceData(item)), n: uint32(len(item)), kind: M}
}

// invalid returns an invalid value that carries an error message.
func invalid(message string) Value { return textValue(Invalid, message) }

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Text returns the characters of an S, the bytes of a B, or the canonical decimal of an N. It
// returns the empty string for other kinds.
func (v Value) Text() string {
	if v.kind > B {
		return ""
	}
	return unsafe.String((*byte)(v.data), v.n)
}

// Is reports whether two values share their memory. Equal values need not.
func (v Value) Is(w Value) bool { return v.kind == w.kind && v.n == w.n && v.data == w.data }

// True reports whether the value is the BOOL true.
func (v Value) True() bool { return v.kind == BOOL && v.n == 1 }

// Elems returns the elements of an L or a set. They must not be changed.
func (v Value) Elems() []Value {
	if v.kind != L && !v.kind.IsSet() {
		return nil
	}
	return unsafe.Slice((*Value)(v.data), v.n)
}

// Fields returns the attributes of an M. They must not be changed.
func (v Value) Fields() Item {
	if v.kind != M {
		return nil
	}
	return unsafe.Slice((*Attribute)(v.data), v.n)
}

// Len returns the number of elements of a set, an L or an M.
func (v Value) Len() int {
	if v.kind >= SS && v.kind <= L {
		return int(v.n)
	}
	return 0
}

// Equal reports whether two values are equal in a condition: they have the same kind, numbers are
// compared by value, and sets in any order.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case S, N, B, Invalid:
		return v.Text() == w.Text()
	case BOOL:
		return v.n == w.n
	case NULL:
		return true
	case M:
		return v.Fields().Equal(w.Fields())
	case L:
		a, b := v.Elems(), w.Elems()
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if !a[i].Equal(b[i]) {
				return false
			}
		}
		return true
	}
	return equalSets(v.Elems(), w.Elems())
}

// Contains reports whether a set or list has an equal element.
func (v Value) Contains(elem Value) bool {
	for _, e := range v.Elems() {
		if e.Equal(elem) {
			return true
		}
	}
	return false
}

// String returns the value as DynamoDB JSON; for messages and tests.
func (v Value) String() string { return string(AppendJSON(nil, v)) }
