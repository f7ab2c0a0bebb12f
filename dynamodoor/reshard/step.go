// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"slices"
)

// Step is how far a change has come.
type Step uint8

// The steps, in their order; doc.go has what happens in each.
const (
	None Step = iota
	Looking
	Stubbing
	Moving
	Closing
	Settled
	Cleaning
)

// names are stored: they do not change.
var names = [...]string{"none", "looking", "stubbing", "moving", "closing", "settled", "cleaning"}

func (s Step) String() string {
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("step %d", uint8(s))
}

// ParseStep reads what String writes. It refuses a step that this version does not know:
// a door that does not know a step serves nothing of the table.
func ParseStep(name string) (Step, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Step(i), nil
	}
	return None, fmt.Errorf("unknown step %q of a change of layout; a newer version has written it", name)
}

// Next is the step that is published after s, None after the last.
func (s Step) Next() Step {
	switch {
	case s == None && Off(LookingStep), s == Looking && Off(StubbingStep), s == Moving && Off(ClosingStep):
		return s + 2
	case s == Cleaning:
		return None
	}
	return s + 1
}

// Revocable says whether a change in step s can be taken back: while there are no stubs.
func (s Step) Revocable() bool { return s == Looking || Off(StubsStay) }
