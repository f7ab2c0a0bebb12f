// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"testing"
)

// loop is a reader that repeats the same bytes for ever.
type loop struct {
	b   []byte
	off int
}

func (l *loop) Read(p []byte) (int, error) {
	if l.off == len(l.b) {
		l.off = 0
	}
	n := copy(p, l.b[l.off:])
	l.off += n
	return n, nil
}

// sampleExecute returns an EXECUTE like those of drivers.
func sampleExecute(v Version) []byte {
	e := Execute{ID: []byte("0123456789abcdef"), MetadataID: []byte("0123456789abcdef"), Params: Params{Consistency: LocalQuorum}}
	e.Params.SetValues(Values{Count: 4, Raw: AppendBytes(AppendNull(AppendBytes(AppendBytes(nil, []byte{0, 0, 0, 1}), []byte("some title"))), bytes.Repeat([]byte("x"), 100))})
	e.Params.SetPageSize(5000)
	e.Params.SetDefaultTimestamp(1234567890)
	e.Params.SetSkipMetadata(true)
	return AppendExecute(nil, v, &e)
}

// sampleRows returns a page of 100 rows with 5 columns.
func sampleRows(v Version) []byte {
	var w RowsWriter
	w.Begin(nil, sampleMetadata(v))
	for i := range 100 {
		for range 4 {
			w.Cell([]byte{0, 0, 0, byte(i)})
		}
		w.Cell(bytes.Repeat([]byte("v"), 50))
		w.EndRow()
	}
	return w.Finish()
}

func sampleMetadata(v Version) Metadata {
	t, _, err := ParseType([]byte{0, 9})
	if err != nil {
		panic(err)
	}
	var columns []Column
	for _, name := range []string{"publish_date", "title", "author", "words", "description"} {
		columns = append(columns, Column{"tracker", "blogs", name, t})
	}
	return EncodeColumns(v, columns)
}

func zero(t *testing.T, what string, f func()) {
	t.Helper()
	f() // the first call grows the buffers
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("%s: %v allocations", what, n)
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	for _, v := range versions {
		h := Header{Version: v, Op: OpExecute, Stream: 5}
		head := h.Append(nil)
		buf := make([]byte, 0, 100_000)
		zero(t, "header", func() {
			h, _ := ParseHeader(head)
			buf = h.Append(buf[:0])
		})

		execute := sampleExecute(v)
		scratch := make([]Value, 0, 10)
		shard := AppendBytes(nil, []byte{0, 0, 0, 7})
		zero(t, "EXECUTE", func() {
			e, err := ParseExecute(v, execute)
			if err != nil || len(e.Params.Values.Slice(scratch[:0])) != 4 {
				t.Fatal(err)
			}
			e.ID, e.MetadataID = e.ID[:8], nil
			e.Params.SetValues(e.Params.Values.Insert(1, 1, shard))
			e.Params.SetPageSize(100)
			e.Params.SetPagingState(shard)
			e.Params.Consistency = One
			buf = AppendExecute(buf[:0], v, &e)
		})

		query := AppendQuery(nil, v, &Query{Text: []byte("SELECT * FROM t"), Params: Params{Consistency: One}})
		zero(t, "QUERY", func() {
			q, err := ParseQuery(v, query)
			if err != nil {
				t.Fatal(err)
			}
			buf = AppendQuery(buf[:0], v, &q)
		})

		raw := AppendBatchStatement(nil, &BatchStatement{Text: []byte("INSERT")})
		raw = AppendBatchStatement(raw, &BatchStatement{Prepared: true, ID: []byte("id"), Values: Values{Count: 1, Raw: shard}})
		batch := AppendBatch(nil, v, &Batch{Count: 2, Raw: raw, Params: Params{Consistency: One}})
		zero(t, "BATCH", func() {
			b, err := ParseBatch(v, batch)
			if err != nil {
				t.Fatal(err)
			}
			buf = buf[:0]
			for it := b.Iter(); it.Next(); {
				buf = AppendBatchStatement(buf, &it.BatchStatement)
			}
		})

		rows := sampleRows(v)
		cells := make([][]byte, 5)
		var w RowsWriter
		zero(t, "rows", func() {
			r, err := ParseRows(rows)
			if err != nil {
				t.Fatal(err)
			}
			w.Begin(w.Buffer(), r.Metadata)
			it := r.Iter(cells)
			for it.Next() {
				if it.Left()%2 == 0 {
					w.Row(it.Row())
					continue
				}
				for _, c := range it.Cells {
					w.Cell(c)
				}
				w.EndRow()
			}
			w.SetPagingState(shard)
			if err := it.Err(); err != nil || len(w.Finish()) != len(rows)+4+len(shard) {
				t.Fatal(err, len(w.Finish()), len(rows))
			}
		})

		for _, c := range []Compression{NoCompression, LZ4} {
			var e Encoder
			e.Established(v, c)
			var spare []byte
			write := func() {
				for range 10 {
					e.Frame(h, execute, rows)
				}
				spare = e.Take(spare)
			}
			if write(); c == NoCompression || !raceDetector { // lz4 keeps its tables in a pool
				zero(t, "encoder "+c.String(), write)
			}
			d := NewRequestDecoder(&loop{b: spare}, 1<<20)
			d.Established(v, c)
			zero(t, "decoder "+c.String(), func() {
				for range 10 {
					if _, body, err := d.Next(); err != nil || len(body) != len(execute)+len(rows) {
						t.Fatal(err)
					}
				}
			})
			e.Frame(h, make([]byte, 500_000))
			d = NewRequestDecoder(&loop{b: e.Take(nil)}, 1<<20)
			d.Established(v, c)
			zero(t, "long frames "+c.String(), func() {
				if _, body, err := d.Next(); err != nil || len(body) != 500_000 {
					t.Fatal(err)
				}
			})
		}
	}
}
