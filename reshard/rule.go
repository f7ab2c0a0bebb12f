// SPDX-License-Identifier: Apache-2.0

package reshard

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is one rule of the protocol. All are in force, always, but while a test has
// switched one off.
type Rule uint32

// The rules. With each switched off a test finds data lost, brought back, or seen
// and then not.
const (
	NewFirst          Rule = 1 << iota // a write goes to the new place first, then to the old one
	QuorumFloor                        // during a change nothing is read or written below LOCAL_QUORUM
	PastOldFirst                       // data stamped before the change go to the old place first, to the new one if they live there
	Barriers                           // the mover goes on when every door has acknowledged the step
	AnswerCounts                       // a door acknowledges only what it had a lease for when the store answered
	ReadsResolve                       // a read that finds the places different makes them alike before it answers
	SwitchingBetween                   // between reading old and reading new there is a step that reads both
	VerifyInSwitching                  // rows are verified once reads resolve, not before
	VerifyBothWays                     // verify also removes what only the new place shows, and copies back
	AtAll                              // copy and verify read every replica: a late copy of what an unseen deletion covers would bring it back
	SweepLate                          // what came late to an old place is moved
	SweepWhenQuiet                     // the sweep waits until nothing can come late any more
	SweepWithinGrace                   // the sweep moves nothing once tombstones of the new place may be gone
	FreshPlaces                        // a place is never used twice
	end
)

var set switches.Set[Rule]

// On says whether a rule is in force.
func On(r Rule) bool { return set.On(r) }

// Off switches a rule off until restore is called. It is for tests.
func Off(r Rule) (restore func()) { return set.Off(r) }

// Rules lists all rules.
func Rules() []Rule { return switches.Below(end) }
