// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"slices"
)

// Step is a step of a change. The numbers are stored, so they never change.
type Step uint8

// These are the steps. doc.go says what happens in each.
const (
	None      Step = 0
	Announced Step = 1
	Switching Step = 2
	Switched  Step = 3
	Settled   Step = 4
	Cleaned   Step = 5
	Withdrawn Step = 6
)

var steps = [...]string{"none", "announced", "switching", "switched", "settled", "cleaned", "withdrawn"}

func (s Step) String() string {
	if int(s) < len(steps) {
		return steps[s]
	}
	return fmt.Sprintf("step %d", uint8(s))
}

// ParseStep parses the output of String. It refuses a step that this release does not know: a
// door that does not know a step does not serve the table.
func ParseStep(name string) (Step, error) {
	if i := slices.Index(steps[:], name); i >= 0 {
		return Step(i), nil
	}
	return None, fmt.Errorf("unknown step %q of a change of layout; it was written by a newer version", name)
}

// follows lists the steps that may be published after each step.
var follows = map[Step][]Step{
	None:      {Announced},
	Announced: {Switching, Withdrawn},
	Switching: {Switched, Announced},
	Switched:  {Settled, Switching},
	Settled:   {Cleaned},
	Cleaned:   {None},
	Withdrawn: {None},
}

// MayFollow says whether step next may be published after s.
func (s Step) MayFollow(next Step) bool {
	if s == Announced && next == Switched {
		return !On(SwitchingBetween)
	}
	return slices.Contains(follows[s], next)
}

// Revocable says whether a change in step s can still be rolled back.
func (s Step) Revocable() bool { return s == Announced || s == Switching || s == Switched }

// Steps returns the names of all steps of a change. Every door must know them before a change
// begins.
func Steps() []string { return slices.Clone(steps[1:]) }
