// SPDX-License-Identifier: Apache-2.0

package reshard

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is one rule of the protocol. All rules are in force unless a test has switched one off.
type Rule uint32

// These are the rules. With any one switched off, a test finds data that is lost, comes back, or
// is seen and then not seen.
const (
	NewFirst          Rule = 1 << iota // a write goes to the new place first, then to the old one
	QuorumFloor                        // during a change nothing is read or written below LOCAL_QUORUM
	PastOldFirst                       // data stamped before the change goes to the old place first, and to the new one if it is alive there
	Barriers                           // the mover goes on when every door has acknowledged the step
	AnswerCounts                       // a door acknowledges a request only if it had a lease when the store answered
	ReadsResolve                       // a read that finds the places different makes them equal before it answers
	SwitchingBetween                   // between reading the old place and reading the new one, there is a step that reads both
	VerifyInSwitching                  // rows are verified once reads resolve, not before
	VerifyBothWays                     // verify also removes what only the new place has, and copies back
	AtAll                              // copy and verify read every replica: otherwise a late copy could bring back a row whose deletion was not seen
	SweepLate                          // late arrivals in an old place are moved
	SweepWhenQuiet                     // the sweep waits until nothing can arrive late any more
	SweepWithinGrace                   // the sweep moves nothing once the new place's tombstones may have been purged
	FreshPlaces                        // a place is never used twice
	BucketsFirst                       // a bucket of time is in the directory before a row is written or copied there
	BucketDeletions                    // a deletion of many buckets is repeated in a bucket that is added after it
	FirstsWhenKnown                    // the shards with which a key begins under strategy rollover are opened when every door knows them
	LookAtWritten                      // the mover looks into every shard of strategy rollover that a door may have written to
	end
)

var set switches.Set[Rule]

// On says whether a rule is in force.
func On(r Rule) bool { return set.On(r) }

// Off switches a rule off until restore is called. It is for tests.
func Off(r Rule) (restore func()) { return set.Off(r) }

// Rules lists all rules.
func Rules() []Rule { return switches.Below(end) }
