// SPDX-License-Identifier: Apache-2.0

package registry

// State is how far an operation on a sharded table has come. A door writes Creating and Dropping
// before it sends the statement to the store, and the next state after the answer.
type State string

// These are the states.
const (
	Creating State = "creating"
	Active   State = "active"
	Dropping State = "dropping"
	Dropped  State = "dropped" // other doors may not know this yet
)

// Action is what to write into a catalogue so that an entry fits the store.
type Action int

// These are the actions.
const (
	Keep     Action = iota // nothing is to be written, or not yet
	Activate               // the entry belongs to the table that is there
	Remove                 // the entry belongs to no table
)

// Verdict says what an entry means for the table of its name.
type Verdict struct {
	Applies bool // the table has the entry's layout
	Write   Action
}

// Judge compares an entry with the store. its says whether the store has the table that the entry
// was made for. late says that the operation has used up its time. Then Judge assumes that its door
// is dead. Until then it leaves an entry to its door, unless the table shows that the operation
// took place.
func Judge(s State, its, late bool) Verdict {
	switch {
	case s == Active:
		return Verdict{Applies: its}
	case its && (s == Creating || s == Dropping && late):
		return Verdict{Applies: true, Write: Activate}
	case its:
		return Verdict{Applies: true} // the store may still be deleting it
	case late:
		return Verdict{Write: Remove}
	}
	return Verdict{}
}
