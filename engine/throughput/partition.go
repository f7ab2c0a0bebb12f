// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// partition is a range of positions. It ends at the beginning of the next partition.
type partition struct {
	from  []byte // nil: the first position
	born  nano
	bytes int64
	use   [ops]use
	keys  keys

	placed samples // samples of positions that grew

	// While the partition is hot: samples of the places of requests, in the first half of the time
	// until a split, and in the second half.
	early, late samples
	hotSince    nano // since when it refuses requests; 0: it does not
	hotLast     nano // the time of the last refusal
}

// use is the load of one operation on a partition.
type use struct {
	bucket       bucket
	units        windowed
	refused      windowed
	unitsTotal   float64
	refusedTotal int64
	ownTotal     int64 // the part of refusedTotal that this bucket refused
}

func (u *use) take(units float64, now nano) {
	u.units.add(units, now)
	u.unitsTotal += units
}

func (u *use) refuse(now nano) {
	u.refused.add(1, now)
	u.refusedTotal++
}

// windowed counts by whole seconds. The count of a second is known when the second is over.
type windowed struct {
	second        int64
	current, last float64
}

func (w *windowed) roll(now nano) {
	s := now / int64(second)
	if s == w.second {
		return
	}
	w.last = 0
	if s == w.second+1 {
		w.last = w.current
	}
	w.second, w.current = s, 0
}

func (w *windowed) add(x float64, now nano) {
	w.roll(now)
	w.current += x
}

func (m *Model) newPartition(now nano) *partition {
	p := &partition{born: now}
	for op := range ops {
		rate := m.limits.Partition.of(op)
		p.use[op].bucket = newBucket(rate, rate, now)
	}
	return p
}

// find returns the index of the partition that contains a position.
func (m *Model) find(position []byte) int {
	return sort.Search(len(m.partitions), func(i int) bool {
		return bytes.Compare(m.partitions[i].from, position) > 0
	}) - 1
}

// boundary returns the first position of a hash.
func boundary(hash uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(hash)) }

// hashOf returns the hash of a position. Missing bytes count as zeros, so it is 0 for nil.
func hashOf(from []byte) uint64 {
	var b [4]byte
	copy(b[:], from)
	return uint64(binary.BigEndian.Uint32(b[:]))
}

// hashes returns the hashes of a partition: the first one, and the end after the last one.
func (m *Model) hashes(i int) (from, to uint64) {
	to = 1 << 32
	if i+1 < len(m.partitions) {
		to = hashOf(m.partitions[i+1].from)
	}
	return hashOf(m.partitions[i].from), to
}

// samples are positions drawn from all that were offered. Each has the same chance.
type samples struct {
	keys []Key
	seen uint64
}

// samplesKept is the number of positions that are drawn.
const samplesKept = 256

func (s *samples) offer(k Key, draw uint64) {
	s.seen++
	if len(s.keys) < samplesKept {
		s.keys = append(s.keys, Key{Position: bytes.Clone(k.Position), Collection: k.Collection})
		return
	}
	if i := draw % s.seen; i < samplesKept {
		was := &s.keys[i]
		was.Position, was.Collection = append(was.Position[:0], k.Position...), k.Collection
	}
}

// place notes at which position the partition grew or shrank.
func (p *partition) place(k Key, n int64, draw uint64) {
	p.bytes = max(0, p.bytes+n)
	if n > 0 {
		p.placed.offer(k, draw)
	}
}
