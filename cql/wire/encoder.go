// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Encoder writes the frames of one direction of one connection into a buffer, so that one write can
// send many frames. The zero value is ready and writes bare frames. Established changes to segments
// or compression, as for Decoder: a server calls it after it has encoded READY or AUTHENTICATE, a
// client after it has read that answer. In v5 the encoder packs frames into one segment as long as
// they fit.
//
// Call Established before you encode anything but the handshake's messages, since it sets the
// version. An Encoder is not safe for concurrent use.
type Encoder struct {
	version     Version
	compression Compression
	segmented   bool

	buf  []byte
	open int    // offset in buf of the open segment, plus one; 0 if no segment is open
	pack []byte // frames of the open segment until they are compressed; otherwise scratch
}

// Established ends the handshake. All later frames have version v; v5 frames go into segments.
func (e *Encoder) Established(v Version, c Compression) {
	e.closeSegment()
	e.version, e.compression, e.segmented = v, c, v >= V5
}

// Frame encodes a frame. The body is the concatenation of the parts. Frame ignores h.Length.
func (e *Encoder) Frame(h Header, body ...[]byte) {
	n := 0
	for _, p := range body {
		n += len(p)
	}
	h.Length = int32(n)
	h.Flags &^= FlagCompressed
	switch {
	case e.segmented:
		e.segmentFrame(h, body)
	case e.compression == LZ4 && n >= compressFrom:
		e.compressFrame(h, body)
	default:
		e.buf = h.Append(e.buf)
		for _, p := range body {
			e.buf = append(e.buf, p...)
		}
	}
}

// Grow makes room for a body of n bytes. If the present buffer is too small, Grow moves its
// contents to spare, or to a new buffer if spare is too small too.
func (e *Encoder) Grow(n int, spare []byte) {
	n += n>>8 + 1<<10 // room for the heads of segments
	if cap(e.buf)-len(e.buf) >= n {
		return
	}
	if n += len(e.buf); cap(spare) < n {
		spare = make([]byte, 0, n)
	}
	e.buf = append(spare[:0], e.buf...)
}

// Len returns the approximate number of bytes that wait for Take.
func (e *Encoder) Len() int { return len(e.buf) + len(e.pack) }

// Take returns the bytes to write. The encoder continues in next: nil, or a buffer that was taken
// before and has been written. It overwrites the contents of next.
func (e *Encoder) Take(next []byte) []byte {
	e.closeSegment()
	taken := e.buf
	e.buf = next[:0]
	return taken
}

// compressFrame writes a v4 frame. It compresses the body if that is shorter.
func (e *Encoder) compressFrame(h Header, body [][]byte) {
	var whole []byte
	if len(body) == 1 {
		whole = body[0]
	} else {
		e.pack = e.pack[:0]
		for _, p := range body {
			e.pack = append(e.pack, p...)
		}
		whole, e.pack = e.pack, e.pack[:0]
	}
	start := len(e.buf)
	h.Flags |= FlagCompressed
	e.buf = h.Append(e.buf)
	var ok bool
	if e.buf, ok = appendBodyLZ4(e.buf, whole); !ok {
		h.Flags &^= FlagCompressed
		e.buf = append(h.Append(e.buf[:start]), whole...)
		return
	}
	binary.BigEndian.PutUint32(e.buf[start+HeaderSize-4:], uint32(len(e.buf)-start-HeaderSize))
}

func (e *Encoder) segmentFrame(h Header, body [][]byte) {
	total := HeaderSize + int(h.Length)
	if total > MaxSegmentPayload {
		e.closeSegment()
		e.split(h, body)
		return
	}
	if e.open > 0 && e.openLen()+total > MaxSegmentPayload {
		e.closeSegment()
	}
	if e.open == 0 {
		e.open = len(e.buf) + 1
		if e.compression != LZ4 {
			e.buf = append(e.buf, make([]byte, segmentHeader)...)
		}
	}
	into := &e.buf
	if e.compression == LZ4 {
		into = &e.pack
	}
	b := h.Append(*into)
	for _, p := range body {
		b = append(b, p...)
	}
	*into = b
}

// openLen returns the length of the open segment's payload.
func (e *Encoder) openLen() int {
	if e.compression == LZ4 {
		return len(e.pack)
	}
	return len(e.buf) - (e.open - 1) - segmentHeader
}

// closeSegment completes the open segment, if there is one.
func (e *Encoder) closeSegment() {
	if e.open == 0 {
		return
	}
	start := e.open - 1
	e.open = 0
	if e.compression == LZ4 {
		e.buf = appendSegment(e.buf, LZ4, e.pack, true)
		e.pack = e.pack[:0]
		return
	}
	payload := e.buf[start+segmentHeader:]
	putSegmentHead(e.buf[start:], NoCompression, segmentHead{length: len(payload), selfContained: true})
	e.buf = binary.LittleEndian.AppendUint32(e.buf, payloadCRC(payload))
}

// split writes a frame that is longer than a segment. Each segment holds a piece of it.
func (e *Encoder) split(h Header, body [][]byte) {
	e.pack = h.Append(e.pack[:0])
	for _, p := range body {
		for len(p) > 0 {
			n := min(len(p), MaxSegmentPayload-len(e.pack))
			e.pack = append(e.pack, p[:n]...)
			p = p[n:]
			if len(e.pack) == MaxSegmentPayload {
				e.buf = appendSegment(e.buf, e.compression, e.pack, false)
				e.pack = e.pack[:0]
			}
		}
	}
	if len(e.pack) > 0 {
		e.buf = appendSegment(e.buf, e.compression, e.pack, false)
		e.pack = e.pack[:0]
	}
}

// AppendFrame appends a bare frame, as used in the handshake. It ignores h.Length.
func AppendFrame(dst []byte, h Header, body []byte) []byte {
	h.Length = int32(len(body))
	return append(h.Append(dst), body...)
}
