// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
)

// Every partition belongs to one of a fixed number of locks. Ordinary batches hold the locks of
// their partitions shared, while they are applied in memory (not during the fsync). Operations that
// read before they write (guards, counters, the sweep) hold them exclusively. A caller that needs
// several locks takes them in ascending order.
const stripeCount = 1024

type stripes [stripeCount]stripe

type stripe struct {
	sync.RWMutex
	unsynced atomic.Int64 // batches applied here and not yet durable
	swept    *sweptPartition
	_        [24]byte
}

// sweptPartition is the partition whose deletions the sweep is about to remove (sweep.go). The
// pointer is written under the exclusive lock.
type sweptPartition struct {
	table     *tableState
	token     int64
	timestamp int64       // the highest one of the deletions
	touched   atomic.Bool // since then, something was written that they would delete
}

// partRef is a partition that a batch writes to.
type partRef struct {
	table   *tableState
	token   int64
	stripe  uint32
	minimum int64 // the lowest timestamp of the written data that may be shadowed
}

func stripeOf(id *[16]byte, token int64) uint32 {
	h := (uint64(token) ^ binary.LittleEndian.Uint64(id[:8])) * 0x9e3779b97f4a7c15
	return uint32(h >> (64 - 10))
}

// sortRefs orders refs for locking.
func sortRefs(refs []partRef) {
	if len(refs) > 1 {
		slices.SortFunc(refs, func(a, b partRef) int { return cmp.Compare(a.stripe, b.stripe) })
	}
}

// lockRefs locks the stripes of the sorted refs, each once.
func (s *stripes) lockRefs(refs []partRef, exclusive bool) {
	for i := range refs {
		if i > 0 && refs[i].stripe == refs[i-1].stripe {
			continue
		}
		if exclusive {
			s[refs[i].stripe].Lock()
		} else {
			s[refs[i].stripe].RLock()
		}
	}
}

func (s *stripes) unlockRefs(refs []partRef, exclusive bool) {
	for i := range refs {
		if i > 0 && refs[i].stripe == refs[i-1].stripe {
			continue
		}
		if exclusive {
			s[refs[i].stripe].Unlock()
		} else {
			s[refs[i].stripe].RUnlock()
		}
	}
}

func (s *stripes) lockAll() {
	for i := range s {
		s[i].Lock()
	}
}

func (s *stripes) unlockAll() {
	for i := range s {
		s[i].Unlock()
	}
}

// markSwept tells a running sweep that a batch wrote data that the deletions of the swept partition
// would delete. The caller has locked the refs.
func (s *stripes) markSwept(refs []partRef) {
	for i := range refs {
		r := &refs[i]
		if p := s[r.stripe].swept; p != nil && p.table == r.table && p.token == r.token && r.minimum <= p.timestamp {
			p.touched.Store(true)
		}
	}
}

// unsyncedRefs adds to the refs' counts of batches that are not yet durable.
func (s *stripes) unsyncedRefs(refs []partRef, n int64) {
	for i := range refs {
		s[refs[i].stripe].unsynced.Add(n)
	}
}
