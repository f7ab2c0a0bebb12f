// SPDX-License-Identifier: Apache-2.0

package items

import "github.com/evenkeel/evenkeel/internal/switches"

// Rule is a rule of how the shards of a rollover stay as they are during a change (frozen.go). All rules are
// always in force, except while a test has switched one off.
type Rule uint32

// These are the rules. If one is switched off, an item is lost.
const (
	FrozenFirst  Rule = 1 << iota // a partition key gets the mark of the change before it is used
	OpenedFirst                   // a shard that has begun is open before the key gets the mark
	OwnMark                       // the mark of an earlier change does not count
	MarkStays                     // a door does not remove the mark of a change that it does not know to be over
	MarkOutlasts                  // the mark stays until no request goes by its change any more
	end
)

var rules switches.Set[Rule]

// Off reports whether a rule is switched off.
func Off(r Rule) bool { return !rules.On(r) }

// Without switches a rule off until restore is called. It is for tests.
func Without(r Rule) (restore func()) { return rules.Off(r) }

// Rules lists all rules.
func Rules() []Rule { return switches.Below(end) }
