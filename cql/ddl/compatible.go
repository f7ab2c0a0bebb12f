// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// readsAs reports whether a column that was dropped with type old may be added again with type t.
// It implements Cassandra's AbstractType.isSerializationCompatibleWith. A column of a user-defined
// type was dropped as a tuple of its fields, and can then be added as a tuple only.
func readsAs(t, old *value.Type) bool {
	if t.Equal(old) {
		return true
	}
	if t.Multicell() != old.Multicell() || !holds(t, old) {
		return false
	}
	switch t.Kind {
	case value.List:
		return readsAs(t.Elems[0], old.Elems[0])
	case value.Set:
		return true
	case value.Map:
		return readsAs(t.Elems[1], old.Elems[1])
	}
	n, fixed := t.FixedLen()
	m, oldFixed := old.FixedLen()
	return n == m && fixed == oldFixed
}

// holds reports whether every serialized value of type old is also a value of type t
// (isValueCompatibleWith).
func holds(t, old *value.Type) bool {
	if t.Equal(old) {
		return true
	}
	switch t.Kind {
	case value.Blob:
		return !old.Collection()
	case value.Text:
		return old.Kind == value.Ascii
	case value.Bigint:
		return old.Kind == value.Timestamp
	case value.Timestamp:
		return old.Kind == value.Bigint
	case value.Varint:
		return slices.Contains([]value.Kind{value.Int, value.Bigint, value.Timestamp}, old.Kind)
	case value.Date:
		return old.Kind == value.Int
	case value.UUID:
		return old.Kind == value.Timeuuid
	}
	if t.Kind != old.Kind {
		return false
	}
	switch t.Kind {
	case value.List:
		return holds(t.Elems[0], old.Elems[0])
	case value.Set:
		return sorts(t.Elems[0], old.Elems[0])
	case value.Map:
		return sorts(t.Elems[0], old.Elems[0]) && holds(t.Elems[1], old.Elems[1])
	case value.Tuple:
		return len(t.Elems) >= len(old.Elems) && slices.EqualFunc(t.Elems[:len(old.Elems)], old.Elems, holds)
	}
	return false
}

// sorts reports whether values of type old have the same order as values of type t
// (isCompatibleWith).
func sorts(t, old *value.Type) bool {
	if (t.Kind == value.Tuple || t.Kind == value.UDT) && old.Kind == value.Tuple {
		return len(t.Elems) >= len(old.Elems) && slices.EqualFunc(t.Elems[:len(old.Elems)], old.Elems, sorts)
	}
	return t.Equal(old) ||
		t.Kind == value.Blob && (old.Kind == value.Text || old.Kind == value.Ascii) ||
		t.Kind == value.Text && old.Kind == value.Ascii
}
