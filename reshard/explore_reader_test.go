// SPDX-License-Identifier: Apache-2.0

package reshard

import "fmt"

// reader begins a read, and carries one on.
func (m *machine) reader(s state) {
	r := s.read
	if !r.active {
		if s.left == 0 {
			return
		}
		for d := range uint8(2) {
			if at := s.doors[d]; at.lease {
				n := s
				n.read = reader{active: true, door: d, step: at.step, gen: at.gen, want: m.want(&s), knows: at.knows}
				m.look(n)
			}
		}
		return
	}
	m.look(s)
}

// want is the newest that a read must show, or something newer.
func (m *machine) want(s *state) cell {
	c := m.first
	for i, o := range m.ops {
		// What was acknowledged at ONE or ANY is shown when replicas have it, and
		// what came by a hint of before the change, after the sweep: listed.
		if s.ops[i].phase == acknowledged && (s.one>>(2*i))&3 == 0 && m.any>>i&1 == 0 {
			c = max(c, o)
		}
	}
	return c
}

// look carries out the reader's next act that is seen from outside.
func (m *machine) look(s state) {
	program := s.read.step.Duty().Read
	for {
		r := &s.read
		a := program[r.act]
		if a == CopyNew && (r.old == r.new || !r.old.live() && !r.new.live()) {
			r.act = uint8(len(program) - 1) // the places do not differ
			a = program[r.act]
		}
		switch a {
		case AnswerOld:
			m.answer(s, r.old)
			return
		case AnswerNew:
			m.answer(s, r.new)
			return
		case LookOld, LookNew:
			r.act++
			if a == LookOld {
				r.old = s.shown(oldPlace, r.knows)
			} else {
				r.new = s.shown(newPlace, r.knows)
			}
			m.emit(s, "reader at door %d (%v): %v: old %v, new %v", r.door, r.step, a, r.old, r.new)
			return
		}
		what, to, write := resolve(&s, a, &r.old, &r.new, r.knows)
		if write && what.live() {
			n := s
			if what, is := m.announce(&n, to, &n.read.sub); is {
				m.emit(n, "reader at door %d %s", r.door, what)
				return
			}
			s.read.sub = 0
		}
		r.act++
		if !write {
			continue
		}
		n := s
		m.carry(&n, to, what, r.knows)
		m.emit(n, "reader at door %d writes %v to %s", r.door, what, placeName[to])
		if m.late && s.strayed[1].what == 0 {
			n = s
			n.strayed[1] = stray{what, to, r.knows}
			n.read = reader{}
			m.emit(n, "reader at door %d: its write of %v to %s is late", r.door, what, placeName[to])
		}
		return
	}
}

func (m *machine) answer(s state, c cell) {
	d := s.read.door
	lapsed, want, knows := s.read.lapsed, s.read.want, s.read.knows
	s.read = reader{}
	if lapsed && On(AnswerCounts) {
		m.emit(s, "reader at door %d: the lease is over, the read is done anew", d)
		return
	}
	if m.passesOver(knows, s.doors[d].knows) {
		m.emit(s, "reader at door %d: there is a further shard, the read is done anew", d)
		return
	}
	s.left--
	if c.live() {
		bad := ""
		if c.ts() < int(s.floor) {
			bad = fmt.Sprintf("the reader sees %v after timestamp %d", c, s.floor)
		}
		if bad == "" && c < want {
			bad = fmt.Sprintf("the reader sees %v, though %v was acknowledged before", c, want)
		}
		s.floor, s.seen = max(s.floor, int8(c.ts())), max(s.seen, int8(c.ts()))
		m.bad(s, bad, "reader at door %d is answered %v", d, c)
		return
	}
	// Nothing is shown: some deletion that has begun is not older than what was seen.
	explained := !m.first.live() && m.first.ts() >= int(s.seen)
	wanted := !want.live()
	for i, o := range m.ops {
		explained = explained || !o.live() && s.ops[i].phase != idle && o.ts() >= int(s.seen)
		wanted = wanted || !o.live() && s.ops[i].phase != idle && o >= want
		if !o.live() && s.ops[i].phase == acknowledged && o <= c {
			s.floor = max(s.floor, int8(o.ts()))
		}
	}
	bad := ""
	if s.seen > 0 && !explained {
		bad = fmt.Sprintf("the reader sees nothing after value@%d", s.seen)
	}
	if !wanted {
		bad = fmt.Sprintf("the reader sees nothing, though %v was acknowledged before", want)
	}
	m.bad(s, bad, "reader at door %d is answered nothing", d)
}
