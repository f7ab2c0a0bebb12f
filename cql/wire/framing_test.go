// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/datastax/go-cassandra-native-protocol/compression/lz4"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/segment"
	"pgregory.net/rapid"
)

// sent is a frame that a test sends.
type sent struct {
	h    Header
	body []byte
}

// genFrames generates frames with sizes around those of segments.
func genFrames(t *rapid.T, v Version) (frames []sent) {
	for range rapid.IntRange(0, 12).Draw(t, "frames") {
		n := rapid.SampledFrom([]int{
			0, 1, 100, 127, 128, 4000, 60_000, MaxSegmentPayload - HeaderSize - 1, MaxSegmentPayload - HeaderSize,
			MaxSegmentPayload - HeaderSize + 1, MaxSegmentPayload, 2*MaxSegmentPayload - HeaderSize, 300_000,
		}).Draw(t, "length")
		body := make([]byte, n)
		switch rapid.IntRange(0, 2).Draw(t, "contents") {
		case 0:
			rnd := rand.NewChaCha8([32]byte{byte(n)})
			rnd.Read(body)
		case 1:
			for i := range body {
				body[i] = byte(i / 50)
			}
		}
		h := Header{Version: v, Stream: rapid.Int16().Draw(t, "stream"), Op: OpQuery, Flags: Flags(rapid.SampledFrom([]Flags{0, FlagTracing}).Draw(t, "flags"))}
		frames = append(frames, sent{h, body})
	}
	return frames
}

// encode encodes frames and takes the bytes at random times.
func encode(t *rapid.T, v Version, c Compression, frames []sent) (out []byte) {
	var e Encoder
	e.Established(v, c)
	var buf []byte
	for _, f := range frames {
		cut := rapid.IntRange(0, len(f.body)).Draw(t, "cut")
		e.Frame(f.h, f.body[:cut], f.body[cut:])
		if rapid.IntRange(0, 3).Draw(t, "take") == 0 {
			buf = e.Take(buf)
			out = append(out, buf...)
		}
	}
	out = append(out, e.Take(buf)...)
	if e.Len() != 0 {
		t.Fatalf("%d bytes are left", e.Len())
	}
	return out
}

func TestFraming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(versions).Draw(t, "version")
		c := rapid.SampledFrom([]Compression{NoCompression, LZ4}).Draw(t, "compression")
		frames := genFrames(t, v)
		in := encode(t, v, c, frames)
		var r io.Reader = bytes.NewReader(in)
		switch rapid.IntRange(0, 2).Draw(t, "reader") {
		case 1:
			r = iotest.HalfReader(r)
		case 2:
			r = iotest.DataErrReader(r)
		}
		d := NewRequestDecoder(r, 300_000)
		d.Established(v, c)
		for i, f := range frames {
			h, body, err := d.Next()
			if err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			f.h.Length = int32(len(f.body))
			if h != f.h || !bytes.Equal(body, f.body) {
				t.Fatalf("frame %d: %+v with %d bytes, want %+v", i, h, len(body), f.h)
			}
		}
		if d.Buffered() {
			t.Fatal("something is left")
		}
		if _, _, err := d.Next(); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}

		// A stream that is cut must end with an error, unless the cut is between frames.
		if len(in) == 0 {
			return
		}
		d = NewRequestDecoder(bytes.NewReader(in[:rapid.IntRange(0, len(in)-1).Draw(t, "cut")]), 300_000)
		d.Established(v, c)
		n := 0
		for {
			_, _, err := d.Next()
			if err == nil {
				n++
				continue
			}
			if n == len(frames) || err != io.EOF && err != io.ErrUnexpectedEOF {
				t.Fatalf("%d frames of %d, then %v", n, len(frames), err)
			}
			break
		}
	})
}

