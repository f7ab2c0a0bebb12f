// SPDX-License-Identifier: Apache-2.0

package sketch

import (
	"cmp"
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
	level int    // limit is 2^(64-level) - 1
	keys  []sampled[T]
	index index
}

type sampled[T any] struct {
	hash uint64
	of   T
}

// NewSample makes a sample of up to size keys. Once more keys came, it keeps more than half of
// size.
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
	s.rows /= 2
	for len(s.keys) >= s.size && s.level < 63 {
		s.level++
		s.limit >>= 1
		s.keys = slices.DeleteFunc(s.keys, func(k sampled[T]) bool { return k.hash > s.limit })
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
	tag := tagOf(hash)
	for i := hash & s.index.mask; ; i = (i + 1) & s.index.mask {
		p := s.index.places[i]
		if p == 0 {
			break
		}
		if p&^maxSlot != tag {
			continue
		}
		if k := &s.keys[p&maxSlot-1]; k.hash == hash {
			return &k.of
		}
	}
	if len(s.keys) == s.size && s.room != nil && (s.room.Free || s.repeats()) && s.room.more(s) {
		s.size *= 2
	}
	if len(s.keys) == s.size {
		s.halve()
		if hash > s.limit {
			return nil
		}
		return s.kept(hash)
	}
	if len(s.keys) == cap(s.keys) {
		s.keys = slices.Grow(s.keys, min(cap(s.keys), s.size-cap(s.keys)))
		s.reindex()
	}
	s.keys = append(s.keys, sampled[T]{hash: hash})
	s.index.put(hash, len(s.keys))
	return &s.keys[len(s.keys)-1].of
}

// halve keeps about every second key.
func (s *Sample[T]) halve() {
	for len(s.keys) == s.size && s.level < 63 {
		s.level++
		s.limit >>= 1
		s.rows /= 2
		s.keys = slices.DeleteFunc(s.keys, func(k sampled[T]) bool { return k.hash > s.limit })
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
	if s.level < other.level {
		s.level, s.limit = other.level, other.limit
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

// Kept is a key that is kept.
type Kept[T any] struct {
	Hash uint64
	Of   *T
}

// Keys returns the kept keys, in the order of their hashes.
func (s *Sample[T]) Keys() []Kept[T] {
	list := make([]Kept[T], len(s.keys))
	for i := range s.keys {
		list[i] = Kept[T]{s.keys[i].hash, &s.keys[i].of}
	}
	slices.SortFunc(list, func(a, b Kept[T]) int { return cmp.Compare(a.Hash, b.Hash) })
	return list
}

// Exact reports whether all keys are kept.
func (s *Sample[T]) Exact() bool { return s.level == 0 }

// Share returns the chance with which a key is kept: 1, 1/2, 1/4 …
func (s *Sample[T]) Share() float64 { return math.Ldexp(1, -s.level) }
