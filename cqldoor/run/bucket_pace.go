// SPDX-License-Identifier: Apache-2.0

package run

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// pace records in how many buckets a read found its rows. The zero value means that nothing is known.
type pace struct{ rows, buckets int }

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

// latest holds notes of the latest reads of logical partitions. They help the next reads. A hash of the partition
// chooses the place of its notes, so partitions with equal hashes share a place.
type latest [1 << 12]place

// place holds the notes of one read. If they are wrong, the next read is slower, and nothing else changes.
type place struct {
	pace atomic.Uint64
	list atomic.Pointer[bucketList]
}

var latestSeed = maphash.MakeSeed()

// of returns the place of a partition.
func (l *latest) of(t *plan.Table, key [][]byte) *place {
	var scratch [128]byte
	return &l[maphash.Bytes(latestSeed, partitionName(scratch[:0], t, key))%uint64(len(l))]
}

// known returns the pace in a place.
func (at *place) known() pace {
	both := at.pace.Load()
	return pace{int(both >> 32), int(both & (1<<32 - 1))}
}

// after returns the pace after a read that found rows in a number of buckets. If the read found all its rows in one
// bucket, that bucket can have further rows. So the old pace stays, unless the bucket has more rows than the old pace
// expects.
func (p pace) after(rows, buckets int) pace {
	switch {
	case rows == 0 || buckets == 1 && rows*p.buckets <= p.rows:
		return p
	case buckets == 1:
		return pace{}
	}
	return pace{rows, buckets}
}

// learn computes the pace after a read, and notes it in a place.
func (p pace) learn(at *place, rows, buckets int) {
	if next := p.after(rows, buckets); next != p {
		at.note(next)
	}
}

// note sets the pace in a place.
func (at *place) note(p pace) { at.pace.Store(uint64(p.rows)<<32 | uint64(p.buckets)) }
