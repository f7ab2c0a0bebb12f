// SPDX-License-Identifier: Apache-2.0

package value

import "math/bits"

// readVint reads Cassandra's unsigned variable-length integer. The number of leading one bits is
// the number of additional bytes; the number follows, big-endian. size is 0 if v is too short.
func readVint(v []byte) (n uint64, size int) {
	if len(v) == 0 {
		return 0, 0
	}
	more := bits.LeadingZeros8(^v[0])
	if len(v) < more+1 {
		return 0, 0
	}
	if more < 8 {
		n = uint64(v[0] & (0xff >> more))
	}
	for _, b := range v[1 : more+1] {
		n = n<<8 | uint64(b)
	}
	return n, more + 1
}

// vintSize returns the number of bytes that appendVint appends. Each holds seven bits of the
// number, the ninth eight.
func vintSize(n uint64) int {
	if b := bits.Len64(n | 1); b <= 56 {
		return (b + 6) / 7
	}
	return 9
}

// appendVint appends a number in readVint's format, in the fewest bytes.
func appendVint(dst []byte, n uint64) []byte {
	more := vintSize(n) - 1
	first := byte(n >> (8 * more % 64))
	if more == 8 {
		first = 0
	}
	dst = append(dst, first|^byte(0xff>>more))
	for i := more - 1; i >= 0; i-- {
		dst = append(dst, byte(n>>(8*i)))
	}
	return dst
}

func zigzag(n int64) uint64   { return uint64(n<<1) ^ uint64(n>>63) }
func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
