// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	readBuffer = 16 << 10 // the initial size of a decoder's buffer
	keepBuffer = 1 << 20  // the largest buffer that a decoder keeps after a long frame
)

// Decoder reads the frames of one direction of one connection.
//
// It begins with bare frames (of version 4 or 5), as every connection does. Established ends that.
// In v5 both sides change to segments after the server has answered STARTUP with READY or
// AUTHENTICATE; that answer is still a bare frame. A server therefore calls Established before it
// reads the frame after STARTUP, and a client calls it after it has read READY or AUTHENTICATE. The
// decoder decompresses a v4 body with the compressed flag at any time, since servers may compress
// READY already.
//
// Its buffers grow as bytes arrive and never beyond what limit allows.
type Decoder struct {
	r         io.Reader
	limit     int
	responses bool
	expect    func(length int) bool // see SetExpect

	version     Version // 0 until Established
	compression Compression
	segmented   bool

	buf        []byte // read but not yet returned: buf[start:end]
	start, end int

	frames []byte // the rest of a self-contained segment: a view into buf or plain
	plain  []byte // a decompressed segment or body
	joined []byte // a frame joined from several segments
}

// NewRequestDecoder returns a server's decoder. It refuses frames whose bodies are longer than
// limit bytes.
func NewRequestDecoder(r io.Reader, limit int) *Decoder {
	return &Decoder{r: r, limit: limit}
}

// NewResponseDecoder returns a client's decoder. It refuses frames whose bodies are longer than
// limit bytes.
func NewResponseDecoder(r io.Reader, limit int) *Decoder {
	return &Decoder{r: r, limit: limit, responses: true}
}

// SetExpect sets a function that the decoder calls with the length of each body before it reads the
// body, so that the caller can reserve memory. If f returns false, the decoder skips the body and
// Next returns ErrSkipped.
func (d *Decoder) SetExpect(f func(length int) bool) { d.expect = f }

// ErrSkipped is Next's error for a frame whose body was skipped. The header is complete, and Next
// may be called again.
var ErrSkipped = errors.New("wire: the frame was passed over")

// wanted asks expect whether to read a frame's body.
func (d *Decoder) wanted(h Header) bool { return d.expect == nil || d.expect(int(h.Length)) }

// SetLimit changes the limit, for example after the client has authenticated.
func (d *Decoder) SetLimit(limit int) { d.limit = limit }

// Established ends the handshake. All later frames have version v, and v5 frames come in segments.
func (d *Decoder) Established(v Version, c Compression) {
	d.version, d.compression, d.segmented = v, c, v >= V5
}

// Next returns the next frame: its header and its body. The header has FlagCompressed cleared, and
// its Length is that of the returned body. The body is valid until the next call.
//
// Next returns io.EOF between frames and io.ErrUnexpectedEOF within one. It returns an *Error if
// the bytes violate the protocol; otherwise it returns the reader's error. With an *Error, Next
// returns the header as far as it could read it, so that the caller can answer (see
// AppendVersionError). After any error but ErrSkipped, the decoder must not be used again.
func (d *Decoder) Next() (Header, []byte, error) {
	if cap(d.joined) > keepBuffer { // do not hold the last frame's memory while waiting for the next
		d.joined = nil
	}
	if cap(d.plain) > keepBuffer && len(d.frames) == 0 {
		d.plain = nil
	}
	if d.segmented {
		return d.nextSegmented()
	}
	if err := d.fill(HeaderSize); err != nil {
		return Header{}, nil, err
	}
	h, _ := ParseHeader(d.buf[d.start:d.end])
	if err := d.check(h); err != nil {
		return h, nil, err
	}
	length := h // of the decompressed body
	if h.Flags&FlagCompressed != 0 && h.Version < V5 && h.Length >= 4 {
		if err := d.fill(HeaderSize + 4); err != nil {
			return h, nil, err
		}
		plain := binary.BigEndian.Uint32(d.buf[d.start+HeaderSize:])
		length.Length = max(h.Length, int32(min(plain, uint32(d.limit))))
	}
	if !d.wanted(length) {
		return h, nil, d.skip(HeaderSize + int(h.Length))
	}
	if err := d.fill(HeaderSize + int(h.Length)); err != nil {
		return h, nil, err
	}
	body := d.take(HeaderSize + int(h.Length))[HeaderSize:]
	if h.Flags&FlagCompressed != 0 && h.Version < V5 {
		plain, err := decompressBody(d.plain, body, d.limit)
		if d.plain = plain; err != nil {
			return h, nil, err
		}
		body = plain
		h.Length = int32(len(body))
	}
	h.Flags &^= FlagCompressed
	return h, body, nil
}

// Buffered reports whether a whole frame (in v5, a whole segment) has already been read, so that
// Next will most likely not wait.
func (d *Decoder) Buffered() bool {
	if len(d.frames) > 0 {
		return true
	}
	b := d.buf[d.start:d.end]
	if !d.segmented {
		h, ok := ParseHeader(b)
		return ok && int64(len(b)) >= HeaderSize+int64(h.Length)
	}
	n := d.compression.headerSize()
	if len(b) < n {
		return false
	}
	h, err := parseSegmentHead(b, d.compression)
	return err != nil || len(b) >= n+h.length+segmentTrailer
}

func (d *Decoder) check(h Header) error {
	if err := h.check(d.responses); err != nil {
		return err
	}
	if d.version != 0 && h.Version != d.version {
		return Errorf(CodeProtocol, "Invalid message version. Got %s but previous messages on this connection had version %s",
			h.Version, d.version)
	}
	if int(h.Length) > d.limit {
		return tooBig(int64(h.Length), d.limit)
	}
	return nil
}

