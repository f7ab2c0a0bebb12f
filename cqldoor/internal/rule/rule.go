// SPDX-License-Identifier: Apache-2.0

// Package rule names the rules without which an answer on a sharded table would
// be wrong, so that a test can show of each that it is needed.
//
// All are in force, always, but while a test has switched one off.
package rule

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is one rule.
type Rule uint32

// The rules. Each has a test that fails while it is switched off.
const (
	CanonicalForm        Rule = 1 << iota // values that are equal hash alike
	HashedIsSent                          // what feeds the shard is computed once, by who hashes it
	FloatsInOrder                         // sums of floats are computed over merged rows
	HomeOfStatics                         // static columns are in one shard of their partition
	StaticsWithoutRows                    // statics alone give a row only where no shard has rows
	OwnersOnce                            // a scan shows a logical partition once
	BroadcastDeletions                    // random: deletions go to all shards
	BroadcastNulls                        // random: nulls go to all shards
	BroadcastExpiring                     // random: what expires goes to all shards
	BroadcastCollections                  // random: what is not frozen goes to all shards
	LaterCellWins                         // random: of a cell in two shards the one written later counts
	FilterMerged                          // random: filters see merged rows
	StampedWrites                         // random: the door says when a write took place
	AddCounters                           // random: a counter is the sum of its shards
	LoggedWhenSplit                       // what one partition made atomic is one logged batch
	ShownWhereItBelongs                   // a row is shown only in the shard where its layout puts it
	ReadBeforeDrawn                       // random: all doors read a new shard before any writes to it
	ReadsResolve                          // a read that finds the two places of a row different makes them alike first
	QuorumInChange                        // during a change nothing is read or written below LOCAL_QUORUM
	EpochsOfRows                          // a row of a later epoch is where that has it
	BucketsAnnounced                      // time: a bucket is in the directory before its first row is sent
	DeletionsRepeated                     // time: a deletion of all buckets is of those, too, that are added later
	NothingBelowFloor                     // time: no row is put into a bucket that was dropped
	end
)

var set switches.Set[Rule]

// On says whether a rule is in force.
func On(r Rule) bool { return set.On(r) }

// Off switches a rule off until restore is called. It is for tests.
func Off(r Rule) (restore func()) { return set.Off(r) }

// All lists all rules.
func All() []Rule { return switches.Below(end) }
