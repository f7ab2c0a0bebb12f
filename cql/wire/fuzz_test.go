// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The fuzz targets look for panics, for memory out of proportion, and for accepted bytes that
// change when they are written and read again.

func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"v4", "v4-lz4", "v5", "v5-lz4"} {
		b := stream(f, name)
		f.Add(b[:min(len(b), 5000)], uint8(0))
	}
	for mode, c := range []Compression{NoCompression, LZ4} {
		var e Encoder
		e.Established(V5, c)
		for _, n := range []int{0, 10, 1000} {
			e.Frame(Header{Version: V5, Response: true, Op: OpResult}, make([]byte, n))
		}
		f.Add(e.Take(nil), uint8(1+mode))
		f.Add(appendSegment(appendSegment(nil, c, Header{Version: V5, Response: true, Op: OpResult, Length: 300}.Append(nil), false), c, make([]byte, 300), false), uint8(1+mode))
	}
	f.Fuzz(func(t *testing.T, in []byte, mode uint8) {
		const limit = 1 << 20
		d := NewResponseDecoder(bytes.NewReader(in), limit)
		switch mode % 4 {
		case 1:
			d.Established(V5, NoCompression)
		case 2:
			d.Established(V5, LZ4)
		case 3:
			d.Established(V4, LZ4)
		}
		for {
			h, body, err := d.Next()
			if err != nil {
				var e *Error
				if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.As(err, &e) {
					t.Fatalf("%v", err)
				}
				break
			}
			if int(h.Length) != len(body) || len(body) > limit {
				t.Fatalf("%+v with %d bytes", h, len(body))
			}
		}
		if total := cap(d.buf) + cap(d.plain) + cap(d.joined); total > 2*lz4Ratio*len(in)+8*readBuffer {
			t.Fatalf("%d bytes of buffers for %d bytes", total, len(in))
		}
	})
}

// FuzzSegments writes any frames and reads them again; they must stay the same.
func FuzzSegments(f *testing.F) {
	f.Add([]byte("some body"), uint32(0), true)
	f.Add(bytes.Repeat([]byte("x"), 1000), uint32(MaxSegmentPayload), false)
	f.Fuzz(func(t *testing.T, body []byte, pad uint32, compressed bool) {
		c := NoCompression
		if compressed {
			c = LZ4
		}
		body = append(body, make([]byte, pad%(3*MaxSegmentPayload))...)
		for _, v := range versions {
			var e Encoder
			e.Established(v, c)
			h := Header{Version: v, Op: OpQuery, Stream: 9}
			for range 3 {
				e.Frame(h, body)
			}
			d := NewRequestDecoder(bytes.NewReader(e.Take(nil)), len(body))
			d.Established(v, c)
			for range 3 {
				got, b, err := d.Next()
				if err != nil || got.Stream != 9 || !bytes.Equal(b, body) {
					t.Fatalf("%s: %+v, %d of %d bytes, %v", v, got, len(b), len(body), err)
				}
			}
		}
	})
}

// stable checks that an accepted message is the same after it is written and read again.
func stable[T any](t *testing.T, v Version, in []byte, parse func(Version, []byte) (T, error), write func([]byte, Version, *T) []byte) {
	m, err := parse(v, in)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeProtocol {
			t.Fatalf("%T: %v", err, err)
		}
		return
	}
	out := write(nil, v, &m)
	again, err := parse(v, out)
	if err != nil {
		t.Fatalf("written as %x: %v", out, err)
	}
	if twice := write(nil, v, &again); !bytes.Equal(twice, out) {
		t.Fatalf("written as %x, then as %x", out, twice)
	}
}

