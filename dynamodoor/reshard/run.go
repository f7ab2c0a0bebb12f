// SPDX-License-Identifier: Apache-2.0

package reshard

// Act is an atomic action at a place of an item.
type Act uint8

// These are the acts, with the possible results of each.
const (
	Answer    Act = iota // the result of the last act is the answer; nothing more is done
	LookOld              // reads the old place: Nothing, Item, Stubbed
	LookNew              // reads the new place: Nothing, Item
	Stub                 // puts a stub into the old place, if nothing is there: OK, Changed
	Move                 // puts the item seen at the old place to the new one, if nothing is there, and a stub to the old one, if that still has the item seen: OK, Changed
	WriteOld             // does the write at the old place: OK
	Guard                // does the write at the old place, if no stub is there: OK, Stubbed
	WriteNew             // does the write at the new place: OK
	AnswerOld            // the item seen at the old place is the answer
)

// Seen is the result of an act. A write that was carried out is OK, whether or not its own
// condition held.
type Seen uint8

// These are the results.
const (
	Nothing Seen = iota
	Item
	Stubbed
	OK
	Changed
)

// kind says whose acts these are.
type kind uint8

const (
	read kind = iota
	write
	mover
)

// Run is the sequence of acts of one request on one item, or of the mover on it. Act returns the
// next act, and After returns what follows its result. A Run is a comparable value.
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

// Act returns the next act.
func (r Run) Act() Act { return r.act }

// After returns the run after an act had a result.
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

// Shows reports whether a Scan, or a read of an index, shows an item when it meets the table's or
// the index's entry for one of the item's places. It depends on what both places have. oldFits and
// nowFits say whether a place has an item or a stub with the key of the index's entry; for a Scan
// of the table, whether it has any.
//
// A read that began before the change was settled shows an item at its old place, even if the item
// has moved: a stub has the keys of the item's entries in indexes. It shows an item at its new place
// if the old place has nothing with that key: then the item is new, or its key has changed since it
// moved. A read that began later uses only new places. The read's cursor keeps that from page to
// page.
func Shows(began Step, atOld bool, old, now Seen, oldFits, nowFits bool) bool {
	switch {
	case began >= Settled:
		return !atOld && now == Item
	case atOld && now == Item:
		return oldFits && nowFits
	case atOld:
		return old == Item && oldFits
	case Off(OldPlaceShows):
		return now == Item
	}
	return now == Item && !oldFits
}