// TestOracleSegments checks that DataStax's codec reads our segments and that we read its segments.
func TestOracleSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]Compression{NoCompression, LZ4}).Draw(t, "compression")
		codec := segment.NewCodec()
		if c == LZ4 {
			codec = segment.NewCodecWithCompression(lz4.Compressor{})
		}
		frames := genFrames(t, V5)
		in := bytes.NewBuffer(encode(t, V5, c, frames))
		var plain bytes.Buffer
		var again bytes.Buffer
		for in.Len() > 0 {
			s, err := codec.DecodeSegment(in)
			if err != nil {
				t.Fatal(err)
			}
			plain.Write(s.Payload.UncompressedData)
			if err := codec.EncodeSegment(s, &again); err != nil {
				t.Fatal(err)
			}
		}
		d := NewRequestDecoder(&again, 300_000)
		d.Established(V5, c)
		raw := frame.NewRawCodec()
		for i, f := range frames {
			o, err := raw.DecodeRawFrame(&plain)
			if err != nil {
				t.Fatal(err)
			}
			if o.Header.StreamId != f.h.Stream || Flags(o.Header.Flags) != f.h.Flags || !bytes.Equal(o.Body, f.body) {
				t.Fatalf("frame %d read by the oracle: %+v, want %+v", i, o.Header, f.h)
			}
			h, body, err := d.Next()
			if err != nil || h.Stream != f.h.Stream || !bytes.Equal(body, f.body) {
				t.Fatalf("frame %d written by the oracle: %+v, %v, want %+v", i, h, err, f.h)
			}
		}
		if plain.Len() != 0 {
			t.Fatalf("%d bytes are left", plain.Len())
		}
	})
}

// TestOracleCompressedBodies checks that DataStax's codec reads our compressed v4 bodies and that
// we read its bodies.
func TestOracleCompressedBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		codec := frame.NewRawCodecWithCompression(lz4.Compressor{})
		frames := genFrames(t, V4)
		in := bytes.NewBuffer(encode(t, V4, LZ4, frames))
		for i, f := range frames {
			o, err := codec.DecodeRawFrame(in)
			if err != nil {
				t.Fatal(err)
			}
			body := o.Body
			if Flags(o.Header.Flags)&FlagCompressed != 0 {
				if body, err = (lz4.Compressor{}).DecompressFrame(body); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(body, f.body) {
				t.Fatalf("frame %d read by the oracle: %d bytes, want %d", i, len(body), len(f.body))
			}
			theirs, err := (lz4.Compressor{}).CompressFrame(f.body)
			if err != nil {
				t.Fatal(err)
			}
			f.h.Flags |= FlagCompressed
			_, got, err := NewRequestDecoder(bytes.NewReader(AppendFrame(nil, f.h, theirs)), 310_000).Next()
			if err != nil || !bytes.Equal(got, f.body) {
				t.Fatalf("frame %d written by the oracle: %d bytes, want %d, %v", i, len(got), len(f.body), err)
			}
		}
	})
}

// TestSegmentPacking checks that many frames share a segment, and that each segment is as full as
// possible.
func TestSegmentPacking(t *testing.T) {
	var e Encoder
	e.Established(V5, NoCompression)
	h := Header{Version: V5, Op: OpQuery}
	body := make([]byte, 991) // 1,000 with the header
	for range 262 {
		e.Frame(h, body)
	}
	out := e.Take(nil)
	if want := 262_000 + 2*(segmentHeader+segmentTrailer); len(out) != want {
		t.Errorf("%d bytes, want %d in two segments", len(out), want)
	}
	e.Frame(h, make([]byte, MaxSegmentPayload-HeaderSize))
	e.Frame(h, make([]byte, MaxSegmentPayload-HeaderSize+1))
	for i, want := range []segmentHead{
		{length: MaxSegmentPayload, plain: MaxSegmentPayload, selfContained: true},
		{length: MaxSegmentPayload, plain: MaxSegmentPayload},
		{length: 1, plain: 1},
	} {
		if i == 0 {
			out = e.Take(nil)
		}
		got, err := parseSegmentHead(out, NoCompression)
		if err != nil || got != want {
			t.Fatalf("segment %d: %+v, %v, want %+v", i, got, err, want)
		}
		out = out[segmentHeader+got.length+segmentTrailer:]
	}
	if len(out) != 0 {
		t.Errorf("%d bytes are left", len(out))
	}
}

