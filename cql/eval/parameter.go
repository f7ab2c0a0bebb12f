// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Arg is an argument, as the resolution of overloads needs it.
type Arg interface {
	Match(t *value.Type) Match
	// Compatible returns the type that the argument has by itself; nil if unknown.
	Compatible() *value.Type
	// String returns the argument's text in messages.
	String() string
	// Marker reports whether the argument is a bare bind marker.
	Marker() bool
	// Elements returns the length of a selected [a, b]; -1 for other arguments.
	Elements() int
}

// parameter is a parameter of a factory: it infers an argument's type and checks it.
type parameter interface {
	infer(a Arg, receiver *value.Type, inferred []*value.Type) *value.Type
	check(f *factory, a Arg, t *value.Type) error
	String() string
}

type anyType struct{ fromReceiver bool }

func (p anyType) infer(a Arg, receiver *value.Type, _ []*value.Type) *value.Type {
	if t := a.Compatible(); t != nil || !p.fromReceiver {
		return t
	}
	return receiver
}
func (anyType) check(*factory, Arg, *value.Type) error { return nil }
func (anyType) String() string                         { return "any" }

// fixed is a parameter of one of several types. Without further information it is the first.
type fixed struct {
	kinds []value.Kind
	text  string
}

func (p fixed) infer(a Arg, _ *value.Type, _ []*value.Type) *value.Type {
	if t := a.Compatible(); t != nil {
		return t
	}
	return value.Native(p.kinds[0])
}

func (p fixed) check(f *factory, a Arg, t *value.Type) error {
	for _, k := range p.kinds {
		if Assign(t, value.Native(k)) != NotAssignable {
			return nil
		}
	}
	return invalid("Function system.%s requires an argument of type %s, but found argument %s of type %s", f.name, p, a, t)
}
func (p fixed) String() string { return p.text }

var (
	textParam   = fixed{[]value.Kind{value.Text}, "text"}
	intParam    = fixed{[]value.Kind{value.Int}, "int"}
	stringParam = fixed{[]value.Kind{value.Text, value.Text, value.Ascii}, "[text|varchar|ascii]"}
)

// sameAs is a parameter with the type of another parameter.
type sameAs struct {
	index       int
	preferOther bool
	parameter
}

func (p sameAs) infer(a Arg, receiver *value.Type, inferred []*value.Type) *value.Type {
	var other *value.Type
	if inferred != nil {
		other = inferred[p.index]
	}
	if p.preferOther && other != nil {
		return other
	}
	if t := p.parameter.infer(a, receiver, inferred); t != nil || p.preferOther {
		return t
	}
	return other
}

// shaped is a parameter that accepts types by their shape.
type shaped struct {
	text, wanted string
	ok           func(t *value.Type) bool
}

func (p shaped) infer(a Arg, _ *value.Type, _ []*value.Type) *value.Type { return a.Compatible() }
func (p shaped) check(f *factory, a Arg, t *value.Type) error {
	if p.ok(t) {
		return nil
	}
	return invalid("Function system.%s requires a %s argument, but found argument %s of type %s", f.name, p.wanted, a, t)
}
func (p shaped) String() string { return p.text }

var (
	collectionParam = shaped{"collection", "collection", (*value.Type).Collection}
	setOrListParam  = shaped{"numeric_set_or_list", "set or list", func(t *value.Type) bool {
		return t.Kind == value.Set || t.Kind == value.List
	}}
	numericParam = shaped{"numeric_set_or_list", "numeric set/list", func(t *value.Type) bool {
		return (t.Kind == value.Set || t.Kind == value.List) && numeric(t.Elems[0])
	}}
	mapParam = shaped{"map", "map", func(t *value.Type) bool { return t.Kind == value.UDT || t.Kind == value.Map }}
)

// vectorParam is a parameter that is a vector of floats of any dimension.
type vectorParam struct{}

func (vectorParam) infer(a Arg, receiver *value.Type, _ []*value.Type) *value.Type {
	if n := a.Elements(); n >= 0 {
		return value.VectorOf(value.Native(value.Float), n)
	}
	if t := a.Compatible(); t != nil {
		return t
	}
	return receiver
}

func (p vectorParam) check(f *factory, a Arg, t *value.Type) error {
	if t.Kind == value.Vector && t.Elems[0].Kind == value.Float {
		return nil
	}
	return invalid("Function system.%s requires a float vector argument, but found argument %s of type %s", f.name, a, t)
}
func (vectorParam) String() string { return "vector<float, n>" }

func (f *factory) String() string {
	s := make([]string, len(f.params))
	for i, p := range f.params {
		s[i] = p.String()
		if i >= len(f.params)-f.optional {
			s[i] = "[" + s[i] + "]"
		}
	}
	return "system." + f.name + "(" + strings.Join(s, ", ") + ")"
}

// resolve makes the function for these arguments.
func (f *factory) resolve(args []Arg, receiver *value.Type) (*Function, error) {
	if len(args) > len(f.params) || len(args) < len(f.params)-f.optional {
		return nil, invalid("Invalid number of arguments for function %s", f)
	}
	types := make([]*value.Type, len(args))
	for i, a := range args {
		types[i] = f.params[i].infer(a, receiver, nil)
	}
	for i, a := range args {
		t := f.params[i].infer(a, receiver, types)
		if t == nil {
			return nil, invalid("Cannot infer type of argument %s in call to function %s: use type casts to disambiguate", a, f)
		}
		if err := f.params[i].check(f, a, t); err != nil {
			return nil, err
		}
		types[i] = t
	}
	return f.make(f, types, receiver)
}
