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

	call func(env *Env, args [][]byte) ([]byte, error)

	// grow takes the place of call if the result can be longer than the arguments. It returns false,
	// at any time, if the result would be longer than most bytes.
	grow func(args [][]byte, most int) (v []byte, ok bool, err error)

	// beside, if not nil, returns how many bytes grow takes beside the value, for arguments of so many
	// bytes.
	beside func(from, most int) int

	start func() accumulator
}

// accumulator is the state of one aggregate over one group.
type accumulator interface {
	add(args [][]byte) error
	result() ([]byte, error)
}