// TestHandshake plays both sides: bare frames up to READY, then segments.
func TestHandshake(t *testing.T) {
	for _, v := range versions {
		for _, c := range []Compression{NoCompression, LZ4} {
			var client, server Encoder
			client.Frame(Header{Version: v, Op: OpStartup}, AppendStartup(nil, map[string]string{OptionCompression: c.String()}))
			toServer := &bytes.Buffer{}
			toServer.Write(client.Take(nil))
			atServer := NewRequestDecoder(toServer, 1<<17)
			h, body, err := atServer.Next()
			if err != nil || h.Op != OpStartup {
				t.Fatal(h, err)
			}
			options, err := ParseStartup(body)
			if err != nil {
				t.Fatal(err)
			}
			agreed, ok := ParseCompression(options[OptionCompression])
			if !ok || agreed != c {
				t.Fatalf("compression %q", options[OptionCompression])
			}
			server.Frame(Header{Version: v, Response: true, Op: OpAuthenticate}, AppendAuthenticate(nil, "org.example.Authenticator"))
			server.Established(v, agreed)
			atServer.Established(v, agreed)

			toClient := &bytes.Buffer{}
			server.Frame(Header{Version: v, Response: true, Op: OpEvent}, make([]byte, 200))
			toClient.Write(server.Take(nil))
			atClient := NewResponseDecoder(toClient, 1<<17)
			if h, _, err = atClient.Next(); err != nil || h.Op != OpAuthenticate {
				t.Fatal(h, err)
			}
			client.Established(v, c)
			atClient.Established(v, c)
			if h, body, err = atClient.Next(); err != nil || h.Op != OpEvent || len(body) != 200 {
				t.Fatal(h, err)
			}
			client.Frame(Header{Version: v, Op: OpAuthResponse}, AppendAuthResponse(nil, make([]byte, 300)))
			toServer.Write(client.Take(nil))
			if h, body, err = atServer.Next(); err != nil || h.Op != OpAuthResponse || len(body) != 304 {
				t.Fatal(h, err)
			}
			other := V4 + V5 - v
			e := Encoder{}
			e.Established(v, c)
			e.Frame(Header{Version: other, Op: OpQuery}, nil)
			toServer.Write(e.Take(nil))
			if _, _, err = atServer.Next(); err == nil || !strings.Contains(err.Error(), "Invalid message version. Got "+other.String()) {
				t.Fatalf("another version: %v", err)
			}
		}
	}
}

// TestCorruption checks that no flipped bit of a segment goes unnoticed. The header's CRC covers
// its padding bits too.
func TestCorruption(t *testing.T) {
	for _, c := range []Compression{NoCompression, LZ4} {
		var e Encoder
		e.Established(V5, c)
		e.Frame(Header{Version: V5, Op: OpQuery}, bytes.Repeat([]byte("corruption"), 30))
		in := e.Take(nil)
		for i := range in {
			for bit := range 8 {
				bad := bytes.Clone(in)
				bad[i] ^= 1 << bit
				d := NewRequestDecoder(bytes.NewReader(bad), 1<<17)
				d.Established(V5, c)
				_, _, err := d.Next()
				var e *Error
				if !errors.As(err, &e) || e.Code != CodeProtocol {
					t.Fatalf("bit %d of byte %d: %v", bit, i, err)
				}
			}
		}
	}
}

// endless is a reader that counts the bytes read from it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	clear(p)
	return len(p), nil
}

