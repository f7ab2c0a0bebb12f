// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"encoding/binary"
)

// Keys begin with a region:
//
//	01 name                                    metadata of the package
//	02 name                                    metadata of its users
//	03 table[16] token[8] key 00 01 kind …     data
//	04 …                                       package engine/dynamodb (keyrange.go)
//
// The token's sign bit is inverted, and zeros in the key are escaped (ordered.go). The kinds, in
// this order within a partition: 01 its deletions (the partition's tombstone and range tombstones),
// 02 its static row, 03 a row, followed by the components of its clustering.
const (
	regionOwn   = 0x01
	regionMeta  = 0x02
	regionData  = 0x03
	regionItems = 0x04

	kindDeletions = 0x01
	kindStatic    = 0x02
	kindRow       = 0x03

	tablePrefixLen = 1 + 16
	tokenEnd       = tablePrefixLen + 8
)

func appendTablePrefix(dst []byte, id *[16]byte) []byte {
	return append(append(dst, regionData), id[:]...)
}

// appendTableEnd appends the first key after all keys of the table.
func appendTableEnd(dst []byte, id *[16]byte) []byte {
	n := len(dst)
	dst = appendTablePrefix(dst, id)
	for i := len(dst) - 1; i > n; i-- {
		dst[i]++
		if dst[i] != 0 {
			return dst
		}
	}
	dst[n]++ // the id was all ff
	return dst
}

func appendPartition(dst []byte, id *[16]byte, token int64, key []byte) []byte {
	dst = appendTablePrefix(dst, id)
	dst = binary.BigEndian.AppendUint64(dst, uint64(token)^1<<63)
	return appendEscaped(dst, key)
}

// splitKey splits a data key after the partition: k[:n] is the partition, k[n] the kind, k[n+1:]
// the clustering.
func splitKey(k []byte) (n int, ok bool) {
	if len(k) < tokenEnd {
		return 0, false
	}
	for n = tokenEnd; ; {
		i := bytes.IndexByte(k[n:], 0)
		if i < 0 || n+i+2 >= len(k) {
			return 0, false
		}
		n += i + 2
		if k[n-1] == 1 {
			return n, true
		}
	}
}

func decodeToken(k []byte) int64 {
	return int64(binary.BigEndian.Uint64(k[tablePrefixLen:]) ^ 1<<63)
}
