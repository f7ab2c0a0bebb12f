// SPDX-License-Identifier: Apache-2.0

// Package rule names the rules that make answers on a sharded table correct. A test can switch
// one off and show that an answer is then wrong.
//
// All rules are in force unless a test has switched one off.
package rule

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is one rule.
type Rule uint32

// The rules. Each has a test that fails while it is switched off.
const (
	CanonicalForm        Rule = 1 << iota // equal values have the same hash
	HashedIsSent                          // the value that decides the shard is computed once, by the door that hashes it
	FloatsInOrder                         // sums of floats are computed over merged rows
	HomeOfStatics                         // static columns are in one shard of their partition
	StaticsWithoutRows                    // statics give a row of their own only if no shard has rows
	OwnersOnce                            // a scan shows a logical partition once
	BroadcastDeletions                    // random: deletions go to all shards
	BroadcastNulls                        // random: nulls go to all shards
	BroadcastExpiring                     // random: expiring cells go to all shards
	BroadcastCollections                  // random: non-frozen collections go to all shards
	LaterCellWins                         // random: of a cell in two shards the later write counts
	FilterMerged                          // random: filters see merged rows
	StampedWrites                         // random: the door sets the time of a write
	AddCounters                           // random: a counter is the sum of its shards
	LoggedWhenSplit                       // writes that one partition made atomic become one logged batch
	ShownWhereItBelongs                   // a row is shown only from the shard where its layout puts it
	ReadBeforeDrawn                       // random: all doors read a new shard before any writes to it
	ReadsResolve                          // a read that finds a row's two places different first makes them equal
	QuorumInChange                        // during a change nothing is read or written below LOCAL_QUORUM
	EpochsOfRows                          // a row of a later epoch is where that epoch's layout puts it
	BucketsAnnounced                      // time: a bucket is in the directory before its first row is sent
	DeletionsRepeated                     // time: a deletion of all buckets is repeated in buckets that are added later
	NothingBelowFloor                     // time: no row is put into a bucket that was dropped
	OpenedBeforeWritten                   // rollover: a shard is written when every door reads it, with later timestamps than earlier deletions have
	NothingFromTheFuture                  // rollover: a deletion has no timestamp that later shards could reach
	end
)

var set switches.Set[Rule]

// On says whether a rule is in force.
func On(r Rule) bool { return set.On(r) }

// Off switches a rule off until restore is called. It is for tests.
func Off(r Rule) (restore func()) { return set.Off(r) }

// All lists all rules.
func All() []Rule { return switches.Below(end) }
