// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// order counts how values follow each other. Within a batch it compares each value with the one
// before. Edges join the batches.
type order struct {
	up, down, same int64
	one            int64 // of up and down: integers that differ by one

	some  bool // a value came in this batch
	class class
	first uint64
	last  uint64
	text  []byte // the last value, if it is a text
	cold  int    // batches since the column proved to have no order
	skip  bool
}

// edge holds the first and last value of a batch, as numbers that sort as the values do.
type edge struct {
	some        bool
	class       class
	first, last uint64

	// These are the values with the month of dates first, if they can be read so.
	others                bool
	otherFirst, otherLast uint64
}

// settled is the number of steps up, and also down, after which a text column's order is no longer
// examined in each batch.
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

// nextText takes a text. Mostly, its first eight bytes decide.
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

// prefix returns the first eight bytes of a text as a number.
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
	others  []order  // with the month of dates first
	rows    []uint32 // by batch
}

// put takes a batch's rows and edges, one edge for each column.
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

// starts returns the number of rows before each batch, and at its end the number of all rows.
func (s *seams) starts() []int64 {
	out := make([]int64, len(s.rows)+1)
	for i, n := range s.rows {
		out[i+1] = out[i] + int64(n)
	}
	return out
}
