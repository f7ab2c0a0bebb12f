// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Pace records in how many buckets a read found its rows. The zero value means that nothing is known.
type Pace struct{ Rows, Buckets int }

// Paced is the directory for a read of one partition that wants a number of rows.
type Paced struct {
	plan.Directory
	Want, Rows int // how many rows are wanted (0: not known), and how many have been read
	Known      Pace
	Read       int // how many buckets were read before the present run
}

// More implements plan.Paced.
func (p *Paced) More(read int) int {
	if p.Read = read; read == 0 {
		return timebucket.Expected(p.Want, p.Known.Rows, p.Known.Buckets)
	}
	return timebucket.Expected(p.Want-p.Rows, p.Rows, read)
}

// Latest holds notes of the latest reads of logical partitions. They help the next reads. A hash of the partition
// chooses the place of its notes, so partitions with equal hashes share a place.
type Latest [1 << 12]Place

// Place holds the notes of one read. If they are wrong, the next read is slower, and nothing else changes.
type Place struct {
	pace atomic.Uint64
	List atomic.Pointer[BucketList]
}

var latestSeed = maphash.MakeSeed()

// Of returns the place of a partition.
func (l *Latest) Of(t *plan.Table, key [][]byte) *Place {
	var scratch [128]byte
	return &l[maphash.Bytes(latestSeed, partitionName(scratch[:0], t, key))%uint64(len(l))]
}

// Known returns the pace in a place.
func (at *Place) Known() Pace {
	both := at.pace.Load()
	return Pace{int(both >> 32), int(both & (1<<32 - 1))}
}

// after returns the pace after a read that found rows in a number of buckets. If the read found all its rows in one
// bucket, that bucket can have further rows. So the old pace stays, unless the bucket has more rows than the old pace
// expects.
func (p Pace) after(rows, buckets int) Pace {
	switch {
	case rows == 0 || buckets == 1 && rows*p.Buckets <= p.Rows:
		return p
	case buckets == 1:
		return Pace{}
	}
	return Pace{rows, buckets}
}

// Learn computes the pace after a read, and notes it in a place.
func (p Pace) Learn(at *Place, rows, buckets int) {
	if next := p.after(rows, buckets); next != p {
		at.Note(next)
	}
}

// Note sets the pace in a place.
func (at *Place) Note(p Pace) { at.pace.Store(uint64(p.Rows)<<32 | uint64(p.Buckets)) }
