// SPDX-License-Identifier: Apache-2.0

package sketch

// index finds the slot of a hash: open addressing with linear probing. Slots are
// numbered from 1; 0 is a free place.
type index struct {
	slots []int32
	mask  uint64
}

// newIndex is for up to n slots.
func newIndex(n int) index {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return index{slots: make([]int32, size), mask: uint64(size - 1)}
}

func (x *index) clear() { clear(x.slots) }

// put adds a slot whose hash is not there.
func (x *index) put(hash uint64, slot int32) {
	i := hash & x.mask
	for x.slots[i] != 0 {
		i = (i + 1) & x.mask
	}
	x.slots[i] = slot
}
