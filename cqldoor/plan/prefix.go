// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Prefix maps the first column of a clustering key to eight bytes that keep its order. If two
// prefixes differ, the keys compare like their prefixes. If they are equal, Compare decides.
func (p *Select) Prefix(first []byte) uint64 {
	c := p.Table.Clustering[0]
	n := prefix(c.Type.Kind, first)
	if c.Desc != p.Logical.Reversed {
		return ^n
	}
	return n
}

// prefix returns the prefix for ascending order. Null and malformed values come first.
func prefix(k value.Kind, b []byte) uint64 {
	switch k {
	case value.Ascii, value.Text, value.Blob, value.Inet, value.Date, value.Time:
		if len(b) >= 8 {
			return binary.BigEndian.Uint64(b)
		}
		var n uint64
		for _, c := range b {
			n = n<<8 | uint64(c)
		}
		return n << (8 * (8 - len(b)))
	case value.Int:
		if len(b) == 4 {
			return uint64(binary.BigEndian.Uint32(b)^1<<31) << 32
		}
	case value.Bigint, value.Timestamp:
		if len(b) == 8 {
			return binary.BigEndian.Uint64(b) ^ 1<<63
		}
	case value.Smallint:
		if len(b) == 2 {
			return uint64(binary.BigEndian.Uint16(b)^1<<15) << 48
		}
	case value.Timeuuid:
		if len(b) == 16 {
			// The version and the time come in the high bits, with the time's high bits first.
			return (uint64(binary.BigEndian.Uint16(b[6:]))<<48 | uint64(binary.BigEndian.Uint16(b[4:]))<<32 | uint64(binary.BigEndian.Uint32(b))) ^ 1<<63
		}
	}
	return 0
}
