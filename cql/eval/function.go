// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/value"
)

// Function is one overload of a native function.
type Function struct {
	Name    string // in keyspace system; lower case
	Args    []*value.Type
	Returns *value.Type

	// Pure is set if equal arguments give equal results. now(), uuid() and the current_… functions
	// are not pure.
	Pure bool

	// Digits is set if the function takes longer for numbers of more digits.
	Digits bool

	// Aggregate is set if the function takes rows (Group) and is not called.
	Aggregate bool

	call  func(env *Env, args [][]byte) ([]byte, error)
	start func() accumulator
}

// accumulator is the state of one aggregate over one group.
type accumulator interface {
	add(args [][]byte) error
	result() ([]byte, error)
}