func FuzzRequests(f *testing.F) {
	p := Params{Consistency: One}
	p.SetValues(Values{Count: 3, Raw: AppendUnset(AppendNull(AppendBytes(nil, []byte("v"))))})
	p.SetPageSize(5)
	p.SetPagingState([]byte("state"))
	p.SetSerialConsistency(LocalSerial)
	p.SetDefaultTimestamp(7)
	p.SetKeyspace([]byte("ks"))
	p.SetNowInSeconds(9)
	named := p
	named.SetValues(Values{Count: 1, Named: true, Raw: AppendBytes(AppendString(nil, "n"), []byte("v"))})
	for _, v := range versions {
		f.Add(AppendQuery(nil, v, &Query{Text: []byte("SELECT"), Params: p}))
		f.Add(AppendQuery(nil, v, &Query{Text: []byte("SELECT"), Params: named}))
		f.Add(AppendExecute(nil, v, &Execute{ID: []byte("id"), MetadataID: []byte("mid"), Params: p}))
		f.Add(AppendPrepare(nil, v, &Prepare{Text: []byte("SELECT"), Keyspace: []byte("ks")}))
		raw := AppendBatchStatement(nil, &BatchStatement{Text: []byte("INSERT"), Values: p.Values})
		raw = AppendBatchStatement(raw, &BatchStatement{Prepared: true, ID: []byte("id")})
		f.Add(AppendBatch(nil, v, &Batch{Count: 2, Raw: raw, Params: p}))
	}
	f.Add(AppendStartup(nil, map[string]string{"a": "b"}))
	f.Add(AppendRegister(nil, []string{EventSchema}))
	f.Add(AppendAuthResponse(nil, []byte("token")))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, v := range versions {
			stable(t, v, in, ParseQuery, AppendQuery)
			stable(t, v, in, ParseExecute, AppendExecute)
			if e, err := ParseExecute(v, in); err == nil {
				if id, err := ExecuteID(in); err != nil || string(id) != string(e.ID) {
					t.Fatalf("id %q, %v", id, err)
				}
			}
			stable(t, v, in, ParsePrepare, AppendPrepare)
			stable(t, v, in, ParseBatch, AppendBatch)
			if q, err := ParseQuery(v, in); err == nil {
				values(t, &q.Params.Values)
			}
			if b, err := ParseBatch(v, in); err == nil {
				n := 0
				for it := b.Iter(); it.Next(); n++ {
					values(t, &it.Values)
				}
				if n != b.Count {
					t.Fatalf("%d statements of %d", n, b.Count)
				}
			}
		}
		stable(t, V4, in, func(_ Version, b []byte) (map[string]string, error) { return ParseStartup(b) },
			func(dst []byte, _ Version, m *map[string]string) []byte { return AppendStartup(dst, *m) })
		stable(t, V4, in, func(_ Version, b []byte) ([]string, error) { return ParseRegister(b) },
			func(dst []byte, _ Version, m *[]string) []byte { return AppendRegister(dst, *m) })
		stable(t, V4, in, func(_ Version, b []byte) ([]byte, error) { return ParseAuthResponse(b) },
			func(dst []byte, _ Version, m *[]byte) []byte { return AppendAuthResponse(dst, *m) })
	})
}

// values compares the different ways to read values with each other.
func values(t *testing.T, v *Values) {
	list := v.Slice(nil)
	if len(list) != v.Count {
		t.Fatalf("%d values of %d", len(list), v.Count)
	}
	end := 0
	for i, x := range list {
		at, ok := v.At(i)
		if diff := cmp.Diff(x, at); !ok || diff != "" || x.Start != end {
			t.Fatalf("value %d: %s", i, diff)
		}
		end = x.End
	}
	if end != len(v.Raw) {
		t.Fatalf("values end at %d of %d", end, len(v.Raw))
	}
	if _, ok := v.At(v.Count); ok {
		t.Fatal("a value beyond the last")
	}
}

