// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"hash/crc32"
)

// Segments are v5's framing below frames (native_protocol_v5.spec §2). A segment has a header with
// its CRC24, a payload, and the payload's CRC32. The payload is whole frames (self-contained) or a
// piece of one frame.
//
//	uncompressed: [17 bits length][1 bit self-contained][6 bits 0][CRC24]
//	lz4:          [17 bits length][17 bits uncompressed length, 0 if the payload is not compressed]
//	              [1 bit self-contained][5 bits 0][CRC24]
//
// All are little-endian, with the first field in the lowest bits.
const (
	MaxSegmentPayload = 1<<17 - 1

	segmentHeader    = 3 + crc24Size
	segmentHeaderLZ4 = 5 + crc24Size
	segmentTrailer   = 4

	crc24Size = 3
	crc24Init = 0x875060
	crc24Poly = 0x1974F0B
)

var crc24Table = func() (t [256]uint32) {
	for i := range t {
		crc := uint32(i) << 16
		for range 8 {
			crc <<= 1
			if crc&0x1000000 != 0 {
				crc ^= crc24Poly
			}
		}
		t[i] = crc
	}
	return t
}()

func crc24(b []byte) uint32 {
	crc := uint32(crc24Init)
	for _, x := range b {
		crc = crc<<8&0xFFFFFF ^ crc24Table[byte(crc>>16)^x]
	}
	return crc
}

// crc32Init is the CRC32 of the bytes that Cassandra prepends to every payload for the checksum.
var crc32Init = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

func payloadCRC(payload []byte) uint32 { return crc32.Update(crc32Init, crc32.IEEETable, payload) }

// segmentHead is a segment's header.
type segmentHead struct {
	length        int // of the payload on the wire
	plain         int // of the uncompressed payload; equal to length if it is not compressed
	compressed    bool
	selfContained bool
}

// headerSize returns the length of a segment's header with compression c.
func (c Compression) headerSize() int {
	if c == LZ4 {
		return segmentHeaderLZ4
	}
	return segmentHeader
}

var errSegmentHeader = &Error{Code: CodeProtocol, Message: "segment header CRC mismatch"}
var errSegmentPayload = &Error{Code: CodeProtocol, Message: "segment payload CRC mismatch"}

// parseSegmentHead parses the header at the start of b, which must be long enough.
func parseSegmentHead(b []byte, c Compression) (h segmentHead, err *Error) {
	n := c.headerSize() - crc24Size
	crc := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16
	if crc24(b[:n]) != crc {
		return h, errSegmentHeader
	}
	bits := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	if c != LZ4 {
		h.length = int(bits & MaxSegmentPayload)
		h.plain = h.length
		h.selfContained = bits>>17&1 != 0
		return h, nil
	}
	bits |= uint64(b[3])<<24 | uint64(b[4])<<32
	h.length = int(bits & MaxSegmentPayload)
	h.plain = int(bits >> 17 & MaxSegmentPayload)
	h.selfContained = bits>>34&1 != 0
	if h.plain == 0 {
		h.plain = h.length
	} else {
		h.compressed = true
	}
	return h, nil
}

// putSegmentHead writes the header at the start of b, which must be long enough.
func putSegmentHead(b []byte, c Compression, h segmentHead) {
	bits := uint64(h.length)
	self := uint64(0)
	if h.selfContained {
		self = 1
	}
	n := c.headerSize() - crc24Size
	if c == LZ4 {
		if h.compressed {
			bits |= uint64(h.plain) << 17
		}
		bits |= self << 34
		b[3], b[4] = byte(bits>>24), byte(bits>>32)
	} else {
		bits |= self << 17
	}
	b[0], b[1], b[2] = byte(bits), byte(bits>>8), byte(bits>>16)
	crc := crc24(b[:n])
	b[n], b[n+1], b[n+2] = byte(crc), byte(crc>>8), byte(crc>>16)
}

// appendSegment appends a whole segment. It compresses the payload if c says so and if that makes
// it shorter.
func appendSegment(dst []byte, c Compression, payload []byte, selfContained bool) []byte {
	start := len(dst)
	head := c.headerSize()
	h := segmentHead{length: len(payload), plain: len(payload), selfContained: selfContained}
	var zero [segmentHeaderLZ4]byte
	dst = append(dst, zero[:head]...)
	if c == LZ4 {
		dst, h.compressed = appendLZ4(dst, payload)
	}
	if !h.compressed {
		dst = append(dst, payload...)
	}
	h.length = len(dst) - start - head
	putSegmentHead(dst[start:], c, h)
	return binary.LittleEndian.AppendUint32(dst, payloadCRC(dst[start+head:]))
}
