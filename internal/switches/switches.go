// SPDX-License-Identifier: Apache-2.0

// Package switches lets a test switch a named rule off, to show that the rule is needed.
// A rule is a bit. All rules are in force, always, except while a test has switched one
// off.
//
// It imports nothing of the module.
package switches

import "sync/atomic"

// Set holds the rules of one package that are switched off. The zero Set has none.
type Set[R ~uint32] struct{ off atomic.Uint32 }

// On says whether a rule is in force.
func (s *Set[R]) On(r R) bool { return s.off.Load()&uint32(r) == 0 }

// Off switches a rule off until restore is called. It is for tests.
func (s *Set[R]) Off(r R) (restore func()) {
	s.off.Or(uint32(r))
	return func() { s.off.And(^uint32(r)) }
}

// Below lists the rules whose bits are below end.
func Below[R ~uint32](end R) []R {
	var all []R
	for r := R(1); r < end; r <<= 1 {
		all = append(all, r)
	}
	return all
}