// tooBig returns the error with Cassandra's text.
func tooBig(n int64, limit int) *Error {
	return Errorf(CodeInvalid, "CQL Message of size %d bytes exceeds allowed maximum of %d bytes", n, limit)
}

func (d *Decoder) nextSegmented() (Header, []byte, error) {
	for len(d.frames) == 0 {
		payload, selfContained, err := d.segment()
		if err != nil {
			return Header{}, nil, err
		}
		if !selfContained {
			return d.join(payload)
		}
		d.frames = payload
	}
	h, ok := ParseHeader(d.frames)
	if !ok {
		return h, nil, errSegmentFrames
	}
	if err := d.check(h); err != nil {
		return h, nil, err
	}
	end := HeaderSize + int(h.Length)
	if end > len(d.frames) {
		return h, nil, errSegmentFrames
	}
	body := d.frames[HeaderSize:end:end]
	d.frames = d.frames[end:]
	if !d.wanted(h) {
		return h, nil, ErrSkipped
	}
	h.Flags &^= FlagCompressed
	return h, body, nil
}

var (
	errSegmentFrames = &Error{Code: CodeProtocol, Message: "self-contained segment holds an incomplete frame"}
	errSegmentJoin   = &Error{Code: CodeProtocol, Message: "segments of one frame do not add up to its length"}
)

// segment reads one segment and returns its payload, which is valid until the next call.
func (d *Decoder) segment() (payload []byte, selfContained bool, err error) {
	head := d.compression.headerSize()
	if err := d.fill(head); err != nil {
		return nil, false, err
	}
	h, bad := parseSegmentHead(d.buf[d.start:], d.compression)
	if bad != nil {
		return nil, false, bad
	}
	if err := d.fill(head + h.length + segmentTrailer); err != nil {
		return nil, false, err
	}
	b := d.take(head + h.length + segmentTrailer)[head:]
	payload = b[:h.length]
	if payloadCRC(payload) != binary.LittleEndian.Uint32(b[h.length:]) {
		return nil, false, errSegmentPayload
	}
	if h.compressed {
		plain, bad := decompressLZ4(d.plain, payload, h.plain)
		if d.plain = plain; bad != nil {
			return nil, false, bad
		}
		payload = plain
	}
	return payload, h.selfContained, nil
}

// join builds a frame from segments. payload is the first segment's. The frame's header itself may
// be split.
func (d *Decoder) join(payload []byte) (h Header, body []byte, err error) {
	d.joined = append(d.joined[:0], payload...)
	checked := false
	skipped, came := false, len(payload) // a skipped frame's bytes are only counted
	for {
		if !checked && len(d.joined) >= HeaderSize {
			h, _ = ParseHeader(d.joined)
			if err := d.check(h); err != nil {
				return h, nil, err
			}
			checked, skipped = true, !d.wanted(h)
		}
		if n := HeaderSize + int(h.Length); skipped && came >= n {
			if came > n {
				return h, nil, errSegmentJoin
			}
			return h, nil, ErrSkipped
		}
		if n := HeaderSize + int(h.Length); checked && !skipped && len(d.joined) >= n {
			if len(d.joined) > n {
				return h, nil, errSegmentJoin
			}
			h.Flags &^= FlagCompressed
			return h, d.joined[HeaderSize:n:n], nil
		}
		payload, selfContained, err := d.segment()
		switch {
		case errors.Is(err, io.EOF):
			return h, nil, io.ErrUnexpectedEOF
		case err != nil:
			return h, nil, err
		case selfContained || len(payload) == 0:
			return h, nil, errSegmentJoin
		}
		if came += len(payload); !skipped {
			d.joined = append(d.joined, payload...)
		}
	}
}

// skip skips n bytes and returns ErrSkipped.
func (d *Decoder) skip(n int) error {
	for n > 0 {
		if err := d.fill(min(n, readBuffer)); err != nil {
			return err
		}
		n -= len(d.take(min(n, d.end-d.start)))
	}
	return ErrSkipped
}

// take consumes n bytes that fill has read.
func (d *Decoder) take(n int) []byte {
	b := d.buf[d.start : d.start+n : d.start+n]
	d.start += n
	return b
}

// fill reads until buf[start:] holds n bytes. It may move the bytes within the buffer.
func (d *Decoder) fill(n int) error {
	if d.end-d.start >= n {
		return nil
	}
	if rest := d.end - d.start; cap(d.buf) > keepBuffer && max(n, rest) <= keepBuffer {
		small := make([]byte, max(readBuffer, roundUp(max(n, rest))))
		copy(small, d.buf[d.start:d.end])
		d.buf, d.start, d.end = small, 0, rest
	} else if rest == 0 {
		d.start, d.end = 0, 0
	}
	for idle := 0; d.end-d.start < n; {
		d.room(n)
		m, err := d.r.Read(d.buf[d.end:])
		if m < 0 || m > len(d.buf)-d.end {
			return errors.New("wire: reader returned an impossible count")
		}
		d.end += m
		if d.end-d.start >= n {
			return nil
		}
		if err != nil {
			if err == io.EOF && d.end > d.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if idle++; m > 0 {
			idle = 0
		} else if idle == 100 {
			return io.ErrNoProgress
		}
	}
	return nil
}

// room makes room to read at least one more of the n wanted bytes. The buffer at most doubles at a
// time, so that an announced length alone allocates nothing.
func (d *Decoder) room(n int) {
	if d.start+n > len(d.buf) && d.start > 0 {
		copy(d.buf, d.buf[d.start:d.end])
		d.start, d.end = 0, d.end-d.start
	}
	if d.end < len(d.buf) {
		return
	}
	grown := make([]byte, max(readBuffer, min(roundUp(n), 2*len(d.buf))))
	copy(grown, d.buf[:d.end])
	d.buf = grown
}
