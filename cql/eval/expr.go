// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Expr is a typed expression: one of the node types of this file.
type Expr interface {
	// Type returns the type of the result.
	Type() *value.Type
}

// Const is a constant. A nil Value is null.
type Const struct {
	T     *value.Type
	Value []byte
}

// Marker is a bind marker. Index is its position in Env.Values.
type Marker struct {
	Index int
	T     *value.Type
}

// Column is a column of the row. Cell is its position among the fetched columns.
type Column struct {
	Cell   int
	Column *schema.Column
}

// Call is a call of a scalar or aggregate function, a cast, or an arithmetic operator (functions
// with names such as "_add_").
type Call struct {
	Func *Function
	Args []Expr
}

// Collection builds a list, set, map, tuple, UDT or vector (see T.Kind) from its elements. A map's
// Elems alternate keys and values.
type Collection struct {
	T     *value.Type
	Elems []Expr

	// Fields are the fields of a UDT that Elems give by name, ascending; the others are null. If it is
	// nil, Elems give the first fields.
	Fields []int

	// Constant is set if the value is always the same, and too long to be made by an analysis.
	Constant bool
}

// Field is a field of a UDT.
type Field struct {
	Of    Expr
	Index int
}

// Element is an element of a set (itself, if the set contains it) or the value of a map's key.
type Element struct {
	Of, Key Expr
}

// Range is the part of a set or map from From to To, both inclusive; nil is open.
type Range struct {
	Of, From, To Expr
}

// TimesKind is the kind of time that Times returns.
type TimesKind uint8

// The kinds of Times.
const (
	WriteTime TimesKind = iota
	MaxWriteTime
	TTL
)

// Times is writetime, maxwritetime or ttl of a column, or of its elements or fields. Of is a
// Column, or a Field, Element or Range of one.
type Times struct {
	Kind TimesKind
	Of   Expr
	T    *value.Type
}

// Retype is a type hint: it takes the bytes of an expression as a value of another type.
type Retype struct {
	Of Expr
	T  *value.Type
}

func (e *Retype) Type() *value.Type     { return e.T }
func (e *Const) Type() *value.Type      { return e.T }
func (e *Marker) Type() *value.Type     { return e.T }
func (e *Column) Type() *value.Type     { return e.Column.Type }
func (e *Call) Type() *value.Type       { return e.Func.Returns }
func (e *Collection) Type() *value.Type { return e.T }
func (e *Field) Type() *value.Type      { return e.Of.Type().Elems[e.Index] }
func (e *Range) Type() *value.Type      { return e.Of.Type() }
func (e *Times) Type() *value.Type      { return e.T }

// Type returns the type of a set's elements or of a map's values.
func (e *Element) Type() *value.Type {
	t := e.Of.Type()
	return t.Elems[len(t.Elems)-1]
}

// Walk calls f for e and then for each expression below it, until f returns false.
func Walk(e Expr, f func(Expr) bool) bool {
	if e == nil {
		return true
	}
	if !f(e) {
		return false
	}
	switch e := e.(type) {
	case *Call:
		return walkAll(e.Args, f)
	case *Collection:
		return walkAll(e.Elems, f)
	case *Field:
		return Walk(e.Of, f)
	case *Element:
		return Walk(e.Of, f) && Walk(e.Key, f)
	case *Range:
		return Walk(e.Of, f) && Walk(e.From, f) && Walk(e.To, f)
	case *Times:
		return Walk(e.Of, f)
	case *Retype:
		return Walk(e.Of, f)
	}
	return true
}

func walkAll(es []Expr, f func(Expr) bool) bool {
	for _, e := range es {
		if !Walk(e, f) {
			return false
		}
	}
	return true
}

// Unset is a term without a value, such as an absent member of INSERT JSON … DEFAULT UNSET.
type Unset struct{ T *value.Type }

// Type returns the type that the value would have.
func (e *Unset) Type() *value.Type { return e.T }
