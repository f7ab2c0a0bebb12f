// SPDX-License-Identifier: Apache-2.0

package attribute

import "unsafe"

// Kind is a value's type.
type Kind uint8

// The kinds. Invalid is the zero Value's, and that of values that DynamoDB refuses.
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

// String is the kind's name in DynamoDB JSON.
func (k Kind) String() string { return kindNames[k] }

// KindOf returns the kind with a name of DynamoDB JSON.
func KindOf(name string) (Kind, bool) {
	for k := S; k <= NULL; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return Invalid, false
}

// IsSet says whether the kind is one of the three sets.
func (k Kind) IsSet() bool { return k >= SS && k <= BS }

// Element is the kind of a set's elements; Invalid for other kinds.
func (k Kind) Element() Kind {
	if k.IsSet() {
		return k - SS + S
	}
	return Invalid
}

// Set is the kind of the sets of elements of this kind; Invalid for other kinds.
func (k Kind) Set() Kind {
	if k >= S && k <= B {
		return k - S + SS
	}
	return Invalid
}

// Value is an attribute value. The zero Value is invalid. Values are immutable,
// and compared by Equal and Compare, not by ==.
type Value struct {
	_    [0]func()
	data unsafe.Pointer // of n bytes, Values or Attributes, by kind
	n    uint32         // BOOL: 1 is true
	kind Kind
}

func textValue(k Kind, s string) Value {
	return Value{data: unsafe.Pointer(unsafe.StringData(s)), n: uint32(len(s)), kind: k}
}

// String returns an S. s must be valid UTF-8.
func String(s string) Value { return textValue(S, s) }

// Binary returns a B of the bytes of b.
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

// List returns an L, which shares elems.
func List(elems []Value) Value {
	return Value{data: unsafe.Pointer(unsafe.SliceData(elems)), n: uint32(len(elems)), kind: L}
}

// Set returns a set of kind SS, NS or BS, which shares elems: they must be of the
// kind's element, distinct and not none.
func Set(k Kind, elems []Value) Value {
	return Value{data: unsafe.Pointer(unsafe.SliceData(elems)), n: uint32(len(elems)), kind: k}
}

// Map returns an M, which shares item.
func Map(item Item) Value {
	return Value{data: unsafe.Pointer(unsafe.SliceData(item)), n: uint32(len(item)), kind: M}
}

// invalid returns the value that carries a message.
func invalid(message string) Value { return textValue(Invalid, message) }

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Text returns the characters of an S, the bytes of a B, the canonical decimal of
// an N; and the empty string for other kinds.
func (v Value) Text() string {
	if v.kind > B {
		return ""
	}
	return unsafe.String((*byte)(v.data), v.n)
}

// Is says whether two values are the same one, which equal values need not be.
func (v Value) Is(w Value) bool { return v.kind == w.kind && v.n == w.n && v.data == w.data }

// True says whether the value is the BOOL true.
func (v Value) True() bool { return v.kind == BOOL && v.n == 1 }

// Elems returns the elements of an L or a set, which must not be changed.
func (v Value) Elems() []Value {
	if v.kind != L && !v.kind.IsSet() {
		return nil
	}
	return unsafe.Slice((*Value)(v.data), v.n)
}

// Fields returns the attributes of an M, which must not be changed.
func (v Value) Fields() Item {
	if v.kind != M {
		return nil
	}
	return unsafe.Slice((*Attribute)(v.data), v.n)
}

// Len is the number of elements of a set, an L or an M.
func (v Value) Len() int {
	if v.kind >= SS && v.kind <= L {
		return int(v.n)
	}
	return 0
}

// Equal says whether two values are equal as conditions see it: kinds alike,
// numbers by value, sets whatever their order.
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

// Contains says whether a set has an element, or a list one that is equal.
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
