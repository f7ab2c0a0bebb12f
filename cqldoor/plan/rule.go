package plan

import "sync/atomic"

// Rule is one of the rules without which an answer would be wrong.
type Rule uint32

// The rules. Each has a test of its name, which fails when it is switched off.
const (
	BroadcastDeletions   Rule = 1 << iota // random: deletions go to all shards
	BroadcastNulls                        // random: nulls go to all shards
	BroadcastExpiring                     // random: what has a time to live goes to all shards
	BroadcastCollections                  // random: collections that are not frozen go to all shards
	LaterCellWins                         // random: of a cell in two shards the one written later counts
	FilterMerged                          // random: filters see merged rows
	AddCounters                           // random: a counter is the sum of its shards
	HomeOfStatics                         // static columns are in one shard of their partition
	StaticsWithoutRows                    // a partition of static columns alone has one row, whichever shards have none
	OwnersOnce                            // a scan meets a logical partition once
	CanonicalForm                         // values that are equal hash alike
	AveragesInOrder                       // averages and sums of floats are computed over merged rows
	StampedWrites                         // random: writes are stamped, each later than the one before
)

var disabled atomic.Uint32

// rule says whether a rule is in force: always, but in tests of its test.
func rule(r Rule) bool { return disabled.Load()&uint32(r) == 0 }

// InForce says the same to package run.
func InForce(r Rule) bool { return rule(r) }
