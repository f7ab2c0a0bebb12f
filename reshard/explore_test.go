// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"math/bits"
	"strings"
)

// This file explores the machine: all that two doors, a mover, a few operations and
// one reader can do, breadth first, so that a failure has the shortest trace.
//
// One cell of one row is looked at, by last-write-wins: a value is its timestamp,
// a tombstone wins over a value of the same timestamp.

// cell is what a place has: timestamp<<1, and 1 for a tombstone. The larger wins.
type cell int8

const nothing cell = 1 // no write at all, as a tombstone older than all

func value(ts int) cell    { return cell(ts << 1) }
func deletion(ts int) cell { return cell(ts<<1 | 1) }

func (c cell) live() bool { return c&1 == 0 }
func (c cell) ts() int    { return int(c >> 1) }
func (c cell) String() string {
	switch {
	case c == nothing:
		return "nothing"
	case c.live():
		return fmt.Sprintf("value@%d", c.ts())
	}
	return fmt.Sprintf("deletion@%d", c.ts())
}

// Timestamps: the row is of 4, the change of 5.
const startedAt = 5

// scene is what is explored.
type scene struct {
	ops   []cell // what is written, or deleted
	first cell   // in the old place, from the beginning
	used  cell   // in the new place where it was used before: FreshPlaces forbids it
	one   uint8  // operations, by bit, that ask for ONE
	any   uint8  // operations, by bit, that ask for ANY: a hint is enough
	reads uint8  // of the reader
	late  bool   // messages arrive late, leases end while requests are under way
	back  bool   // the change may be taken back, at any moment
	grace bool   // in settled, tombstones of the new place may be purged

	// The places are in two tables, one of them plain: from plain to sharded or back, which is the
	// same to the machine. The mover empties neither table, but drops one at the end.
	tables bool

	// buckets has a bit for each place that is a bucket of time: readers see it only if the directory
	// lists it. The operations' deletions are of many buckets there.
	buckets uint8

	rolls uint8 // has a bit for each place of strategy rollover (explore_rollover_test.go)
	opens int   // from which timestamp on clients' cells go to the second shards

	ghost cell // what an earlier change sent to a table of the second one's name, late: FreshPlaces forbids the name
}

func (s scene) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, first %v", s.ops, s.first)
	if s.used != 0 {
		fmt.Fprintf(&b, ", used place %v", s.used)
	}
	if s.ghost != 0 {
		fmt.Fprintf(&b, ", late from an earlier change %v", s.ghost)
	}
	fmt.Fprintf(&b, ", tables %v, buckets %02b, rolls %02b from %d", s.tables, s.buckets, s.rolls, s.opens)
	fmt.Fprintf(&b, ", one %b, any %b, reads %d, late %v, back %v, grace %v", s.one, s.any, s.reads, s.late, s.back, s.grace)
	return b.String()
}

const (
	idle uint8 = iota
	running
	acknowledged
	unknown
)

type operation struct {
	phase  uint8
	door   uint8
	step   Step
	gen    int8
	act    uint8
	sub    uint8 // what is done of the directory before the act
	saw    cell
	knows  directory // of its door when it was planned
	lapsed bool      // its door has lost its lease since it was planned
}

type door struct {
	step  Step
	gen   int8
	lease bool
	knows directory
}

type reader struct {
	active bool
	door   uint8
	step   Step
	gen    int8
	act    uint8
	sub    uint8
	old    cell
	new    cell
	want   cell // the newest that was acknowledged, and is where it was sent, when it began
	knows  directory
	lapsed bool
}

type moverAt struct {
	working bool
	act     uint8
	sub     uint8
	old     cell
	new     cell
}

// stray is a copy or a drop that arrives late. Its zero value is none.
type stray struct {
	what  cell
	to    uint8
	knows directory
}

type state struct {
	step  Step
	gen   int8
	back  bool
	done  bool
	ended bool

	doors [2]door
	ops   [3]operation
	place [2]cell

	further [2]cell   // the second shard of a place of strategy rollover
	log     directory // of these shards
	knows   directory // as the mover's door had read it when it last published
	told    bool      // a generation was published after the first shards were announced

	listed   [2]bool // in the directory of buckets
	recorded [2]cell // the newest deletion of many buckets
	late     uint8   // puts on their way, bit op*2+place
	one      uint8   // puts that one replica has, others not yet: ALL sees them
	hint     uint8   // puts that only a hint has: nobody sees them
	read     reader
	mover    moverAt

	strayed [2]stray // of the mover, of the reader
	purged  bool
	again   bool // the rows are verified again, since a door vanished

	left        uint8 // reads
	floor, seen int8  // newest timestamp that the reader has seen, newest of a value
}

