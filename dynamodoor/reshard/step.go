// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"slices"
)

// Step is the progress of a change.
type Step uint8

// These are the steps, in order. doc.go describes what happens in each.
const (
	None Step = iota
	Looking
	Stubbing
	Moving
	Closing
	Settled
	Cleaning
)

// names are stored, so they must not change.
var names = [...]string{"none", "looking", "stubbing", "moving", "closing", "settled", "cleaning"}

func (s Step) String() string {
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("step %d", uint8(s))
}

// ParseStep parses what String writes. It returns an error for an unknown step: a door that does
// not know a step refuses all requests on the table.
func ParseStep(name string) (Step, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Step(i), nil
	}
	return None, fmt.Errorf("unknown step %q of a change of layout; a newer version has written it", name)
}

// Next returns the step that is published after s, or None after the last.
func (s Step) Next() Step {
	switch {
	case s == None && Off(LookingStep), s == Looking && Off(StubbingStep), s == Moving && Off(ClosingStep):
		return s + 2
	case s == Cleaning:
		return None
	}
	return s + 1
}

// Revocable reports whether a change in step s can be taken back, because there are no stubs.
func (s Step) Revocable() bool { return s == Looking || Off(StubsStay) }
