// SPDX-License-Identifier: Apache-2.0

package reshard

// Act is something that is done at a place of an item, whole or not at all.
type Act uint8

// The acts, and what can be seen after each.
const (
	Answer    Act = iota // what the last act gave is the answer; nothing more is done
	LookOld              // reads the old place: Nothing, Item, Stubbed
	LookNew              // reads the new place: Nothing, Item
	Stub                 // puts a stub into the old place, if nothing is there: OK, Changed
	Move                 // puts what was seen in the old place into the new one, if nothing is there, and a stub into the old one, if it has what was seen: OK, Changed
	WriteOld             // does the write in the old place: OK
	Guard                // does the write in the old place, if no stub is there: OK, Stubbed
	WriteNew             // does the write in the new place: OK
	AnswerOld            // what was seen in the old place is the answer
)

// Seen is what came of an act. A write that was done is OK, whether or not its own
// condition held.
type Seen uint8

// What can be seen.
const (
	Nothing Seen = iota
	Item
	Stubbed
	OK
	Changed
)

// kind is whose acts these are.
type kind uint8

const (
	read kind = iota
	write
	mover
)

// Run is the acts of one request on one item, or of the mover on it: Act is what is to be
// done next, After what is to be done then. It is a value, and can be compared.
type Run struct {
	kind kind
	step Step
	act  Act
	item bool // the old place had an item
}

// Read returns the acts of a read in a step.
func Read(s Step) Run {
	r := Run{kind: read, step: s, act: LookOld}
	if s >= Settled || s > None && Off(OldFirst) {
		r.act = LookNew
	}
	return r
}

// Write returns the acts of a write in a step.
func Write(s Step) Run {
	r := Run{kind: write, step: s, act: LookOld}
	switch {
	case s == None, s == Looking && Off(Guarded):
		r.act = WriteOld
	case s == Looking:
		r.act = Guard
	case s >= Settled, Off(WritesLook):
		r.act = WriteNew
	}
	return r
}

// Shift returns the acts of the mover.
func Shift() Run { return Run{kind: mover, step: Moving, act: LookOld} }

// Act is what is to be done.
func (r Run) Act() Act { return r.act }

// After returns what is to be done when an act has given something.
func (r Run) After(seen Seen) Run {
	r.act = r.next(seen)
	r.item = r.item || seen == Item
	return r
}

func (r Run) next(seen Seen) Act {
	switch r.act {
	case WriteOld, WriteNew:
		return Answer
	case Guard:
		if seen == Stubbed {
			return WriteNew
		}
		return Answer
	case Stub, Move:
		switch {
		case seen == Changed:
			return LookOld
		case r.kind == mover:
			return Answer
		case r.kind == read:
			return LookNew
		}
		return WriteNew
	case LookNew:
		switch {
		case r.kind != read || seen == Item:
		case r.item && r.step < Closing:
			return AnswerOld
		case Off(OldFirst) && r.step < Closing:
			return LookOld
		}
		return Answer
	case LookOld:
		return r.afterOld(seen)
	}
	return Answer
}

func (r Run) afterOld(seen Seen) Act {
	switch r.kind {
	case mover:
		if seen == Item {
			return Move
		}
		return Answer
	case read:
		switch {
		case r.step == None, Off(OldFirst) && r.step < Closing, seen == Item && Off(NewWins) && r.step < Closing:
			return AnswerOld
		case r.step == Closing && seen == Item:
			return Move
		}
		return LookNew
	}
	switch {
	case seen == Item:
		return Move
	case seen == Nothing && r.step == Stubbing:
		return Stub
	}
	return WriteNew
}

// Shows says whether a Scan shows an item at one of its places, by what both have. A scan
// that began before the change was settled shows an item where its old place is, whatever
// has become of it; for the new place of an item it looks whether its old one has it, or a
// stub. A scan that began afterwards goes by new places. Which of them it is, the scan's
// cursor tells from page to page.
func Shows(began Step, atOld bool, old, now Seen) bool {
	switch {
	case began >= Settled:
		return !atOld && now == Item
	case atOld:
		return old == Item || old == Stubbed && now == Item
	case Off(OldPlaceShows):
		return now == Item
	}
	return now == Item && old == Nothing
}
