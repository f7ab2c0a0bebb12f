// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// rowData is a row in its stored form: the value of one key, and the operand of one MERGE, whatever
// was written to the row before. Encoded:
//
//	flags            one byte
//	base             8 bytes, if anything has a timestamp: all timestamps are
//	                 zigzag varints relative to it
//	marker           timestamp [ttl expires]
//	deletion         timestamp time
//	originals        (index+1, length, bytes)… 0
//	cells            to the end, by column, complex deletion first, then path
//
//	cell:  column<<4 | kind, [length<<1 | original, path, [length, bytes]],
//	       timestamp, [ttl, expires | time], [length, value]
//
// Integers are varints. Within one rowData, nothing shadows anything else in it.
type rowData struct {
	hasMarker bool
	marker    Liveness
	deletion  Deletion // Timestamp is noTimestamp if there is none
	originals []original
	cells     []cellData
}

// original is the bytes of a clustering value that differ from the canonical form of the value.
type original struct {
	index int
	bytes []byte
}

type cellData struct {
	column    uint32
	kind      uint8
	ttl       int32
	path      []byte // ordered form (ordered.go); nil for atomic columns
	original  []byte // the bytes of the path, if they are not the canonical ones
	timestamp int64
	time      int64 // cellExpiring: the time of expiry; deletions: the time of the deletion
	value     []byte
}

const (
	cellLive     = 0
	cellExpiring = 1
	cellDeleted  = 2
	cellComplex  = 3 // deletion of a whole collection or UDT
	cellKind     = 3
	cellPath     = 4 // has a path
	cellBits     = 4 // width of kind and flags in the encoding
)

const (
	rowMarker    = 1 << iota
	rowMarkerTTL // the marker expires
	rowDeletion
	rowOriginals
	rowPurgeable // has a deletion or an expiry somewhere
	rowBased     // has a base timestamp
	_
	rowIsDeletions // not a row: the partition's deletions (deletions.go)
)

func (r *rowData) reset() {
	clear(r.cells) // release the memory that they view
	clear(r.originals)
	*r = rowData{deletion: Deletion{Timestamp: noTimestamp}, originals: r.originals[:0], cells: r.cells[:0]}
}

func (r *rowData) empty() bool {
	return !r.hasMarker && r.deletion.Timestamp == noTimestamp && len(r.cells) == 0
}

// compareCells orders cells as they are stored.
func compareCells(a, b *cellData) int {
	if a.column != b.column {
		if a.column < b.column {
			return -1
		}
		return 1
	}
	ac, bc := a.kind&cellKind == cellComplex, b.kind&cellKind == cellComplex
	if ac != bc {
		if ac {
			return -1
		}
		return 1
	}
	return slices.Compare(a.path, b.path)
}

