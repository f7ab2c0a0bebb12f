// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A log consists of blocks of 32 KiB. A block consists of chunks, and of zeros after the last chunk
// that fits (as package record of Pebble writes them). A chunk is
//
//	checksum[4] length[2] encoding[1] log[4] (synced[8]) payload
//
// little-endian. The checksum covers everything from the encoding on. log is the number of the
// file, so that chunks of the file's former use are recognized. synced, in encodings 9 to 12, is
// the synced length of the log when the chunk was written. A chunk with the next number, which has
// no checksum, ends the log.
const (
	logBlock    = 32 << 10
	chunkHeader = 11
	syncHeader  = 19
)

// validLog returns the number of bytes at the beginning of a log that are intact chunks.
func validLog(r io.Reader, name string) (int64, error) {
	var number uint32
	if _, err := fmt.Sscanf(name, "%d.log", &number); err != nil {
		return 0, fmt.Errorf("log %s: %w", name, err)
	}
	block := make([]byte, logBlock)
	for valid := int64(0); ; {
		n, err := io.ReadFull(r, block)
		if errors.Is(err, io.EOF) {
			return valid, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		used, full := validChunks(block[:n], number)
		valid += int64(used)
		if !full {
			return valid, nil
		}
	}
}

// validChunks returns the number of bytes of a block that are valid chunks, and whether the log
// goes on in the next block.
func validChunks(block []byte, number uint32) (n int, full bool) {
	for {
		rest := block[n:]
		if len(rest) < syncHeader && n+len(rest) == logBlock && allZero(rest) {
			return logBlock, true
		}
		if len(rest) < chunkHeader {
			return n, false
		}
		header := chunkHeader
		switch encoding := rest[6]; {
		case encoding < 5 || encoding > 12:
			return n, false
		case encoding > 8:
			header = syncHeader
		}
		end := header + int(binary.LittleEndian.Uint16(rest[4:]))
		switch binary.LittleEndian.Uint32(rest[7:]) {
		case number + 1:
			return n + chunkHeader, false
		case number:
		default:
			return n, false
		}
		if end > len(rest) {
			return n, false
		}
		sum := crc32.Checksum(rest[6:end], castagnoli)
		if binary.LittleEndian.Uint32(rest) != sum>>15|sum<<17+0xa282ead8 {
			return n, false
		}
		n += end
	}
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
