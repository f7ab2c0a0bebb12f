// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Hash says how strategy Calculated maps the `by` values to a shard.
type Hash uint8

const (
	// Murmur3 is Cassandra's hash, followed by a jump consistent hash. With 60,000 keys over 200
	// shards, the fullest shard has about 1.16 times the mean, as random placement would.
	Murmur3 Hash = iota

	// CodePoints is the product of the code points modulo the number of shards. It is for tables
	// that were sharded by hand in that way. It is uneven: the product is divisible by a small
	// number as soon as one code point is. With 200 shards, most English titles are in shard 1. A
	// prime number of shards helps. If the number changes, nearly every row moves.
	CodePoints
)

func (h Hash) String() string {
	if h == CodePoints {
		return "code_points"
	}
	return "murmur3"
}

// shard returns a shard, 1..n.
func (h Hash) shard(by [][]byte, n int) int {
	if h == CodePoints {
		return codePoints(by, n)
	}
	return Jump(token(by), n) + 1
}

// token hashes the published form of the values.
func token(by [][]byte) uint64 {
	if len(by) == 1 {
		return uint64(partitioner.Murmur3(by[0]))
	}
	var buf [256]byte
	return uint64(partitioner.Murmur3(partitioner.AppendComposite(buf[:0], by...)))
}

// codePoints reduces modulo n after each multiplication. That is exact, because n is far below
// 2^31. A byte that is not UTF-8 counts as U+FFFD.
func codePoints(by [][]byte, n int) int {
	product, mod := uint64(1), uint64(n)
	for _, v := range by {
		for len(v) > 0 {
			r, size := utf8.DecodeRune(v)
			product = product % mod * uint64(r)
			v = v[size:]
		}
	}
	return int(product%mod) + 1
}

// Jump is the jump consistent hash of Lamping and Veach. It returns the bucket of a key, 0..n-1.
// When n grows by one, a key keeps its bucket or moves to the new one. n must be positive.
func Jump(key uint64, n int) int {
	var b, j int64 = -1, 0
	for j < int64(n) {
		b = j
		key = key*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(int64(1)<<31) / float64(key>>33+1)))
	}
	return int(b)
}
