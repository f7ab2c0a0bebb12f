// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Resolve chooses the overload of a native function that fits the arguments. written is the name as
// in messages ("abs", "system.abs"). receiver is the wanted type of the result; nil if there is
// none. table is the table for token(). Resolve returns nil without an error if there is no
// function of that name.
func Resolve(name, written string, args []Arg, receiver *value.Type, table *schema.Table) (*Function, error) {
	candidates := natives[name]
	if f := factories[name]; f != nil {
		made, err := f.resolve(args, receiver)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates[:len(candidates):len(candidates)], made)
	}
	if name == "token" && table != nil {
		candidates = []*Function{token(table)}
	}
	switch len(candidates) {
	case 0:
		return nil, nil
	case 1:
		return candidates[0], check(candidates[0], args)
	}
	return pick(name, written, args, receiver, candidates)
}

// check verifies the arguments of a function without overloads.
func check(f *Function, args []Arg) error {
	if len(args) != len(f.Args) {
		return invalid("Invalid number of arguments in call to function system.%s: %d required but %d provided",
			f.Name, len(f.Args), len(args))
	}
	for i, a := range args {
		if a.Match(f.Args[i]) == NotAssignable {
			return invalid("Type error: %s cannot be passed as argument %d of function system.%s of type %s",
				a, i, f.Name, f.Args[i])
		}
	}
	return nil
}

func (f *Function) match(args []Arg) Match {
	if len(args) != len(f.Args) {
		return NotAssignable
	}
	m := Exact
	for i, a := range args {
		m = min(m, a.Match(f.Args[i]))
	}
	return m
}

// pick chooses among overloads.
func pick(name, written string, args []Arg, receiver *value.Type, candidates []*Function) (*Function, error) {
	var fit []*Function
	for _, f := range candidates {
		if receiver != nil && Assign(f.Returns, receiver) == NotAssignable {
			continue
		}
		switch f.match(args) {
		case Exact:
			return f, nil
		case Weak:
			fit = append(fit, f)
		}
	}
	symbol := Symbol(name)
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) == 0 && symbol != "":
		return nil, invalid("the '%s' operation is not supported between %s and %s", symbol, args[0], args[1])
	case len(fit) == 0:
		return nil, invalid("Invalid call to function %s, none of its type signatures match (known type signatures: %s)",
			written, signatures(candidates))
	case symbol != "":
		if receiver != nil && !args[0].Marker() && !args[1].Marker() {
			for _, f := range fit {
				if receiver.Equal(f.Args[0]) && receiver.Equal(f.Args[1]) {
					return f, nil
				}
			}
		}
		return nil, invalid("Ambiguous '%s' operation with args %s and %s: use type hint to disambiguate, example '(int) ?'",
			symbol, args[0], args[1])
	case name == Negation:
		return nil, invalid("Ambiguous negation: use type casts to disambiguate")
	}
	return nil, invalid("Ambiguous call to function %s (can be matched by following signatures: %s): use type casts to disambiguate",
		written, signatures(fit))
}

func signatures(fs []*Function) string {
	s := make([]string, len(fs))
	for i, f := range fs {
		s[i] = f.String()
	}
	return strings.Join(s, ", ")
}

// String formats the function's signature as messages do.
func (f *Function) String() string {
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = signatureType(a)
	}
	return "system." + quoted(f.Name) + " : (" + strings.Join(args, ", ") + ") -> " + f.Returns.String()
}

// signatureType formats a type for a signature: tuples without frozen.
func signatureType(t *value.Type) string {
	s := t.String()
	if t.Kind == value.Tuple {
		return strings.TrimSuffix(strings.TrimPrefix(s, "frozen<"), ">")
	}
	return s
}

// quoted formats a name as CQL does, in quotes if it needs them.
func quoted(name string) string {
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z':
		case i > 0 && (c == '_' || c >= '0' && c <= '9'):
		default:
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// ColumnName returns the name of a result's column that is a call of f. args are the names of its
// arguments.
func (f *Function) ColumnName(args []string) string {
	switch symbol := Symbol(f.Name); {
	case symbol != "":
		return args[0] + " " + symbol + " " + args[1]
	case f.Name == Negation:
		return "-" + args[0]
	case f.Name == "count_rows" || f.Name == "countRows":
		return "count"
	case strings.HasPrefix(f.Name, "cast_as_") || strings.HasPrefix(f.Name, "castAs"):
		return "cast(" + args[0] + " as " + strings.ToLower(f.Returns.String()) + ")"
	}
	return "system." + f.Name + "(" + strings.Join(args, ", ") + ")"
}

// Made reports whether a function's overloads are made for its arguments. Such a function's type
// says little.
func Made(name string) bool {
	_, ok := factories[name]
	return ok || name == "token"
}
