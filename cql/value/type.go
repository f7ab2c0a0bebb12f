// SPDX-License-Identifier: Apache-2.0

package value

import "slices"

// Kind is the kind of a CQL type.
type Kind uint8

// The kinds. The comment is the option id of native_protocol_v5.spec §4.2.5.2.
const (
	Custom    Kind = iota // 0x0000
	Ascii                 // 0x0001
	Bigint                // 0x0002
	Blob                  // 0x0003
	Boolean               // 0x0004
	Counter               // 0x0005
	Decimal               // 0x0006
	Double                // 0x0007
	Float                 // 0x0008
	Int                   // 0x0009
	Timestamp             // 0x000B
	UUID                  // 0x000C
	Text                  // 0x000D (varchar)
	Varint                // 0x000E
	Timeuuid              // 0x000F
	Inet                  // 0x0010
	Date                  // 0x0011
	Time                  // 0x0012
	Smallint              // 0x0013
	Tinyint               // 0x0014
	Duration              // 0x0015
	List                  // 0x0020: Elems[0]
	Map                   // 0x0021: Elems[0], Elems[1]
	Set                   // 0x0022: Elems[0]
	UDT                   // 0x0030: Elems and Fields
	Tuple                 // 0x0031: Elems
	Vector                // custom on the wire, "org.apache.cassandra.db.marshal.VectorType(…, dim)": Elems[0], Dim
	Empty                 // custom on the wire, EmptyType: the value column of dense tables

	kinds // the number of kinds
)

// Type is a CQL type. Types are immutable after they are made. Native types are shared (see
// Native), so comparing pointers is a fast path. Equal decides whether types are equal.
type Type struct {
	Kind     Kind
	Elems    []*Type  // element types of collections, tuples, UDTs and vectors
	Frozen   bool     // of collections and UDTs; tuples and vectors are always frozen
	Keyspace string   // UDT
	Name     string   // UDT; Custom: the Java class
	Fields   []string // UDT: the names of Elems
	Dim      int      // Vector
}

// native holds the shared types by kind; nil if a kind needs parameters.
var native = func() (types [kinds]*Type) {
	for k := Ascii; k <= Duration; k++ {
		types[k] = &Type{Kind: k}
	}
	types[Empty] = &Type{Kind: Empty}
	return types
}()

// Native returns the shared type of a kind without parameters (Ascii … Duration,
// Empty), or nil for other kinds.
func Native(k Kind) *Type {
	if k < kinds {
		return native[k]
	}
	return nil
}

// ListOf returns list<elem>, or frozen<list<elem>>.
func ListOf(elem *Type, frozen bool) *Type {
	return &Type{Kind: List, Elems: []*Type{inner(elem, frozen)}, Frozen: frozen}
}

// SetOf returns set<elem>, or frozen<set<elem>>.
func SetOf(elem *Type, frozen bool) *Type {
	return &Type{Kind: Set, Elems: []*Type{inner(elem, frozen)}, Frozen: frozen}
}

// MapOf returns map<key, val>, or frozen<map<key, val>>.
func MapOf(key, val *Type, frozen bool) *Type {
	return &Type{Kind: Map, Elems: []*Type{inner(key, frozen), inner(val, frozen)}, Frozen: frozen}
}

// TupleOf returns tuple<elems…>. Its elements are frozen.
func TupleOf(elems ...*Type) *Type {
	return &Type{Kind: Tuple, Elems: freezeAll(elems), Frozen: true}
}

// VectorOf returns vector<elem, dim>. Its elements are frozen without being marked so.
func VectorOf(elem *Type, dim int) *Type {
	return &Type{Kind: Vector, Elems: []*Type{elem}, Dim: dim, Frozen: true}
}

// UDTOf returns the user-defined type keyspace.name.
func UDTOf(keyspace, name string, fields []string, elems []*Type, frozen bool) *Type {
	t := &Type{Kind: UDT, Keyspace: keyspace, Name: name, Fields: fields, Elems: elems, Frozen: frozen}
	if frozen {
		t.Elems = freezeAll(elems)
	}
	return t
}

// CustomOf returns the type of a Java class that is not one of CQL's own types.
func CustomOf(class string) *Type { return &Type{Kind: Custom, Name: class} }

// inner returns the element type as a collection holds it. A frozen collection freezes all types
// below it.
func inner(t *Type, frozen bool) *Type {
	if frozen {
		return t.Freeze()
	}
	return t
}