const oldPlace, newPlace = 0, 1

var placeName = [2]string{"old", "new"}

// machine explores one scene.
type machine struct {
	scene
	naming bool // events are given names, for a trace
	out    []event
}

type event struct {
	what string // "" unless names are asked for
	to   state
	bad  string
	end  bool
}

func (m *machine) change(s *state) Change {
	return Change{Step: s.step, Generation: int64(s.gen), Back: s.back, Done: s.done, Started: startedAt}
}

func (m *machine) begin() state {
	s := state{place: [2]cell{m.first, nothing}, further: [2]cell{nothing, nothing}, left: m.reads}
	s.doors = [2]door{{lease: true}, {lease: true}}
	s.listed = [2]bool{m.buckets&1 == 0 || m.first.live(), m.buckets&2 == 0}
	s.recorded = [2]cell{nothing, nothing}
	if m.buckets&1 != 0 && !m.first.live() {
		s.recorded[oldPlace] = m.first
	}
	if m.used != 0 && !On(FreshPlaces) {
		s.place[newPlace] = m.used
	}
	if m.ghost != 0 && !On(FreshPlaces) { // else it finds no table
		s.strayed[0] = stray{what: m.ghost, to: newPlace}
	}
	return s
}

// shown returns what a reader finds in a place, if it knows a directory of shards.
func (s *state) shown(p uint8, d directory) cell {
	if !s.listed[p] {
		return nothing
	}
	return s.merged(p, d)
}

// announce carries out the next step that must come before a row is put into a place: the directory
// gets the bucket, and then the bucket the deletions that the directory has. It returns false if there
// is none.
func (m *machine) announce(s *state, p uint8, sub *uint8) (what string, is bool) {
	if m.buckets>>p&1 == 0 || !On(BucketsFirst) {
		return "", false
	}
	switch *sub {
	case 0:
		*sub = 1
		s.listed[p] = true
		return "adds the bucket of " + placeName[p], true
	case 1:
		if *sub = 2; !On(BucketDeletions) {
			return "looks for no deletions of " + placeName[p], true
		}
		s.put(p, s.recorded[p])
		return "repeats the deletions in " + placeName[p], true
	}
	*sub = 0
	return "", false
}

// record carries out the next step of a deletion of many buckets: it is recorded, and then done in the
// buckets that the directory lists. done says that there is nothing more to do.
func (m *machine) record(s *state, p uint8, c cell, sub *uint8) (what string, is, done bool) {
	switch {
	case m.buckets>>p&1 == 0:
		return "", false, false
	case *sub == 0:
		*sub = 1
		s.recorded[p] = max(s.recorded[p], c)
		return "records the deletion for " + placeName[p], true, false
	}
	*sub = 0
	return "finds no bucket of " + placeName[p], !s.listed[p], true
}

func (s *state) put(p uint8, c cell) { s.place[p] = max(s.place[p], c) }

// acked says whether door d has acknowledged the generation.
func (s *state) acked(d uint8) bool {
	if s.doors[d].gen != s.gen {
		return false
	}
	for _, o := range s.ops {
		if o.phase == running && o.door == d && o.gen < s.gen && !o.lapsed {
			return false
		}
	}
	return !(s.read.active && s.read.door == d && s.read.gen < s.gen && !s.read.lapsed)
}

func (s *state) barrier() bool {
	for d := range uint8(2) {
		if s.doors[d].lease && !s.acked(d) {
			return false
		}
	}
	return true
}

// vanished says whether some door has lost its lease without acknowledging.
func (s *state) vanished() bool {
	for d := range uint8(2) {
		if !s.doors[d].lease && !s.acked(d) {
			return true
		}
	}
	return false
}

func (m *machine) emit(s state, format string, args ...any) {
	e := event{to: s.canonical()}
	if m.naming {
		e.what = fmt.Sprintf(format, args...)
	}
	m.out = append(m.out, e)
}

