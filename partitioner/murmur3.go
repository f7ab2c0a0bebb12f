// SPDX-License-Identifier: Apache-2.0

package partitioner

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// These bound Murmur3 tokens. No key has MinToken except the empty one: it is the start of the
// ring.
const (
	MinToken int64 = math.MinInt64
	MaxToken int64 = math.MaxInt64
)

const (
	c1 = 0x87c37b91114253d5
	c2 = 0x4cf5ad432745937f
)

// Murmur3 returns the token of a key under Murmur3Partitioner: the first half of
// the 128-bit x64 MurmurHash3 with seed 0, its tail bytes sign-extended. The
// token of the empty key is MinToken.
func Murmur3(key []byte) int64 {
	if len(key) == 0 {
		return MinToken
	}
	t := int64(Hash(key))
	if t == MinToken {
		return MaxToken
	}
	return t
}

// Hash returns the hash under Murmur3 before it is turned into a token.
func Hash(key []byte) uint64 {
	var h1, h2 uint64
	n := len(key)
	for len(key) >= 16 {
		k1 := binary.LittleEndian.Uint64(key)
		k2 := binary.LittleEndian.Uint64(key[8:])
		key = key[16:]

		h1 ^= mix1(k1)
		h1 = bits.RotateLeft64(h1, 27) + h2
		h1 = h1*5 + 0x52dce729

		h2 ^= mix2(k2)
		h2 = bits.RotateLeft64(h2, 31) + h1
		h2 = h2*5 + 0x38495ab5
	}
	if len(key) > 8 {
		h2 ^= mix2(tail(key[8:]))
		key = key[:8]
	}
	if len(key) > 0 {
		h1 ^= mix1(tail(key))
	}
	h1 ^= uint64(n)
	h2 ^= uint64(n)
	h1 += h2
	h2 += h1
	h1 = finish(h1)
	h2 = finish(h2)
	return h1 + h2
}

// tail packs up to eight bytes little-endian, as Java does. Each byte is signed and widened
// before it is shifted, so a byte of 0x80 or more flips all bits above it.
func tail(b []byte) (k uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		k ^= uint64(int64(int8(b[i]))) << (8 * i)
	}
	return k
}

func mix1(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
func mix2(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

func finish(k uint64) uint64 {
	k ^= k >> 33
	k *= 0xff51afd7ed558ccd
	k ^= k >> 33
	k *= 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
