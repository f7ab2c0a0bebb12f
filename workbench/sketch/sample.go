// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"iter"
	"math"
	"slices"
	"unsafe"
)

// Sample keeps some of the keys, chosen by hash, from their first row on. T is what the caller
// keeps for each.
type Sample[T any] struct {
	size  int
	room  *Room  // nil: the sample does not grow beyond size
	rows  int    // rows that came, if the sample is in a room
	limit uint64 // hashes above are not kept
	keys  []sampled[T]
	index index
}

type sampled[T any] struct {
	hash uint64
	of   T
}

// NewSample makes a sample of up to size keys. Once more keys came, it keeps about 7/8 of size or
// more.
func NewSample[T any](size int) *Sample[T] {
	first := min(size, 256)
	return &Sample[T]{size: size, limit: math.MaxUint64, keys: make([]sampled[T], 0, first), index: newIndex(first)}
}

// NewSampleIn makes a sample of up to size keys. It keeps more while the shared room has memory
// left.
func NewSampleIn[T any](r *Room, size int) *Sample[T] {
	s := NewSample[T](size)
	s.room = r
	r.tenants = append(r.tenants, s)
	return s
}

// slotBytes is about what the index takes for a key.
const slotBytes = 12

func (s *Sample[T]) bytes() int { return s.size * (int(unsafe.Sizeof(sampled[T]{})) + slotBytes) }

// shrink gives up half of the size.
func (s *Sample[T]) shrink() {
	s.size /= 2
	for len(s.keys) >= s.size && s.limit > leastLimit {
		s.lower()
	}
	s.keys = append(make([]sampled[T], 0, s.size), s.keys...)
	s.index = newIndex(s.size)
	s.reindex()
}

// Add returns what is kept for a key, for the caller to change; nil: the key is not kept. For a new
// key it is zero. The pointer is valid until the next Add.
func (s *Sample[T]) Add(hash uint64) *T {
	if hash > s.limit {
		return nil
	}
	s.rows++
	return s.kept(hash)
}

// Beyond oncePerRow keys, only a sample whose keys repeat takes more room: keys of one row each are
// all alike, and a few of them say as much as all.
const (
	oncePerRow = 16 << 10
	againTimes = 1.25
)

func (s *Sample[T]) repeats() bool {
	return s.size < oncePerRow || float64(s.rows) >= againTimes*float64(len(s.keys))
}

// Clone returns a copy, which shares what a T points to.
func (s *Sample[T]) Clone() *Sample[T] {
	out := *s
	out.room = nil
	out.keys, out.index.places = append(make([]sampled[T], 0, cap(s.keys)), s.keys...), slices.Clone(s.index.places)
	return &out
}

func (s *Sample[T]) kept(hash uint64) *T {
	if i := s.place(hash); i >= 0 {
		return &s.keys[i].of
	}
	if len(s.keys) == s.size && s.room != nil && (s.room.Free || s.repeats()) && s.room.more(s) {
		s.size *= 2
	}
	if len(s.keys) == s.size {
		s.thin()
		if hash > s.limit {
			return nil
		}
		return s.kept(hash)
	}
	if len(s.keys) == cap(s.keys) {
		s.keys = append(make([]sampled[T], 0, min(2*cap(s.keys), s.size)), s.keys...)
		s.reindex()
	}
	s.keys = append(s.keys, sampled[T]{hash: hash})
	s.index.put(hash, len(s.keys))
	return &s.keys[len(s.keys)-1].of
}

// leastLimit is the limit below which a sample is not thinned.
const leastLimit = 1 << 10

// lower keeps about seven of eight keys. All samples lower their limits by the same steps, so that
// the limit of merged samples is that of one of them.
func (s *Sample[T]) lower() {
	s.limit -= s.limit >> 3
	s.rows -= s.rows >> 3
	s.keys = slices.DeleteFunc(s.keys, func(k sampled[T]) bool { return k.hash > s.limit })
}

// thin makes room for at least one key.
func (s *Sample[T]) thin() {
	for len(s.keys) == s.size && s.limit > leastLimit {
		s.lower()
	}
	s.reindex()
}

func (s *Sample[T]) reindex() {
	if len(s.index.places) < 2*cap(s.keys) {
		s.index = newIndex(cap(s.keys))
	} else {
		s.index.clear()
	}
	for i := range s.keys {
		s.index.put(s.keys[i].hash, i+1)
	}
}

// Merge adds the keys of another sample, of other rows. join adds what the other keeps for a key to
// what is kept here, which is zero for a new key.
func (s *Sample[T]) Merge(other *Sample[T], join func(into, from *T)) {
	if s.limit > other.limit {
		s.limit = other.limit
		s.keys = slices.DeleteFunc(s.keys, func(k sampled[T]) bool { return k.hash > s.limit })
		s.reindex()
	}
	s.rows += max(0, other.rows-len(other.keys))
	for i := range other.keys {
		if of := s.Add(other.keys[i].hash); of != nil {
			join(of, &other.keys[i].of)
		}
	}
}

// All returns the hashes of the kept keys and what is kept for them, in the order in which they
// came.
func (s *Sample[T]) All() iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		for i := range s.keys {
			if !yield(s.keys[i].hash, &s.keys[i].of) {
				return
			}
		}
	}
}

// Len returns the number of kept keys.
func (s *Sample[T]) Len() int { return len(s.keys) }

// Find returns what is kept for a key, or nil.
func (s *Sample[T]) Find(hash uint64) *T {
	if i := s.place(hash); i >= 0 {
		return &s.keys[i].of
	}
	return nil
}

// place returns where a key is in keys; -1: it is not kept.
func (s *Sample[T]) place(hash uint64) int {
	tag := tagOf(hash)
	for i := hash & s.index.mask; ; i = (i + 1) & s.index.mask {
		p := s.index.places[i]
		if p == 0 {
			return -1
		}
		if p&^maxSlot == tag && s.keys[p&maxSlot-1].hash == hash {
			return int(p&maxSlot) - 1
		}
	}
}

// Exact reports whether all keys are kept.
func (s *Sample[T]) Exact() bool { return s.limit == math.MaxUint64 }

// Share returns the chance with which a key is kept.
func (s *Sample[T]) Share() float64 { return math.Ldexp(float64(s.limit), -64) }
