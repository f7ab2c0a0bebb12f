// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// Compression is how a connection compresses: v4 compresses bodies, v5 segments.
type Compression uint8

const (
	NoCompression Compression = iota
	LZ4
)

// ParseCompression parses the COMPRESSION option of STARTUP: "lz4", or "" for none.
func ParseCompression(name string) (Compression, bool) {
	switch name {
	case "":
		return NoCompression, true
	case "lz4", "LZ4":
		return LZ4, true
	}
	return NoCompression, false
}

func (c Compression) String() string {
	if c == LZ4 {
		return "lz4"
	}
	return ""
}

// compressFrom is the smallest length in bytes that is compressed. Below it, compression would save
// a few bytes at best.
const compressFrom = 128

// appendLZ4 appends src as one lz4 block. If that is not shorter, it appends nothing and returns
// false.
func appendLZ4(dst, src []byte) ([]byte, bool) {
	if len(src) < compressFrom {
		return dst, false
	}
	dst = slices.Grow(dst, len(src))
	n, err := lz4.CompressBlock(src, dst[len(dst):len(dst)+len(src)-1], nil)
	if err != nil || n == 0 {
		return dst, false
	}
	return dst[:len(dst)+n], true
}

var (
	errLZ4      = &Error{Code: CodeProtocol, Message: "malformed lz4 block"}
	errLZ4Bound = &Error{Code: CodeProtocol, Message: "lz4 block announces more than it can hold"}
)

// lz4Ratio is an upper bound of lz4's expansion: one byte of a length adds 255 bytes.
const lz4Ratio = 256

// decompressLZ4 decompresses src into scratch. plain is the announced length in bytes. It grows
// scratch only if src is long enough to hold that many bytes.
func decompressLZ4(scratch, src []byte, plain int) ([]byte, *Error) {
	if plain > lz4Ratio*len(src) {
		return scratch, errLZ4Bound
	}
	if cap(scratch) < plain {
		scratch = make([]byte, plain, roundUp(plain))
	}
	scratch = scratch[:plain]
	if plain == 0 {
		return scratch, nil
	}
	n, err := lz4.UncompressBlock(src, scratch)
	if err != nil || n != plain {
		return scratch, errLZ4
	}
	return scratch, nil
}

// roundUp rounds n up to a multiple of 4 KiB, so that buffers grow in few steps.
func roundUp(n int) int { return (n + 4095) &^ 4095 }

// appendBodyLZ4 appends a v4 body in compressed form: a big-endian length, then the block. If that
// is not shorter, it appends nothing and returns false.
func appendBodyLZ4(dst, body []byte) ([]byte, bool) {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	dst, ok := appendLZ4(dst, body)
	if !ok || len(dst)-start >= len(body) {
		return dst[:start], false
	}
	return dst, true
}

// decompressBody decompresses a v4 body of at most limit bytes into scratch.
func decompressBody(scratch, body []byte, limit int) ([]byte, *Error) {
	if len(body) == 0 {
		return scratch[:0], nil
	}
	if len(body) < 4 {
		return scratch, errLZ4
	}
	plain := binary.BigEndian.Uint32(body)
	if uint64(plain) > uint64(limit) {
		return scratch, tooBig(int64(plain), limit)
	}
	return decompressLZ4(scratch, body[4:], int(plain))
}
