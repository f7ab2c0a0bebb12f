// SPDX-License-Identifier: Apache-2.0

package reshard

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is one rule of the protocol. All rules are always in force, except while a test has switched
// one off.
type Rule uint32

// These are the rules. If one is switched off, the exploration finds a fault.
const (
	LookingStep    Rule = 1 << iota // doors know stubs before there are any
	StubbingStep                    // while others may still write to an old place, a stub there says that the item is absent
	ClosingStep                     // before doors stop reading old places, reads move what they find there
	Barriers                        // a step waits until no door uses an earlier one
	AnswerCounts                    // an answer counts only if the step that it is based on still holds when the store has answered
	WritesLook                      // a write reads the old place first
	OldFirst                        // a read reads the old place first, then the new one
	NewWins                         // if both places have an item, the one at the new place counts
	LeavesStub                      // a move leaves a stub, not nothing
	Unchanged                       // a move takes the item only if it is unchanged since it was read
	Guarded                         // a write goes to an old place only if no stub is there
	OldPlaceShows                   // a Scan shows an item once, at its old place
	FreshPlaces                     // a place is never used twice
	StubsStay                       // a change that may have left stubs continues to its end
	EmptyStubs                      // a stub where nothing was does not stand for an item
	StubsInIndexes                  // a stub keeps the keys of the item's entries in indexes
	end
)

var rules switches.Set[Rule]

// Off reports whether a rule is switched off.
func Off(r Rule) bool { return !rules.On(r) }
