// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// order counts how values follow each other. Within a batch each is compared with
// the one before; edges join the batches.
type order struct {
	up, down, same int64
	one            int64 // of up and down: integers one apart

	some  bool // in this batch
	class class
	first uint64
	last  uint64
	text  []byte // the last one, where it is a text
	cold  int    // batches that have been passed over, once there was no order
	skip  bool
}

// edge is the first and last value of a batch, as numbers that are in their order.
type edge struct {
	some        bool
	class       class
	first, last uint64

	// With the months of dates first, where they can be read so.
	others                bool
	otherFirst, otherLast uint64
}

// settled is when a text column's order is no longer looked at in each batch: so many
// steps up and as many down.
const settled = 10_000

func (o *order) begin() {
	o.some = false
	o.skip = false
	if o.up > settled && o.down > settled && o.class == isText {
		o.cold++
		o.skip = o.cold%16 != 0
	}
}

func (o *order) edge() edge { return edge{some: o.some, class: o.class, first: o.first, last: o.last} }

func (o *order) next(c class, n uint64) {
	if !o.some || c != o.class {
		o.some, o.class, o.first, o.last = true, c, n, n
		return
	}
	o.step(n)
}

func (o *order) step(n uint64) {
	switch d := int64(n - o.last); {
	case n > o.last:
		o.up++
		if d == 1 {
			o.one++
		}
	case n < o.last:
		o.down++
		if d == -1 {
			o.one++
		}
	default:
		o.same++
	}
	o.last = n
}

// nextText is for texts: the first eight bytes decide, mostly.
func (o *order) nextText(text []byte) {
	if o.skip {
		return
	}
	n := prefix(text)
	if !o.some || o.class != isText {
		o.some, o.class, o.first, o.last = true, isText, n, n
		o.text = append(o.text[:0], text[:min(len(text), shownBytes)]...)
		return
	}
	switch {
	case n > o.last:
		o.up++
	case n < o.last:
		o.down++
	default:
		switch bytes.Compare(text[:min(len(text), shownBytes)], o.text) {
		case 0:
			o.same++
			return
		case 1:
			o.up++
		case -1:
			o.down++
		}
	}
	o.last = n
	o.text = append(o.text[:0], text[:min(len(text), shownBytes)]...)
}

// prefix is the first eight bytes of a text as a number.
func prefix(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64(text)
	}
	var b [8]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:])
}

func (o *order) clone() order {
	out := *o
	out.text = bytes.Clone(o.text)
	return out
}

func (o *order) merge(p *order) {
	o.up += p.up
	o.down += p.down
	o.same += p.same
	o.one += p.one
}

// seams joins the edges of batches in the order of the data.
type seams struct {
	mu      sync.Mutex
	next    int
	waiting map[int][]edge
	last    []edge
	orders  []order
	others  []order  // with the months of dates first
	rows    []uint32 // of the batches
}

// put takes a batch's rows, and its edges, one a column.
func (s *seams) put(seq, rows int, edges []edge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.rows) <= seq {
		s.rows = append(s.rows, 0)
	}
	s.rows[seq] = uint32(rows)
	if s.waiting == nil {
		s.waiting = make(map[int][]edge)
	}
	s.waiting[seq] = append([]edge(nil), edges...)
	for {
		edges, ok := s.waiting[s.next]
		if !ok {
			return
		}
		delete(s.waiting, s.next)
		s.next++
		for len(s.last) < len(edges) {
			s.last, s.orders, s.others = append(s.last, edge{}), append(s.orders, order{}), append(s.others, order{})
		}
		for i, e := range edges {
			if !e.some {
				continue
			}
			if !e.others {
				e.otherFirst, e.otherLast = e.first, e.last
			}
			l := s.last[i]
			if l.some && l.class == e.class {
				s.orders[i].last = l.last
				s.orders[i].step(e.first)
				s.others[i].last = l.otherLast
				s.others[i].step(e.otherFirst)
			}
			s.last[i] = e
		}
	}
}

// starts are the rows before each batch, and all of them.
func (s *seams) starts() []int64 {
	out := make([]int64, len(s.rows)+1)
	for i, n := range s.rows {
		out[i+1] = out[i] + int64(n)
	}
	return out
}