func freezeAll(types []*Type) []*Type {
	frozen := types
	for i, t := range types {
		f := t.Freeze()
		if f == t {
			continue
		}
		if &frozen[0] == &types[0] {
			frozen = slices.Clone(types)
		}
		frozen[i] = f
	}
	return frozen
}

// Freeze returns the type frozen at every depth. It returns t itself if it is already frozen.
func (t *Type) Freeze() *Type {
	switch t.Kind {
	case List, Set, Map, UDT:
	default:
		return t
	}
	elems := freezeAll(t.Elems)
	if t.Frozen && (len(elems) == 0 || &elems[0] == &t.Elems[0]) {
		return t
	}
	f := *t
	f.Frozen, f.Elems = true, elems
	return &f
}

// Multicell reports whether a column of this type is stored as several cells: a non-frozen
// collection or user-defined type.
func (t *Type) Multicell() bool {
	return !t.Frozen && (t.Collection() || t.Kind == UDT)
}

// Collection reports whether t is a list, a set or a map.
func (t *Type) Collection() bool { return t.Kind == List || t.Kind == Set || t.Kind == Map }

// Contains reports whether t is of kind k or contains such a type at any depth.
func (t *Type) Contains(k Kind) bool {
	return t.Kind == k || slices.ContainsFunc(t.Elems, func(e *Type) bool { return e.Contains(k) })
}

// Uses reports whether t is or contains the user-defined type keyspace.name.
func (t *Type) Uses(keyspace, name string) bool {
	if t.Kind == UDT && t.Keyspace == keyspace && t.Name == name {
		return true
	}
	return slices.ContainsFunc(t.Elems, func(e *Type) bool { return e.Uses(keyspace, name) })
}

// A Replacer replaces every use of the user-defined type With (by keyspace and name) by With. Each use
// stays frozen or not, as it was. What several types share, it replaces once, so that they share it
// afterwards, too.
type Replacer struct {
	With *Type

	done map[*Type]*Type
}

// Replace returns t with its uses replaced; t itself if it has none.
func (r *Replacer) Replace(t *Type) *Type {
	if n, ok := r.done[t]; ok {
		return n
	}
	n := r.replace(t)
	if r.done == nil {
		r.done = map[*Type]*Type{}
	}
	r.done[t] = n
	return n
}

func (r *Replacer) replace(t *Type) *Type {
	if t.Kind == UDT && t.Keyspace == r.With.Keyspace && t.Name == r.With.Name {
		if t.Frozen {
			return r.With.Freeze()
		}
		n := *r.With
		n.Frozen = false
		return &n
	}
	elems := t.Elems
	for i, e := range t.Elems {
		if n := r.Replace(e); n != e {
			if &elems[0] == &t.Elems[0] {
				elems = slices.Clone(t.Elems)
			}
			elems[i] = n
		}
	}
	if len(elems) == 0 || &elems[0] == &t.Elems[0] {
		return t
	}
	n := *t
	n.Elems = elems
	return &n
}

// Equal reports whether the types are the same, including whether they are frozen.
func (t *Type) Equal(u *Type) bool {
	if t == u {
		return true
	}
	if t == nil || u == nil || t.Kind != u.Kind || t.Multicell() != u.Multicell() {
		return false
	}
	return t.Keyspace == u.Keyspace && t.Name == u.Name && t.Dim == u.Dim &&
		slices.Equal(t.Fields, u.Fields) && slices.EqualFunc(t.Elems, u.Elems, (*Type).Equal)
}

// Field returns the index of a field of a user-defined type, or -1.
func (t *Type) Field(name string) int { return slices.Index(t.Fields, name) }

// FixedLen returns the length of every non-empty value, and whether there is a fixed length.
// Cassandra's vectors use it: an element of such a type has no length before it. (smallint,
// tinyint, date and time also have one length each, but vectors do not treat them so.)
func (t *Type) FixedLen() (int, bool) {
	switch t.Kind {
	case Boolean:
		return 1, true
	case Int, Float:
		return 4, true
	case Bigint, Double, Timestamp:
		return 8, true
	case UUID, Timeuuid:
		return 16, true
	case Empty:
		return 0, true
	case Vector:
		if n, ok := t.Elems[0].FixedLen(); ok {
			return n * t.Dim, true
		}
	}
	return 0, false
}