func FuzzResponses(f *testing.F) {
	for _, m := range capturedMessages(f) {
		f.Add(m.body, uint8(m.op), uint8(m.flags))
	}
	f.Fuzz(func(t *testing.T, in []byte, op, flags uint8) {
		p, rest, err := SplitPrefix(Op(op), Flags(flags), in)
		if err != nil {
			return
		}
		if again := append(p.Append(nil), rest...); !bytes.Equal(again, in) {
			t.Fatalf("prefix: %x, want %x", again, in)
		}
		for _, v := range versions {
			switch {
			case Op(op) == OpEvent || Op(op) == OpSupported || Op(op) == OpResult:
				once, err := rewrite(v, Op(op), rest)
				if err != nil {
					continue
				}
				if twice, err := rewrite(v, Op(op), once); err != nil || !bytes.Equal(once, twice) {
					t.Fatalf("written as %x, then %x, %v", once, twice, err)
				}
			}
			stable(t, v, rest, ParsePrepared, AppendPrepared)
			ParseAuthenticate(rest)
		}
	})
}

func FuzzRows(f *testing.F) {
	for _, m := range capturedMessages(f) {
		if _, rest, err := SplitPrefix(m.op, m.flags, m.body); err == nil && m.op == OpResult && KindOf(rest) == ResultRows {
			f.Add(rest)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ParseRows(in)
		if err != nil {
			return
		}
		var w RowsWriter
		w.Begin(nil, r.Metadata)
		it := r.Iter(nil)
		for it.Next() {
			w.Row(it.Row())
			for i, c := range it.Cells {
				if c != nil && len(c) > len(it.Row()) {
					t.Fatalf("cell %d of %d bytes in a row of %d", i, len(c), len(it.Row()))
				}
			}
		}
		if it.Err() != nil {
			return
		}
		again, err := ParseRows(w.Finish())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Metadata, again.Metadata, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("metadata (-want +got)\n%s", diff)
		}
		if again.Count != r.Count || !bytes.Equal(again.Raw, r.Raw[:it.End]) {
			t.Fatalf("%d rows %x, want %d rows %x", again.Count, again.Raw, r.Count, r.Raw[:it.End])
		}
	})
}

func FuzzError(f *testing.F) {
	for _, m := range capturedMessages(f) {
		if m.op == OpError {
			f.Add(m.body)
		}
	}
	for _, code := range oracleCodes {
		e := Error{Code: code, Message: "m", WriteType: WriteCAS, Keyspace: "k", Table: "t", Function: "f", Args: []string{"int"}, ID: []byte("id")}
		f.Add(e.Append(nil, V5))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, v := range versions {
			e, err := ParseError(v, in)
			if err != nil {
				continue
			}
			again, err := ParseError(v, e.Append(nil, v))
			if err != nil {
				t.Fatal(err)
			}
			if e.Code == CodeCASWriteUnknown && v < V5 {
				continue // v4 writes another code that it knows
			}
			e.Failures, again.Failures = 0, 0
			if diff := cmp.Diff(e, again, cmpopts.EquateEmpty(), compareAddr); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
		}
	})
}

func FuzzType(f *testing.F) {
	for _, m := range capturedMessages(f) {
		if m.name != "select_all" {
			continue
		}
		r, err := ParseRows(m.body)
		if err != nil {
			f.Fatal(err)
		}
		columns, err := r.Metadata.Columns()
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range columns {
			f.Add(AppendType(nil, m.version, c.Type))
		}
	}
	f.Add(bytes.Repeat([]byte{0, 0x20}, 1000))
	f.Fuzz(func(t *testing.T, in []byte) {
		typ, rest, err := ParseType(in)
		c := NewCursor(in)
		c.skipType(0)
		if (err == nil) != (c.Err() == nil) || err == nil && c.Remaining() != len(rest) {
			t.Fatalf("parsed: %v, %d bytes left; skipped: %v, %d bytes left", err, len(rest), c.Err(), c.Remaining())
		}
		if err != nil {
			return
		}
		for _, v := range versions {
			again, rest, err := ParseType(AppendType(nil, v, typ))
			if err != nil || len(rest) != 0 || !again.Equal(typ) {
				t.Fatalf("%+v, again %+v, %v", typ, again, err)
			}
		}
	})
}