// TestLimits checks that a decoder refuses too long frames before it reads them or allocates memory
// for them, in every framing. For a length within the limit, it must allocate memory only as bytes
// arrive.
func TestLimits(t *testing.T) {
	const limit = 100_000
	bomb := binary.BigEndian.AppendUint32(nil, limit)
	bomb = append(bomb, make([]byte, 100)...) // 100 bytes cannot hold 100,000
	long := Header{Version: V5, Op: OpQuery, Length: limit + 1}.Append(nil)
	for name, in := range map[string]struct {
		established Version
		bytes       []byte
		code        Code
	}{
		"frame":                      {0, Header{Version: V4, Op: OpQuery, Length: limit + 1}.Append(nil), CodeInvalid},
		"negative length":            {0, Header{Version: V4, Op: OpQuery, Length: -1}.Append(nil), CodeProtocol},
		"compressed body":            {0, AppendFrame(nil, Header{Version: V4, Op: OpQuery, Flags: FlagCompressed}, binary.BigEndian.AppendUint32(nil, limit+1)), CodeInvalid},
		"compressed bomb":            {0, AppendFrame(nil, Header{Version: V4, Op: OpQuery, Flags: FlagCompressed}, bomb), CodeProtocol},
		"short compressed":           {0, AppendFrame(nil, Header{Version: V4, Op: OpQuery, Flags: FlagCompressed}, []byte{1}), CodeProtocol},
		"frame in a segment":         {V5, appendSegment(nil, NoCompression, long, true), CodeInvalid},
		"frame over segments":        {V5, appendSegment(nil, NoCompression, long, false), CodeInvalid},
		"frame cut in segment":       {V5, appendSegment(nil, NoCompression, Header{Version: V5, Op: OpQuery, Length: 5}.Append(nil), true), CodeProtocol},
		"header cut in segment":      {V5, appendSegment(nil, NoCompression, []byte{5}, true), CodeProtocol},
		"frame and more":             {V5, appendSegment(nil, NoCompression, append(Header{Version: V5, Op: OpOptions}.Append(nil), 1), false), CodeProtocol},
		"self-contained after piece": {V5, appendSegment(appendSegment(nil, NoCompression, []byte{5, 0}, false), NoCompression, Header{Version: V5, Op: OpOptions}.Append(nil), true), CodeProtocol},
		"empty piece":                {V5, appendSegment(appendSegment(nil, NoCompression, []byte{5, 0}, false), NoCompression, nil, false), CodeProtocol},
	} {
		rest := &endless{}
		d := NewRequestDecoder(io.MultiReader(bytes.NewReader(in.bytes), rest), limit)
		if in.established != 0 {
			d.Established(in.established, NoCompression)
		}
		_, _, err := d.Next()
		var e *Error
		if !errors.As(err, &e) || e.Code != in.code {
			t.Errorf("%s: %v", name, err)
		}
		if rest.read > readBuffer || cap(d.buf) > readBuffer || cap(d.plain) > 0 || cap(d.joined) > readBuffer {
			t.Errorf("%s: %d bytes read, buffers of %d, %d, %d", name, rest.read, cap(d.buf), cap(d.plain), cap(d.joined))
		}
	}

	const huge = 256 << 20
	h := Header{Version: V4, Op: OpQuery, Length: huge}
	d := NewRequestDecoder(io.MultiReader(bytes.NewReader(h.Append(nil)), bytes.NewReader(make([]byte, 100_000))), huge)
	if _, _, err := d.Next(); err != io.ErrUnexpectedEOF || cap(d.buf) > 300_000 {
		t.Errorf("huge: %v, a buffer of %d", err, cap(d.buf))
	}
}

// TestBuffersShrink checks that a decoder frees its buffer after a long frame.
func TestBuffersShrink(t *testing.T) {
	for _, v := range versions {
		var e Encoder
		e.Established(v, NoCompression)
		e.Frame(Header{Version: v, Op: OpQuery}, make([]byte, 5<<20))
		in := e.Take(nil)
		e.Frame(Header{Version: v, Op: OpQuery}, make([]byte, MaxSegmentPayload))
		in = append(in, e.Take(nil)...)
		d := NewRequestDecoder(iotest.HalfReader(bytes.NewReader(in)), 1<<30)
		d.Established(v, NoCompression)
		for range 2 {
			if _, _, err := d.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if cap(d.buf) > keepBuffer || cap(d.joined) > keepBuffer {
			t.Errorf("%s: buffers of %d and %d bytes are kept", v, cap(d.buf), cap(d.joined))
		}
	}
}

// TestBuffered checks that Buffered tells whether Next would have to read.
func TestBuffered(t *testing.T) {
	for _, v := range versions {
		var e Encoder
		e.Established(v, NoCompression)
		h := Header{Version: v, Op: OpQuery}
		e.Frame(h, make([]byte, 10))
		e.Frame(h, make([]byte, 10))
		in := e.Take(nil)
		e.Frame(h, make([]byte, 10))
		last := e.Take(nil)
		for cut := range last {
			d := NewRequestDecoder(bytes.NewReader(append(bytes.Clone(in), last[:cut]...)), 100)
			d.Established(v, NoCompression)
			for _, want := range []bool{true, false} {
				if _, _, err := d.Next(); err != nil {
					t.Fatal(err)
				}
				if d.Buffered() != want {
					t.Fatalf("%s, %d bytes of the last: buffered %v", v, cut, !want)
				}
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	d := NewRequestDecoder(iotest.ErrReader(broken), 10)
	if _, _, err := d.Next(); err != broken {
		t.Errorf("%v", err)
	}
	d = NewRequestDecoder(idle{}, 10)
	if _, _, err := d.Next(); err != io.ErrNoProgress {
		t.Errorf("%v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }
