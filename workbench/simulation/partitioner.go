// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Partitioner says how a key gets its place.
type Partitioner string

const (
	Murmur3 Partitioner = "murmur3"  // Cassandra's Murmur3Partitioner
	Random  Partitioner = "random"   // Cassandra's RandomPartitioner
	MD5Mod  Partitioner = "md5-mod"  // MD5 of the text modulo n
	JavaMod Partitioner = "java-mod" // Java's String.hashCode of the text, floor-modulo n

	ByteOrdered Partitioner = "byte-ordered" // Cassandra's ByteOrderedPartitioner: the key's own bytes
	Identity    Partitioner = "identity"     // a number or a time is its own token
)

// Tokens reports whether keys have tokens on a ring.
func (p Partitioner) Tokens() bool { return p == Murmur3 || p == Random || p == ByteOrdered }

// mod returns the hash of a value modulo n, which is a salt. For partitioners that do not hash, it
// takes Murmur3's hash.
func (p Partitioner) mod(v []byte, n int) int {
	switch p {
	case Murmur3, ByteOrdered, Identity:
		return int(uint64(partitioner.Murmur3(v)) % uint64(n))
	case Random:
		t := partitioner.Random(v)
		return int(t.Mod(t, big.NewInt(int64(n))).Int64())
	case JavaMod:
		return partitioner.JavaMod(string(v), n)
	}
	return partitioner.MD5Mod(v, n)
}

// position returns the token of a key as its place on a ring of 2^64 places, counted from the least
// token. It cuts RandomPartitioner's tokens, of which there are 2^127, to their first 64 bits. It
// also cuts ByteOrderedPartitioner's tokens, which are as long as the key, to 64 bits.
func (p Partitioner) position(key []byte) uint64 {
	switch p {
	case Murmur3:
		return uint64(partitioner.Murmur3(key)) ^ 1<<63
	case ByteOrdered:
		var first [8]byte
		copy(first[:], key)
		return binary.BigEndian.Uint64(first[:])
	}
	t := partitioner.Random(key)
	switch {
	case t.Sign() < 0: // the empty key, which comes before all others
		return 0
	case t.BitLen() > 127: // 2^127 itself
		return ^uint64(0)
	}
	return t.Rsh(t, 63).Uint64()
}

// rangeOf returns the one of n equal ranges in which a position is.
func rangeOf(position uint64, n int) int {
	hi, _ := bits.Mul64(position, uint64(n))
	return int(hi)
}

// appendInt appends a CQL int.
func appendInt(dst []byte, n int) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }
