// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"unsafe"

	"github.com/evenkeel/evenkeel/cql/value"
)

const (
	// maxMade is how many bytes functions and literals may make for the terms of a statement or
	// batch, and for one row of a result. A function can make a value that is longer than its
	// argument, and calls can be nested. The engine writes as many bytes for one request at most.
	maxMade = 64 << 20

	// unasked is how many bytes an evaluation makes without asking for memory. firstTry is the
	// length up to which a value is made at once.
	unasked  = 64 << 10
	firstTry = unasked / 2
)

// making counts the bytes that functions and literals produce in one evaluation.
type making struct {
	before int // bytes that the request holds for others
	bytes  int
}

// room makes room for so many bytes more. what names the function that needs them.
func (m *making) room(env *Env, what string, bytes int) error {
	if bytes > maxMade-m.bytes {
		return errMade(what)
	}
	m.bytes += bytes
	return env.hold(m.before + m.bytes)
}

// grow makes a value whose length is not known before. try returns false if the value is longer
// than most bytes. Then grow asks for more memory and lets it try again. from is the length of what
// the value is made of. beside, if not nil, returns how many bytes try takes beside the value.
func (m *making) grow(env *Env, what string, from int, beside func(from, most int) int, try func(most int) ([]byte, bool, error)) ([]byte, error) {
	left := maxMade - m.bytes
	for most := max(3*from, firstTry); ; most *= 4 {
		most = min(most, left)
		hold := m.before + m.bytes + most
		if beside != nil {
			hold += beside(from, most)
		}
		if err := env.hold(hold); err != nil {
			return nil, err
		}
		v, ok, err := try(most)
		switch {
		case err != nil:
			return nil, err
		case ok:
			m.bytes += len(v)
			return v, nil
		case most == left:
			return nil, errMade(what)
		}
	}
}

func (e *Env) hold(bytes int) error {
	if bytes <= unasked || e.Memory == nil {
		return nil
	}
	return e.Memory.Hold(bytes)
}

func errMade(what string) error {
	if symbol := Symbol(what); symbol != "" {
		what = "operator " + symbol
	}
	return invalid("%s makes a value that is too long: what functions and literals make for one statement, or for one row of its result, may have %d MiB", what, maxMade>>20)
}

// literalOf names a literal of a collection, tuple, UDT or vector for errors.
func literalOf(t *value.Type) string {
	if t.Kind == value.UDT {
		return "a literal of type " + t.Name
	}
	return "a literal of a " + map[value.Kind]string{value.List: "list", value.Set: "set", value.Map: "map", value.Tuple: "tuple", value.Vector: "vector"}[t.Kind]
}

// total returns the length of all arguments.
func total(args [][]byte) int {
	n := 0
	for _, a := range args {
		n += len(a)
	}
	return n
}

// shared reports whether a value begins where an argument begins, so that nothing was made.
func shared(v []byte, args [][]byte) bool {
	for _, a := range args {
		if len(v) <= len(a) && unsafe.SliceData(v) == unsafe.SliceData(a) {
			return true
		}
	}
	return false
}
