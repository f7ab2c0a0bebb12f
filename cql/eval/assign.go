// SPDX-License-Identifier: Apache-2.0

package eval

import "github.com/evenkeel/evenkeel/cql/value"

// Match is how well a value of one type, or a term, fits another type.
type Match uint8

// The matches.
const (
	NotAssignable Match = iota
	Weak
	Exact
)

// Assign returns how well a value of type from fits the type to.
func Assign(from, to *value.Type) Match {
	if from == nil || to == nil {
		return NotAssignable
	}
	if from.Frozen {
		to = to.Freeze()
	}
	switch {
	case from.Equal(to):
		return Exact
	case Reads(to, from):
		return Weak
	}
	return NotAssignable
}

// Reads reports whether values of type from can be read as values of type to.
func Reads(to, from *value.Type) bool {
	switch to.Kind {
	case value.Blob:
		return true
	case value.Text:
		return from.Kind == value.Text || from.Kind == value.Ascii
	case value.Varint:
		switch from.Kind {
		case value.Varint, value.Int, value.Bigint, value.Timestamp:
			return true
		}
		return false
	case value.Bigint:
		return from.Kind == value.Bigint || from.Kind == value.Timestamp
	case value.Timestamp:
		return from.Kind == value.Timestamp || from.Kind == value.Bigint
	case value.Date:
		return from.Kind == value.Date || from.Kind == value.Int
	case value.Time:
		return from.Kind == value.Time || from.Kind == value.Bigint
	case value.UUID:
		return from.Kind == value.UUID || from.Kind == value.Timeuuid
	case value.Tuple, value.UDT:
		return readsParts(to, from)
	case value.List, value.Set, value.Map:
		return readsCollection(to, from)
	}
	return to.Equal(from)
}

func readsParts(to, from *value.Type) bool {
	if from.Kind != value.Tuple && from.Kind != value.UDT || len(to.Elems) < len(from.Elems) {
		return false
	}
	if to.Kind == value.UDT && (from.Kind != value.UDT || from.Keyspace != to.Keyspace || from.Name != to.Name || from.Frozen != to.Frozen) {
		return false
	}
	for i, e := range from.Elems {
		if !Reads(to.Elems[i], e) {
			return false
		}
	}
	return true
}

func readsCollection(to, from *value.Type) bool {
	if from.Kind != to.Kind || from.Frozen != to.Frozen {
		return false
	}
	switch {
	case to.Kind == value.List && to.Frozen:
		return Reads(to.Elems[0], from.Elems[0])
	case to.Kind == value.Map && to.Frozen:
		return sortsAs(to.Elems[0], from.Elems[0]) && Reads(to.Elems[1], from.Elems[1])
	case to.Kind == value.List:
		return Reads(to.Elems[0], from.Elems[0])
	case to.Kind == value.Map:
		return sortsAs(to.Elems[0], from.Elems[0]) && Reads(to.Elems[1], from.Elems[1])
	}
	return sortsAs(to.Elems[0], from.Elems[0])
}

// sortsAs reports whether values of type from are also values of type to, in the same order.
func sortsAs(to, from *value.Type) bool {
	switch to.Kind {
	case value.Text:
		return from.Kind == value.Text || from.Kind == value.Ascii
	case value.Blob:
		return from.Kind == value.Blob || from.Kind == value.Text || from.Kind == value.Ascii
	}
	return to.Equal(from)
}