func zigzag(x int64) uint64   { return uint64(x<<1) ^ uint64(x>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// append encodes the row.
func (r *rowData) append(dst []byte) []byte {
	w := rowWriter{row: rowData{hasMarker: r.hasMarker, marker: r.marker, deletion: r.deletion, originals: r.originals}}
	for i := range r.cells {
		dst = w.cell(dst, &r.cells[i])
	}
	return w.finish(dst)
}

// rowWriter encodes a row cell by cell. The cells come in the order in which they are stored. The
// writer writes what is before them with the first one, because that has the base.
type rowWriter struct {
	row   rowData // without cells
	begun bool
	flags int // where the flags are
	base  int64
}

// cell appends a cell.
func (w *rowWriter) cell(dst []byte, c *cellData) []byte {
	if !w.begun {
		w.base = c.timestamp
		dst = w.begin(dst, true)
	}
	if c.kind&cellKind != cellLive {
		dst[w.flags] |= rowPurgeable
	}
	dst = binary.AppendUvarint(dst, uint64(c.column)<<cellBits|uint64(c.kind))
	if c.kind&cellPath != 0 {
		n := uint64(len(c.path)) << 1
		if c.original != nil {
			n |= 1
		}
		dst = append(binary.AppendUvarint(dst, n), c.path...)
		if c.original != nil {
			dst = appendBytes(dst, c.original)
		}
	}
	dst = binary.AppendUvarint(dst, zigzag(c.timestamp-w.base))
	kind := c.kind & cellKind
	if kind == cellExpiring {
		dst = binary.AppendUvarint(dst, uint64(c.ttl))
	}
	if kind != cellLive {
		dst = binary.AppendUvarint(dst, uint64(c.time))
	}
	if kind <= cellExpiring {
		dst = appendBytes(dst, c.value)
	}
	return dst
}

// finish ends the row.
func (w *rowWriter) finish(dst []byte) []byte {
	if w.begun {
		return dst
	}
	w.base = w.row.deletion.Timestamp
	return w.begin(dst, w.base != noTimestamp)
}

// begin appends what comes before the cells. based says that something has a timestamp: w.base, unless
// there is a marker.
func (w *rowWriter) begin(dst []byte, based bool) []byte {
	r := &w.row
	var flags byte
	if r.hasMarker {
		w.base, based = r.marker.Timestamp, true
		flags |= rowMarker
		if r.marker.TTL != 0 {
			flags |= rowMarkerTTL | rowPurgeable
		}
	}
	if based {
		flags |= rowBased
	}
	if r.deletion.Timestamp != noTimestamp {
		flags |= rowDeletion | rowPurgeable
	}
	if len(r.originals) > 0 {
		flags |= rowOriginals
	}
	w.begun, w.flags = true, len(dst)
	dst = append(dst, flags)
	if based {
		dst = binary.BigEndian.AppendUint64(dst, uint64(w.base))
	}
	if r.hasMarker {
		dst = append(dst, 0) // it is the base
		if r.marker.TTL != 0 {
			dst = binary.AppendUvarint(dst, uint64(r.marker.TTL))
			dst = binary.AppendUvarint(dst, uint64(r.marker.Expires))
		}
	}
	if flags&rowDeletion != 0 {
		dst = binary.AppendUvarint(dst, zigzag(r.deletion.Timestamp-w.base))
		dst = binary.AppendUvarint(dst, uint64(r.deletion.Time))
	}
	if flags&rowOriginals != 0 {
		for _, o := range r.originals {
			dst = binary.AppendUvarint(dst, uint64(o.index)+1)
			dst = appendBytes(dst, o.bytes)
		}
		dst = append(dst, 0)
	}
	return dst
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// rowReader reads an encoded row piece by piece.
type rowReader struct {
	src   []byte
	base  int64
	flags byte
	bad   bool
}

func (r *rowReader) uvarint() uint64 {
	if len(r.src) > 0 && r.src[0] < 0x80 { // the usual case
		u := uint64(r.src[0])
		r.src = r.src[1:]
		return u
	}
	u, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return u
}

func (r *rowReader) take(n uint64) []byte {
	if n > uint64(len(r.src)) {
		r.bad, r.src = true, nil
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}

func (r *rowReader) timestamp() int64 { return r.base + unzigzag(r.uvarint()) }

// head reads everything before the cells. It appends to originals.
func (r *rowReader) head(src []byte, originals []original) (marker Liveness, deletion Deletion, _ []original) {
	*r = rowReader{src: src}
	deletion.Timestamp = noTimestamp
	if len(src) == 0 {
		r.bad = true
		return marker, deletion, originals
	}
	r.flags, r.src = src[0], src[1:]
	if r.flags&rowIsDeletions != 0 {
		r.bad = true
		return marker, deletion, originals
	}
	if r.flags&rowBased != 0 {
		if len(r.src) < 8 {
			r.bad = true
			return marker, deletion, originals
		}
		r.base = int64(binary.BigEndian.Uint64(r.src))
		r.src = r.src[8:]
	}
	if r.flags&rowMarker != 0 {
		marker.Timestamp = r.timestamp()
		if r.flags&rowMarkerTTL != 0 {
			marker.TTL = int32(r.uvarint())
			marker.Expires = int64(r.uvarint())
		}
	}
	if r.flags&rowDeletion != 0 {
		deletion.Timestamp = r.timestamp()
		deletion.Time = int64(r.uvarint())
	}
	if r.flags&rowOriginals != 0 {
		for {
			i := r.uvarint()
			if i == 0 || r.bad {
				break
			}
			originals = append(originals, original{int(i - 1), r.take(r.uvarint())})
		}
	}
	return marker, deletion, originals
}

// next reads a cell; it returns false at the end.
func (r *rowReader) next(c *cellData) bool {
	if len(r.src) == 0 {
		return false
	}
	h := r.uvarint()
	*c = cellData{column: uint32(h >> cellBits), kind: uint8(h & (1<<cellBits - 1))}
	if c.kind&cellPath != 0 {
		n := r.uvarint()
		c.path = r.take(n >> 1)
		if n&1 != 0 {
			c.original = r.take(r.uvarint())
		}
	}
	c.timestamp = r.timestamp()
	kind := c.kind & cellKind
	if kind == cellExpiring {
		c.ttl = int32(r.uvarint())
	}
	if kind != cellLive {
		c.time = int64(r.uvarint())
	}
	if kind <= cellExpiring {
		c.value = r.take(r.uvarint())
	}
	return !r.bad
}

// decode sets r to the encoded row. Its slices are views of src.
func (r *rowData) decode(src []byte) error {
	r.reset()
	var in rowReader
	r.marker, r.deletion, r.originals = in.head(src, r.originals)
	r.hasMarker = in.flags&rowMarker != 0
	for {
		r.cells = append(r.cells, cellData{})
		if !in.next(&r.cells[len(r.cells)-1]) {
			r.cells = r.cells[:len(r.cells)-1]
			break
		}
	}
	if in.bad {
		return errBadRow
	}
	return nil
}

var errBadRow = fmt.Errorf("%w: row cannot be decoded", ErrCorrupt)
