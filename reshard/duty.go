// SPDX-License-Identifier: Apache-2.0

package reshard

// Act is one act of a program that handles one row that moves. Each is one request
// to one place. The next begins when the store has answered.
type Act uint8

// The acts. What a Look sees is remembered until the next Look at the same place.
const (
	PutNew    Act = iota + 1 // send the client's write to the new place
	PutOld                   // send the client's write to the old place
	LookOld                  // read the row at the old place, with the times of its cells
	LookNew                  // read the row at the new place, with the times of its cells
	IfLives                  // go on only if LookOld saw the row as it was put in the old place
	CopyNew                  // write what LookOld saw and LookNew did not to the new place: same times, same remaining TTL
	CopyOld                  // write what LookNew saw and LookOld did not to the old place: same times, same remaining TTL
	DropOld                  // delete in the old place what LookOld saw and LookNew, after CopyNew, did not: cell by cell, each at its own time
	DropNew                  // delete in the new place what LookNew saw and LookOld, after CopyOld, did not: cell by cell, each at its own time
	AnswerOld                // a read's answer is what LookOld saw
	AnswerNew                // a read's answer is what the last LookNew saw, without what DropNew deleted
)

var acts = [...]string{"", "put new", "put old", "look old", "look new", "if lives", "copy new", "copy old", "drop old", "drop new", "answer old", "answer new"}

func (a Act) String() string { return acts[a] }

// Duty is what a door does in one step with the rows that move.
type Duty struct {
	// Read is the program for reading one row.
	//
	// A program that reads both places may end after the reads if the places are equal. A read of
	// many rows runs the program for each row that differs.
	Read []Act

	// Write is the program of a write. The write is acknowledged when all acts are done.
	Write []Act

	// Past is the program for a write whose timestamp is not newer than the change (Change.Past).
	// Deletions always follow Write.
	Past []Act

	// Stamps says that the door gives a write its timestamp, the same in both places, if the
	// client does not. Otherwise the store's coordinator gives it.
	Stamps bool

	// Quorum says that reads and writes need at least the consistency level LOCAL_QUORUM,
	// whatever the client asked for.
	Quorum bool
}

var (
	readOld  = []Act{LookOld, AnswerOld}
	readNew  = []Act{LookNew, AnswerNew}
	readBoth = []Act{LookOld, LookNew, CopyNew, LookNew, CopyOld, DropOld, LookOld, DropNew, AnswerNew}

	writeOld   = []Act{PutOld}
	writeNew   = []Act{PutNew}
	writeBoth  = []Act{PutNew, PutOld}
	writeSafe  = []Act{PutOld, LookOld, IfLives, PutNew}
	oldThenNew = []Act{PutOld, PutNew}     // NewFirst switched off
	unresolved = []Act{LookNew, AnswerNew} // ReadsResolve switched off
)

// Duty returns what a door does in step s. It does not allocate.
func (s Step) Duty() Duty {
	d := Duty{Read: readOld, Write: writeBoth, Past: writeSafe, Stamps: true, Quorum: On(QuorumFloor)}
	switch s {
	case None:
		return Duty{Read: readOld, Write: writeOld, Past: writeOld}
	case Withdrawn:
		d.Write, d.Past = writeOld, writeOld
	case Announced:
	case Switching:
		if d.Read = readBoth; !On(ReadsResolve) {
			d.Read = unresolved
		}
	case Switched:
		d.Read = readNew
	case Settled:
		d.Read, d.Write = readNew, writeNew
	case Cleaned:
		d.Read, d.Write, d.Past = readNew, writeNew, writeNew
	}
	if !On(NewFirst) && len(d.Write) == 2 {
		d.Write = oldThenNew
	}
	if !On(PastOldFirst) {
		d.Past = d.Write
	}
	return d
}

// Both says whether a door in this step reads rows in both places.
func (d Duty) Both() bool { return len(d.Read) > 2 }

// New says whether a door in this step answers reads from the new place.
func (d Duty) New() bool { return d.Read[len(d.Read)-1] == AnswerNew }
