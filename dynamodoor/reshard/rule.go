// SPDX-License-Identifier: Apache-2.0

package reshard

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is one rule of the protocol. All are in force, always, but while a test has
// switched one off.
type Rule uint32

// The rules. With each switched off the exploration finds a fault.
const (
	LookingStep   Rule = 1 << iota // doors know stubs before there are any
	StubbingStep                   // absence from an old place is made known by a stub, while others may still write there
	ClosingStep                    // before old places are not looked at any more, reads move what they find there
	Barriers                       // a step waits until no door goes by an earlier one
	AnswerCounts                   // an answer counts only if what it goes by still holds when the store has answered
	WritesLook                     // a write looks at the old place first
	OldFirst                       // a read asks the old place first, then the new one
	NewWins                        // where both places have an item, the new one is it
	LeavesStub                     // a move leaves a stub, not nothing
	Unchanged                      // a move takes the item only as it was read
	Guarded                        // a write to an old place is done only if no stub is there
	OldPlaceShows                  // a Scan shows an item once, where its old place is
	FreshPlaces                    // a place is never used twice
	StubsStay                      // a change that may have left stubs goes on to its end
	end
)

var rules switches.Set[Rule]

// Off says whether a rule is switched off.
func Off(r Rule) bool { return !rules.On(r) }
