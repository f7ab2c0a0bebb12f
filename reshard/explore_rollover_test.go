// SPDX-License-Identifier: Apache-2.0

package reshard

// This file explores places of strategy rollover. Such a place has two shards here. The first one is always there.
// A directory has the second one. Clients' cells go there if they are of scene.opens or later. In the old place a
// door begins the second shard, at any moment, and it has no other cells. In the new place it is one of the shards
// with which the key begins. The mover begins it, and copies cells of any time there. So all deletions visit it.

// directory says by place how far the second shard is.
type directory [2]uint8

const (
	missing uint8 = iota
	closed        // announced: readers and deletions visit it
	opened        // writers use it
)

// merged returns what a place has, for one who knows a directory: the newest value of all shards. A deletion in
// one shard hides nothing in another one.
func (s *state) merged(p uint8, d directory) cell {
	a, b := s.place[p], s.further[p]
	switch {
	case d[p] == missing || a.live() && !b.live():
		return a
	case b.live() && !a.live():
		return b
	}
	return max(a, b)
}

// in returns the shards of a place in which one who knows a directory puts a client's cell.
func (m *machine) in(p uint8, c cell, d directory) (first, second bool) {
	if c.live() {
		second = d[p] == opened && c.ts() >= m.opens
		return !second, second
	}
	return true, d[p] != missing && (p == newPlace || c.ts() >= m.opens)
}

func (m *machine) inShards(p uint8, c cell, d directory) string {
	if m.rolls>>p&1 == 0 {
		return ""
	}
	switch first, second := m.in(p, c, d); {
	case first && second:
		return ", shards 1 and 2"
	case second:
		return ", shard 2"
	}
	return ", shard 1"
}

// send puts what a client writes into a place.
func (m *machine) send(s *state, p uint8, c cell, d directory) {
	first, second := m.in(p, c, d)
	if first {
		s.put(p, c)
	}
	if second {
		s.further[p] = max(s.further[p], c)
	}
}

// carry puts a copy or a drop into a place. A copy goes to a shard that takes cells of any time.
func (m *machine) carry(s *state, p uint8, c cell, d directory) {
	switch {
	case !c.live():
		m.send(s, p, c, d)
	case p == newPlace && d[p] == opened:
		s.further[p] = max(s.further[p], c)
	default:
		s.put(p, c)
	}
}

// early says whether a deletion cannot begin at a door yet. When the clock comes to the opening of a shard, each
// door knows the shard.
func (m *machine) early(c cell, d directory) bool {
	for p := range uint8(2) {
		late := p == newPlace && !On(FirstsWhenKnown) // the clock may come to the opening before each door knows the shard
		if m.rolls>>p&1 == 1 && !c.live() && c.ts() >= m.opens && d[p] == missing && !late {
			return true
		}
	}
	return false
}

// misses says whether a deletion that was planned by a directory has missed a shard which the door knows now.
func (m *machine) misses(c cell, planned, now directory) bool {
	for p := range uint8(2) {
		if _, second := m.in(p, c, now); !c.live() && planned[p] == missing && second {
			return true
		}
	}
	return false
}

// passesOver says whether a read that was planned by a directory has missed a shard that can have cells now.
func (m *machine) passesOver(planned, now directory) bool {
	for p := range uint8(2) {
		if planned[p] == missing && now[p] == opened {
			return true
		}
	}
	return false
}

// shards changes the directory, and has doors read it.
func (m *machine) shards(s state) {
	if m.rolls == 0 {
		return
	}
	if m.rolls>>oldPlace&1 == 1 {
		n := s
		known := true
		for d := range s.doors {
			known = known && (!s.doors[d].lease || s.doors[d].knows[oldPlace] != missing)
		}
		switch {
		case s.log[oldPlace] == missing:
			n.log[oldPlace] = closed
			m.emit(n, "a door announces the second shard of old")
		case s.log[oldPlace] == closed && known:
			n.log[oldPlace] = opened
			m.emit(n, "a door opens the second shard of old")
		}
	}
	for d := range s.doors {
		if s.doors[d].lease && s.doors[d].knows != s.log {
			n := s
			n.doors[d].knows = s.log
			m.emit(n, "door %d reads the directory: %v", d, s.log)
		}
	}
}

// firsts carries out what the mover does before it copies to a place of strategy rollover.
func (m *machine) firsts(s state) {
	switch {
	case s.log[newPlace] == missing:
		s.log[newPlace] = closed
		m.emit(s, "the mover announces the second shard of new")
	case !s.told && On(FirstsWhenKnown):
		s.gen++
		s.told, s.knows = true, s.log
		m.emit(s, "the mover publishes the same step again")
	default:
		s.log[newPlace] = opened
		s.knows = s.log
		m.emit(s, "the mover opens the second shard of new")
	}
}

// looked returns the directory of the shards into which the mover looks. When it copies or sweeps it scans all.
func (s *state) looked(todo Work) directory {
	if todo == Verify && !On(LookAtWritten) {
		return s.knows
	}
	return s.log
}