// canonical returns s with its doors in one order: they are alike.
func (s state) canonical() state {
	a, b := s.doors[0], s.doors[1]
	if a.gen < b.gen || a.gen == b.gen && (a.lease || !b.lease) {
		return s
	}
	s.doors[0], s.doors[1] = b, a
	for i := range s.ops {
		if s.ops[i].phase == running {
			s.ops[i].door ^= 1
		}
	}
	if s.read.active {
		s.read.door ^= 1
	}
	return s
}

func (m *machine) bad(s state, why, format string, args ...any) {
	m.emit(s, format, args...)
	m.out[len(m.out)-1].bad = why
}

// nexts are all events that can follow s.
func (m *machine) nexts(s state) []event {
	m.out = m.out[:0]
	for d := range uint8(2) {
		m.door(s, d)
	}
	for i := range m.ops {
		m.operation(s, i)
	}
	m.messages(s)
	m.shards(s)
	m.reader(s)
	m.move(s)
	return m.out
}

func (m *machine) door(s state, d uint8) {
	at := s.doors[d]
	if at.gen < s.gen || !at.lease {
		n := s
		n.doors[d] = door{step: s.step, gen: s.gen, lease: true, knows: s.log}
		m.emit(n, "door %d reads the catalogue: %v", d, s.step)
	}
	if !at.lease || at.gen == s.gen {
		return
	}
	busy := false
	n := s
	for i := range n.ops {
		if o := &n.ops[i]; o.phase == running && o.door == d && !o.lapsed {
			busy, o.lapsed = true, true
		}
	}
	if r := &n.read; r.active && r.door == d {
		busy, r.lapsed = true, true
	}
	if busy && !m.late {
		return
	}
	n.doors[d].lease, n.doors[d].knows = false, directory{}
	m.emit(n, "door %d loses its lease", d)
}

func (m *machine) operation(s state, i int) {
	o, c := s.ops[i], m.ops[i]
	switch o.phase {
	case idle:
		for d := range uint8(2) {
			at := s.doors[d]
			if !at.lease || at.step == None && c.ts() > startedAt {
				continue
			}
			past := m.change(&s).Past(int64(c.ts()))
			if past && (at.step == Cleaned || at.step == None && at.gen > 0) {
				continue // listed: after the change nothing remembers what was deleted before it
			}
			if m.early(c, at.knows) {
				continue
			}
			n := s
			n.ops[i] = operation{phase: running, door: d, step: at.step, gen: at.gen, knows: at.knows}
			m.emit(n, "op %d (%v) begins at door %d, which knows of %v", i, c, d, at.step)
		}
	case running:
		n := s
		n.ops[i] = operation{phase: unknown}
		m.emit(n, "op %d: the door crashes", i)
		m.act(s, i)
	}
}

func (m *machine) program(o operation, c cell) []Act {
	d := o.step.Duty()
	if c.live() && (Change{Started: startedAt}).Past(int64(c.ts())) {
		return d.Past
	}
	return d.Write
}

