// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// partition is a range of positions, up to where the next one begins.
type partition struct {
	from  []byte // nil: the first
	born  nano
	bytes int64
	use   [ops]use
	keys  keys

	placed samples // of positions that grew

	// While it is hot: where requests go, in the first half of the time that it takes
	// to a split, and in the second.
	early, late samples
	hotSince    nano // since when it refuses; 0: it does not
	hotLast     nano // when it refused last
}

// use is what an operation takes of a partition.
type use struct {
	bucket       bucket
	units        windowed
	refused      windowed
	unitsTotal   float64
	refusedTotal int64
	ownTotal     int64 // of those, for the bucket's sake
}

func (u *use) take(units float64, now nano) {
	u.units.add(units, now)
	u.unitsTotal += units
}

func (u *use) refuse(now nano) {
	u.refused.add(1, now)
	u.refusedTotal++
}

// windowed counts by whole seconds: what the last one had is known when it is over.
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

// find returns the partition that has a position.
func (m *Model) find(position []byte) int {
	return sort.Search(len(m.partitions), func(i int) bool {
		return bytes.Compare(m.partitions[i].from, position) > 0
	}) - 1
}

// boundary is the first position of a hash.
func boundary(hash uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(hash)) }

// hashOf is the hash that a position has, or the end of all where there is none.
func hashOf(from []byte) uint64 {
	var b [4]byte
	copy(b[:], from)
	return uint64(binary.BigEndian.Uint32(b[:]))
}

// hashes are the hashes that a partition has: from the first to before the last.
func (m *Model) hashes(i int) (from, to uint64) {
	to = 1 << 32
	if i+1 < len(m.partitions) {
		to = hashOf(m.partitions[i+1].from)
	}
	return hashOf(m.partitions[i].from), to
}

// samples are positions drawn of all that were offered, each equally likely.
type samples struct {
	keys []Key
	seen uint64
}

// samplesKept is how many positions are drawn.
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

// place notes where the partition's bytes are.
func (p *partition) place(k Key, n int64, draw uint64) {
	p.bytes = max(0, p.bytes+n)
	if n > 0 {
		p.placed.offer(k, draw)
	}
}
