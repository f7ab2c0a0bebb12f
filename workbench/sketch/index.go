// SPDX-License-Identifier: Apache-2.0

package sketch

// index finds the slot of a hash: open addressing with linear probing. Slots are numbered from 1; 0
// is a free place. A place has a slot and eight bits of its hash. With these bits, a search looks
// at few keys of other hashes, which lie anywhere in memory.
type index struct {
	places []uint32
	mask   uint64
}

const (
	slotBits = 24
	maxSlot  = 1<<slotBits - 1
)

// tagOf returns the bits of a hash that a place holds, in their position in the place. These bits
// neither choose the place nor decide whether a sample keeps a key.
func tagOf(hash uint64) uint32 { return uint32(hash>>40) << slotBits }

// newIndex makes an index for up to n slots.
func newIndex(n int) index {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return index{places: make([]uint32, size), mask: uint64(size - 1)}
}

func (x *index) clear() { clear(x.places) }

// put adds a slot whose hash is not in the index.
func (x *index) put(hash uint64, slot int) {
	if slot > maxSlot {
		panic("sketch: more keys than places have numbers for")
	}
	i := hash & x.mask
	for x.places[i] != 0 {
		i = (i + 1) & x.mask
	}
	x.places[i] = tagOf(hash) | uint32(slot)
}
