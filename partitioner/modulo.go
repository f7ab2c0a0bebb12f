// SPDX-License-Identifier: Apache-2.0

package partitioner

import (
	"crypto/md5"
	"encoding/binary"
	"math/big"
	"math/bits"
)

// Random returns the token of a key under RandomPartitioner: the absolute value
// of its MD5 read as a signed 128-bit big-endian integer; -1, the ring's start,
// for the empty key.
func Random(key []byte) *big.Int {
	if len(key) == 0 {
		return big.NewInt(-1)
	}
	sum := md5.Sum(key)
	n := new(big.Int).SetBytes(sum[:])
	if sum[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		n.Abs(n)
	}
	return n
}

// MD5Mod returns the MD5 of a key, read as an unsigned 128-bit big-endian
// integer, modulo n: 0..n-1. n must be positive.
func MD5Mod(key []byte, n int) int {
	sum := md5.Sum(key)
	hi := binary.BigEndian.Uint64(sum[:]) % uint64(n)
	_, rem := bits.Div64(hi, binary.BigEndian.Uint64(sum[8:]), uint64(n))
	return int(rem)
}

// JavaMod returns Java's String.hashCode of s, floor-modulo n: 0..n-1. n must be
// positive. The hash is over UTF-16 code units; a byte that is not UTF-8 counts
// as U+FFFD.
func JavaMod(s string, n int) int {
	var h int32
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			h = 31*h + (0xd800 + r>>10)
			h = 31*h + (0xdc00 + r&0x3ff)
			continue
		}
		h = 31*h + r
	}
	m := int64(h) % int64(n)
	if m < 0 {
		m += int64(n)
	}
	return int(m)
}
