// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// stripeCount is the number of locks. Each item belongs to one of them. A write holds its locks
// from its first read until it is visible, but not while it waits for the disk. A write that
// needs several locks takes them in ascending order.
const stripeCount = 1024

type stripes struct {
	seed  maphash.Seed
	once  sync.Once
	locks [stripeCount]stripe
}

type stripe struct {
	sync.Mutex
	unsynced atomic.Int64 // writes that are visible and not yet durable
	_        [48]byte     // keeps stripes in different cache lines
}

// of returns the stripe of an item's key.
func (s *stripes) of(key []byte) uint16 {
	s.once.Do(func() { s.seed = maphash.MakeSeed() })
	return uint16(maphash.Bytes(s.seed, key) % stripeCount)
}

// held holds locked stripes.
type held struct {
	stripes *stripes
	indexes []uint16 // ascending, each once
	room    [1]uint16
	locked  bool
}

// lock locks the stripe of one key.
func (h *held) lock(s *stripes, key []byte) {
	h.room[0] = s.of(key)
	h.take(s, h.room[:])
}

// lockAll locks the stripes of keys.
func (h *held) lockAll(s *stripes, keys [][]byte) {
	indexes := make([]uint16, 0, len(keys))
	for _, k := range keys {
		indexes = append(indexes, s.of(k))
	}
	slices.Sort(indexes)
	h.take(s, slices.Compact(indexes))
}

func (h *held) take(s *stripes, indexes []uint16) {
	h.stripes, h.indexes, h.locked = s, indexes, true
	for _, i := range h.indexes {
		s.locks[i].Lock()
	}
}

// unlock unlocks the stripes. It may be called twice.
func (h *held) unlock() {
	if !h.locked {
		return
	}
	h.locked = false
	for _, i := range h.indexes {
		h.stripes.locks[i].Unlock()
	}
}

// addUnsynced changes the number of writes that are visible and not yet durable.
func (h *held) addUnsynced(n int64) {
	for _, i := range h.indexes {
		h.stripes.locks[i].unsynced.Add(n)
	}
}

// unsynced reports whether data read under the locks may not be durable yet.
func (h *held) unsynced() bool {
	for _, i := range h.indexes {
		if h.stripes.locks[i].unsynced.Load() != 0 {
			return true
		}
	}
	return false
}
