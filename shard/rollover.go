// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"maps"
	"math"
	"slices"
)

// Fill says how much the writes of one shard may bring under Rollover before the doors go on to
// the next shard. The fields are targets, not limits.
type Fill struct {
	Rows  int64 // 0: not counted
	Bytes int64 // of keys and values; 0: not counted
}

// Part returns how much of a shard rows with so many bytes in all fill; 1: all of it.
func (f Fill) Part(rows, bytes int64) float64 {
	var out float64
	if f.Rows > 0 {
		out = float64(rows) / float64(f.Rows)
	}
	if f.Bytes > 0 {
		out = max(out, float64(bytes)/float64(f.Bytes))
	}
	return out
}

// Always is the opening of a shard to which cells of any time are copied. Every door knew the shard before
// the first cell was copied. A key can have such shards beside shard 1 if its table got strategy Rollover
// while it had rows.
const Always = math.MinInt64 + 1

// Opening says when writes may go to a shard of a key.
type Opening struct {
	From  int64 // microseconds: no cell of the shard has an earlier timestamp
	Open  bool  // doors may write to the shard: all of them read it
	Since int64 // microseconds: no client's cell has an earlier timestamp. Only copied cells have
}

// Rolled says how many shards the logical partitions of a table of strategy Rollover have. It is
// an immutable snapshot of the directory. nil says that every key has one shard.
//
// A shard has no cell with a timestamp before its opening. So a deletion with an earlier timestamp
// need not reach the shard. Shard 1 has no opening, and Always stands for none.
//
// Keys are in parts, by a hash. A new snapshot shares the parts that have not changed, so that its
// cost does not grow with the number of all keys.
type Rolled struct {
	parts   [rolledParts]*rolledPart // nil: no key
	highest int                      // the highest shard of any key
}

type rolledPart struct {
	openings map[string][]Opening // by serialized partition key: of shard 2, shard 3, and so on
}

const rolledParts = 1024

// partOf returns the part of a key, by FNV-1a.
func partOf[K []byte | string](key K) int {
	h := uint32(2166136261)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return int((h ^ h>>16) % rolledParts)
}

// of returns the openings of a key.
func (r *Rolled) of(key []byte) []Opening {
	if r == nil {
		return nil
	}
	if p := r.parts[partOf(key)]; p != nil {
		return p.openings[string(key)]
	}
	return nil
}

// Rolling makes a new snapshot from an older one and the new entries of the directory.
type Rolling struct {
	to    *Rolled
	fresh [rolledParts]bool // the parts that are not shared
}

// Next begins a snapshot that follows r.
func (r *Rolled) Next() *Rolling {
	to := &Rolled{highest: 1}
	if r != nil {
		*to = *r
	}
	return &Rolling{to: to}
}

// part returns the part of a key, to be changed.
func (n *Rolling) part(key string) *rolledPart {
	i := partOf(key)
	if !n.fresh[i] {
		p := &rolledPart{map[string][]Opening{}}
		if old := n.to.parts[i]; old != nil {
			p.openings = maps.Clone(old.openings)
		}
		n.to.parts[i], n.fresh[i] = p, true
	}
	return n.to.parts[i]
}

// Announce adds shard s of a key. It changes nothing if the key has that shard already. It returns
// false if the shard before is missing.
func (n *Rolling) Announce(key []byte, s int, from int64) bool {
	p := n.part(string(key))
	has := p.openings[string(key)]
	switch {
	case s > len(has)+2:
		return false
	case s == len(has)+2:
		p.openings[string(key)] = append(slices.Clip(has), Opening{From: from, Since: from})
		n.to.highest = max(n.to.highest, s)
	}
	return true
}

// Open marks shard s of a key open. It returns false if the shard was not announced.
func (n *Rolling) Open(key []byte, s int) bool {
	p := n.part(string(key))
	has := p.openings[string(key)]
	if s < 2 || s > len(has)+1 {
		return false
	}
	has = slices.Clone(has) // older snapshots have the slice
	has[s-2].Open = true
	p.openings[string(key)] = has
	return true
}

