// SPDX-License-Identifier: Apache-2.0

package run

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// paced is the directory for a read of one partition that wants a number of rows.
type paced struct {
	plan.Directory
	want, rows int // how many rows are wanted (0: not known), and how many have been read
	known      pace
	read       int // how many buckets were read before the present run
}

// More implements plan.Paced.
func (p *paced) More(read int) int {
	if p.read = read; read == 0 {
		return timebucket.Expected(p.want, p.known.rows, p.known.buckets)
	}
	return timebucket.Expected(p.want-p.rows, p.rows, read)
}

// pace says in how many buckets a read found its rows. The zero value says nothing.
type pace struct{ rows, buckets int }

// paces has the paces of the latest reads of logical partitions, by a hash of the partition. Partitions with
// equal hashes share a pace. A wrong pace makes a read slower, and changes nothing else.
type paces [1 << 12]atomic.Uint64

var paceSeed = maphash.MakeSeed()

// of returns the place of a partition's pace.
func (p *paces) of(t *plan.Table, key [][]byte) *atomic.Uint64 {
	var h maphash.Hash
	h.SetSeed(paceSeed)
	id := t.PhysicalID()
	_, _ = h.Write(id[:])
	for _, k := range key {
		_, _ = h.Write(k)
	}
	return &p[h.Sum64()%uint64(len(p))]
}

// paceIn returns the pace in a place.
func paceIn(at *atomic.Uint64) pace {
	both := at.Load()
	return pace{int(both >> 32), int(both & (1<<32 - 1))}
}

// after returns the pace after a read that found rows in a number of buckets. If one bucket had all rows, it can
// have more than the read wanted. So such a read says nothing, unless the bucket has more rows than expected.
func (p pace) after(rows, buckets int) pace {
	switch {
	case rows == 0 || buckets == 1 && rows*p.buckets <= p.rows:
		return p
	case buckets == 1:
		return pace{}
	}
	return pace{rows, buckets}
}

// learn notes the pace of a read in a place.
func (p pace) learn(at *atomic.Uint64, rows, buckets int) {
	if next := p.after(rows, buckets); next != p {
		at.Store(uint64(next.rows)<<32 | uint64(next.buckets))
	}
}