func (m *machine) act(s state, i int) {
	o, c := s.ops[i], m.ops[i]
	program := m.program(o, c)
	if int(o.act) == len(program) {
		n := s
		if o.lapsed && On(AnswerCounts) {
			n.ops[i] = operation{phase: unknown}
			m.emit(n, "op %d: its door's lease is over, the client is told of a timeout", i)
			return
		}
		if m.misses(c, o.knows, s.doors[o.door].knows) {
			n.ops[i] = operation{phase: unknown}
			m.emit(n, "op %d: it has missed a shard, the client is told of a timeout", i)
			return
		}
		n.ops[i] = operation{phase: acknowledged}
		m.emit(n, "op %d is acknowledged", i)
		return
	}
	n := s
	n.ops[i].act++
	switch a := program[o.act]; a {
	case LookOld:
		n.ops[i].saw = s.merged(oldPlace, o.knows)
		m.emit(n, "op %d looks at old: %v", i, n.ops[i].saw)
	case IfLives:
		if o.saw != c {
			n.ops[i].act = uint8(len(program))
		}
		m.emit(n, "op %d lives in old: %v", i, o.saw == c)
	case PutOld, PutNew:
		p := uint8(oldPlace)
		if a == PutNew {
			p = newPlace
		}
		op := &n.ops[i]
		if c.live() {
			if what, is := m.announce(&n, p, &op.sub); is {
				op.act--
				m.emit(n, "op %d %s", i, what)
				return
			}
		} else if what, is, done := m.record(&n, p, c, &op.sub); is {
			if !done {
				op.act--
			}
			m.emit(n, "op %d %s", i, what)
			return
		}
		bit := uint8(1) << (i*2 + int(p))
		switch {
		case m.any>>i&1 == 1 && !o.step.Duty().Quorum:
			n.hint |= bit
			m.emit(n, "op %d -> %s: a hint", i, placeName[p])
			return
		case m.one>>i&1 == 1 && !o.step.Duty().Quorum:
			n.one |= bit
			m.emit(n, "op %d -> %s at ONE", i, placeName[p])
			return
		}
		done := n
		m.send(&done, p, c, o.knows)
		m.emit(done, "op %d -> %s%s", i, placeName[p], m.inShards(p, c, o.knows))
		if m.late {
			n.ops[i] = operation{phase: unknown, knows: o.knows}
			n.late |= bit
			m.emit(n, "op %d: its message to %s is late, and the client waits no longer", i, placeName[p])
		}
	}
}

func (m *machine) messages(s state) {
	for _, set := range []struct {
		bits *uint8
		name string
	}{{&s.late, "late message"}, {&s.one, "repair"}, {&s.hint, "hint"}} {
		for b := *set.bits; b != 0; b &= b - 1 {
			k := bits.TrailingZeros8(b)
			was := *set.bits
			*set.bits &^= 1 << k
			n := s
			*set.bits = was
			m.send(&n, uint8(k&1), m.ops[k>>1], s.ops[k>>1].knows)
			m.emit(n, "%s of op %d -> %s", set.name, k>>1, placeName[k&1])
		}
	}
	for k, x := range s.strayed {
		if x.what != 0 {
			n := s
			n.strayed[k] = stray{}
			m.carry(&n, x.to, x.what, x.knows)
			m.emit(n, "a write %v of the %s -> %s, late", x.what, [2]string{"mover", "reader"}[k], placeName[x.to])
		}
	}
}

// resolve carries out an act of a program that makes places alike, by one who looks into the shards that a
// directory has. It returns what is written where, if anything.
func resolve(s *state, a Act, old, new *cell, d directory) (what cell, to uint8, write bool) {
	switch a {
	case LookOld:
		*old = s.merged(oldPlace, d)
	case LookNew:
		*new = s.merged(newPlace, d)
	case CopyNew:
		return *old, newPlace, old.live() && *old != *new
	case CopyOld:
		return *new, oldPlace, new.live() && *old != *new
	case DropOld:
		return *old | 1, oldPlace, old.live() && !new.live()
	case DropNew:
		if !new.live() || old.live() {
			return 0, 0, false
		}
		*new |= 1 // an answer is without it
		return *new, newPlace, true
	}
	return 0, 0, false
}

func (m *machine) move(s state) {
	if m.back && s.step.Revocable() && !s.back {
		n := s
		n.back = true
		m.emit(n, "the change is taken back")
	}
	if s.ended {
		m.finish(s)
		return
	}
	if s.mover.working {
		n := s
		n.mover = moverAt{}
		m.emit(n, "the mover crashes")
		m.work(s)
		return
	}
	c := m.change(&s)
	if s.step == None {
		n := s
		n.step, n.gen, n.knows = Announced, 1, s.log
		m.emit(n, "the mover publishes announced")
		return
	}
	if m.grace && s.step == Settled && !s.purged && s.strayed == [2]stray{} && s.late|s.one|s.hint == 0 {
		n := s
		n.purged = true
		if !n.place[newPlace].live() {
			n.place[newPlace] = nothing
		}
		m.emit(n, "tombstones of the new place are purged")
	}
	facts := Facts{Barrier: s.barrier(), Quiet: s.one == 0 && s.hint == 0}
	if facts.Vanished = !s.again && s.vanished(); facts.Vanished && s.step == Switched && !s.back {
		// A mover that has taken over may not know that a door vanished: both are explored.
		if todo, next := c.Next(facts); todo == Publish && next == Switching {
			n := s
			n.step, n.gen, n.done, n.again, n.knows = Switching, s.gen+1, false, true, s.log
			m.emit(n, "the mover publishes %v again: a door has vanished", next)
		}
		facts.Vanished = false
	}
	todo, next := c.Next(facts)
	switch todo {
	case Wait:
	case Publish:
		c, err := c.Publish(next)
		if err != nil {
			m.bad(s, err.Error(), "the mover publishes %v", next)
			return
		}
		n := s
		n.step, n.gen, n.done, n.knows = c.Step, int8(c.Generation), c.Done, s.log
		m.emit(n, "the mover publishes %v", next)
	case End:
		n := s
		n.ended = true
		m.emit(n, "the mover ends the change")
	default:
		if todo == Copy && m.rolls>>newPlace&1 == 1 && s.log[newPlace] != opened {
			m.firsts(s)
			return
		}
		s.mover = moverAt{working: true}
		m.work(s)
	}
}