// OpenCopied marks shard s of a key open, to which cells of any time are copied. Clients' cells go there from
// the time since on. It returns false if no such shard was announced.
func (n *Rolling) OpenCopied(key []byte, s int, since int64) bool {
	p := n.part(string(key))
	has := p.openings[string(key)]
	if s < 2 || s > len(has)+1 || has[s-2].From != Always {
		return false
	}
	has = slices.Clone(has) // older snapshots have the slice
	has[s-2].Open, has[s-2].Since = true, since
	p.openings[string(key)] = has
	return true
}

// Done returns the snapshot. The caller must not use n afterwards.
func (n *Rolling) Done() *Rolled {
	if n.to.highest < 2 {
		return nil
	}
	return n.to
}

// Shards returns how many shards a key has.
func (r *Rolled) Shards(key []byte) int { return 1 + len(r.of(key)) }

// Current returns the last shard of a key to which clients' cells with a timestamp may be written.
func (r *Rolled) Current(key []byte, stamp int64) int {
	of := r.of(key)
	for i := len(of) - 1; i >= 0; i-- {
		if of[i].Open && of[i].Since <= stamp {
			return i + 2
		}
	}
	return 1
}

// Timeless returns the shards of a key that take copied cells of any time. Shard 1 is the first one. closed are
// those that are not open yet.
func (r *Rolled) Timeless(key []byte) (open, closed []int) {
	open = []int{1}
	for i, o := range r.of(key) {
		switch {
		case o.From != Always:
		case o.Open:
			open = append(open, i+2)
		default:
			closed = append(closed, i+2)
		}
	}
	return open, closed
}

// Last returns the last shard of a key that is open, now or later.
func (r *Rolled) Last(key []byte) int { return r.Current(key, math.MaxInt64) }

// Reached returns the shards of a key that can have cells which a deletion with a timestamp
// deletes.
func (r *Rolled) Reached(key []byte, stamp int64) []int {
	out := []int{1}
	for i, o := range r.of(key) {
		if o.From <= stamp {
			out = append(out, i+2)
		}
	}
	return out
}

// Earliest returns the earliest timestamp that a cell of a key's shard can have.
func (r *Rolled) Earliest(key []byte, n int) int64 {
	if of := r.of(key); n >= 2 && n <= len(of)+1 {
		return of[n-2].From
	}
	return math.MinInt64
}

// Since returns the earliest timestamp that a client's cell in a key's shard can have.
func (r *Rolled) Since(key []byte, n int) int64 {
	if of := r.of(key); n >= 2 && n <= len(of)+1 {
		return of[n-2].Since
	}
	return math.MinInt64
}

// last returns the highest shard of any key.
func (r *Rolled) last() int {
	if r == nil {
		return 0
	}
	return r.highest
}

// later calls f for each shard that a later snapshot has and r has not, and for each that is open
// in the later one only, until f returns false. It returns what f returned last.
func (r *Rolled) later(now *Rolled, f func(o Opening, known bool) bool) bool {
	if r == now || now == nil {
		return true
	}
	for i, p := range now.parts {
		if p == nil || r != nil && p == r.parts[i] {
			continue
		}
		for key, has := range p.openings {
			var had []Opening
			if r != nil && r.parts[i] != nil {
				had = r.parts[i].openings[key]
			}
			for i, o := range has {
				if known := i < len(had); (!known || had[i] != o) && !f(o, known) {
					return false
				}
			}
		}
	}
	return true
}

// Reads says whether a read that was planned on r has visited all shards that have rows, if the
// directory is now the later snapshot. Nobody writes to a shard that is not open.
func (r *Rolled) Reads(now *Rolled) bool {
	return r.later(now, func(o Opening, known bool) bool { return known || !o.Open })
}

// Deletes says whether deletions that were planned on r, with timestamps up to stamp, have reached
// all shards that can have what they delete, if the directory is now the later snapshot.
func (r *Rolled) Deletes(now *Rolled, stamp int64) bool {
	return r.later(now, func(o Opening, known bool) bool { return known || o.From > stamp })
}

// Equal says whether two snapshots are the same.
func (r *Rolled) Equal(o *Rolled) bool {
	if r == nil || o == nil || r == o {
		return r == o
	}
	for i, p := range r.parts {
		q := o.parts[i]
		if p != q && (p == nil || q == nil || !maps.EqualFunc(p.openings, q.openings, slices.Equal)) {
			return false
		}
	}
	return true
}
