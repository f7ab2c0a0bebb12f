// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/compression/lz4"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/segment"
)

// Each benchmark does the same work with this package and with DataStax's codec:
//
//	go test -run '^$' -bench . -benchmem ./cql/wire

func BenchmarkExecute(b *testing.B) {
	body := sampleExecute(V5)
	h := Header{Version: V5, Op: OpExecute, Stream: 5}
	in := AppendFrame(nil, h, body)
	b.Run("parse/evenkeel", func(b *testing.B) {
		d := NewRequestDecoder(&loop{b: in}, 1<<20)
		b.ReportAllocs()
		for b.Loop() {
			_, body, err := d.Next()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := ParseExecute(V5, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse/datastax", func(b *testing.B) {
		codec := frame.NewCodec()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.DecodeFrame(bytes.NewReader(in)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("rewrite/evenkeel", func(b *testing.B) {
		d := NewRequestDecoder(&loop{b: in}, 1<<20)
		var e Encoder
		var buf, out []byte
		shard := AppendBytes(nil, []byte{0, 0, 0, 7})
		b.ReportAllocs()
		for b.Loop() {
			h, body, err := d.Next()
			if err != nil {
				b.Fatal(err)
			}
			x, err := ParseExecute(V5, body)
			if err != nil {
				b.Fatal(err)
			}
			x.Params.SetValues(x.Params.Values.Insert(1, 1, shard))
			buf = AppendExecute(buf[:0], V5, &x)
			e.Frame(h, buf)
			out = e.Take(out)
		}
	})
	b.Run("rewrite/datastax", func(b *testing.B) {
		codec := frame.NewCodec()
		var out bytes.Buffer
		b.ReportAllocs()
		for b.Loop() {
			f, err := codec.DecodeFrame(bytes.NewReader(in))
			if err != nil {
				b.Fatal(err)
			}
			x := f.Body.Message.(*message.Execute)
			x.Options.PositionalValues = append(x.Options.PositionalValues, x.Options.PositionalValues[0])
			out.Reset()
			if err := codec.EncodeFrame(f, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRows(b *testing.B) {
	body := sampleRows(V5)
	in := AppendFrame(nil, Header{Version: V5, Response: true, Op: OpResult}, body)
	b.Run("read/evenkeel", func(b *testing.B) {
		d := NewResponseDecoder(&loop{b: in}, 1<<20)
		cells := make([][]byte, 5)
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for b.Loop() {
			_, body, err := d.Next()
			if err != nil {
				b.Fatal(err)
			}
			r, err := ParseRows(body)
			if err != nil {
				b.Fatal(err)
			}
			it := r.Iter(cells)
			for it.Next() {
			}
			if it.Err() != nil {
				b.Fatal(it.Err())
			}
		}
	})
	codec := frame.NewCodec()
	b.Run("read/datastax", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.DecodeFrame(bytes.NewReader(in)); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, err := ParseRows(body)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write/evenkeel", func(b *testing.B) {
		var rows [][][]byte
		it := r.Iter(nil)
		for it.Next() {
			rows = append(rows, append([][]byte(nil), it.Cells...))
		}
		var w RowsWriter
		var e Encoder
		var out []byte
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for b.Loop() {
			w.Begin(w.Buffer(), r.Metadata)
			for _, row := range rows {
				for _, c := range row {
					w.Cell(c)
				}
				w.EndRow()
			}
			e.Frame(Header{Version: V5, Response: true, Op: OpResult}, w.Finish())
			out = e.Take(out)
		}
	})
	b.Run("write/datastax", func(b *testing.B) {
		f, err := codec.DecodeFrame(bytes.NewReader(in))
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for b.Loop() {
			out.Reset()
			if err := codec.EncodeFrame(f, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSegments sends 100 frames of 200 bytes through segments.
func BenchmarkSegments(b *testing.B) {
	body := sampleExecute(V5)
	h := Header{Version: V5, Op: OpExecute}
	const frames = 100
	for _, c := range []Compression{NoCompression, LZ4} {
		codec := segment.NewCodec()
		if c == LZ4 {
			codec = segment.NewCodecWithCompression(lz4.Compressor{})
		}
		name := map[Compression]string{NoCompression: "plain", LZ4: "lz4"}[c]
		var e Encoder
		e.Established(V5, c)
		for range frames {
			e.Frame(h, body)
		}
		in := e.Take(nil)
		size := int64(frames * (HeaderSize + len(body)))
		b.Run(fmt.Sprintf("%s/write/evenkeel", name), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				for range frames {
					e.Frame(h, body)
				}
				out = e.Take(out)
			}
		})
		b.Run(fmt.Sprintf("%s/write/datastax", name), func(b *testing.B) {
			raw := frame.NewRawCodec()
			f, err := raw.DecodeRawFrame(bytes.NewReader(AppendFrame(nil, h, body)))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			b.ReportAllocs()
			var payload, out bytes.Buffer
			for b.Loop() {
				payload.Reset()
				out.Reset()
				for range frames {
					if err := raw.EncodeRawFrame(f, &payload); err != nil {
						b.Fatal(err)
					}
				}
				s := &segment.Segment{Header: &segment.Header{IsSelfContained: true}, Payload: &segment.Payload{UncompressedData: payload.Bytes()}}
				if err := codec.EncodeSegment(s, &out); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%s/read/evenkeel", name), func(b *testing.B) {
			d := NewRequestDecoder(&loop{b: in}, 1<<20)
			d.Established(V5, c)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for range frames {
					if _, _, err := d.Next(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(fmt.Sprintf("%s/read/datastax", name), func(b *testing.B) {
			raw := frame.NewRawCodec()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				s, err := codec.DecodeSegment(bytes.NewReader(in))
				if err != nil {
					b.Fatal(err)
				}
				r := bytes.NewReader(s.Payload.UncompressedData)
				for range frames {
					if _, err := raw.DecodeRawFrame(r); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