// work carries out the mover's next act.
func (m *machine) work(s state) {
	c := m.change(&s)
	todo, _ := c.Next(Facts{Barrier: true, Quiet: true})
	program := todo.Program()
	switch {
	case m.tables && (todo == Clean || todo == Discard):
	case todo == Clean:
		s.put(oldPlace, deletion(20))
	case todo == Discard:
		s.put(newPlace, deletion(20))
	case todo == Publish || todo == Wait || todo == End: // it was taken back meanwhile
		s.mover = moverAt{}
		m.emit(s, "the mover leaves its work")
		return
	case todo == Sweep && s.purged && On(SweepWithinGrace):
		program = nil
	}
	if int(s.mover.act) >= len(program) {
		s.mover, s.done = moverAt{}, true
		m.emit(s, "the mover has done %v", todo)
		return
	}
	a := program[s.mover.act]
	s.mover.act++
	if todo.AtAll() && (a == LookOld || a == LookNew) {
		for b := s.one; b != 0; b &= b - 1 { // reading at ALL repairs what it reads
			k := bits.TrailingZeros8(b)
			if k&1 == int(oldPlace) == (a == LookOld) {
				s.one &^= 1 << k
				s.put(uint8(k&1), m.ops[k>>1])
			}
		}
	}
	what, to, write := resolve(&s, a, &s.mover.old, &s.mover.new, s.looked(todo))
	if write && what.live() {
		n := s
		if what, is := m.announce(&n, to, &n.mover.sub); is {
			n.mover.act--
			m.emit(n, "the mover %s", what)
			return
		}
		s.mover.sub = 0
	}
	if !write {
		m.emit(s, "the mover (%v): %v: old %v, new %v", todo, a, s.mover.old, s.mover.new)
		return
	}
	n := s
	m.carry(&n, to, what, s.knows)
	m.emit(n, "the mover (%v) writes %v to %s", todo, what, placeName[to])
	if m.late && s.strayed[0].what == 0 {
		n = s
		n.strayed[0], n.mover = stray{what, to, s.knows}, moverAt{}
		m.emit(n, "the mover (%v) dies; its write of %v to %s is late", todo, what, placeName[to])
	}
}

// finish judges the end, when nothing is under way any more.
func (m *machine) finish(s state) {
	if s.late|s.one|s.hint != 0 || s.strayed != [2]stray{} || s.read.active {
		return
	}
	for i := range m.ops {
		if s.ops[i].phase == idle || s.ops[i].phase == running {
			return
		}
	}
	at := uint8(newPlace)
	if s.step == Withdrawn {
		at = oldPlace
	}
	final, want := s.shown(at, s.log), m.first
	for i, o := range m.ops {
		if s.ops[i].phase == acknowledged {
			want = max(want, o)
		}
	}
	bad := ""
	deleted := false
	for i, o := range m.ops {
		deleted = deleted || !o.live() && o >= want && s.ops[i].phase == unknown
	}
	switch {
	case final.live() && final < want:
		bad = fmt.Sprintf("%v is shown, though %v was acknowledged", final, want)
	case !final.live() && want.live() && !deleted:
		bad = fmt.Sprintf("%v is lost", want)
	}
	m.out = append(m.out, event{what: "the end", to: s, bad: bad, end: true})
}
