// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// typesRow computes the values that row i has in the files of testdata. DuckDB 2.0 wrote these
// files. Each file has 2,100 rows in two row groups, and a column for each type that DuckDB writes.
func typesRow(i int) []string {
	at := time.Date(2020, 7, 1, 10, 0, 0, 500e6, time.UTC)
	n, ns := fmt.Sprint(i), fmt.Sprintf("v%d", i)
	if i%3 == 0 {
		n = "null"
	}
	if i%5 == 0 {
		ns = "null"
	}
	ts := at.Add(time.Duration(i) * time.Second)
	return []string{
		fmt.Sprint(i), fmt.Sprint(i * 10_000_000_000), fmt.Sprint(i), fmt.Sprint(i % 200), fmt.Sprint(4_000_000_000 + i), fmt.Sprint(uint64(18446744073709500000) + uint64(i)),
		fmt.Sprint(i%2 == 0), fmt.Sprint(float64(i) / 4), fmt.Sprint(float64(i) / 4), fmt.Sprintf("%d.%02d", i*125/100, i*125%100), fmt.Sprintf("%d.%02d00", i*125/100, i*125%100),
		at.AddDate(0, 0, i).Format(time.DateOnly), ts.Format("2006-01-02T15:04:05.000Z"), at.Add(-500*time.Millisecond + time.Duration(i)*time.Minute).Format("2006-01-02T15:04:05.000Z"),
		time.Date(2020, 1, 1, 10, 0, i, 0, time.UTC).Format("15:04:05") + ".000000000",
		fmt.Sprintf("name%d", i%7), fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", i%100), fmt.Sprintf("0x%x", fmt.Sprintf("x%d", i)), n,
		fmt.Sprint(i), fmt.Sprintf("q%d", i), ns,
	}
}

var typesColumns = strings.Fields("i:int b:bigint sm:smallint ut:smallint ui:bigint ul:varint ok:boolean d:double f:float dec:decimal bigdec:decimal " +
	"day:date ts:timestamp tz:timestamp t:time s: u:uuid bl:blob n:bigint st.x:bigint st.y.z: ns:")

func TestParquet(t *testing.T) {
	for _, how := range []string{"gzip", "zstd", "snappy"} {
		name := filepath.Join("testdata", "types_"+how+".parquet")
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{name, "-"} { // a file, and compressed on standard input
			src, err := Open(in, Options{Stdin: strings.NewReader(pack(t, "gzip", string(whole)))})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var columns []string
			for _, c := range src.Columns() {
				columns = append(columns, c.Name+":")
				if c.Type != nil {
					columns[len(columns)-1] += c.Type.String()
				}
			}
			if !reflect.DeepEqual(columns, typesColumns) {
				t.Errorf("%s: columns %s, want %s", name, columns, typesColumns)
			}
			if want := "Parquet, 2100 rows in 2 row groups, without li"; !strings.HasPrefix(src.Describe(), want) {
				t.Errorf("%s is %s", name, src.Describe())
			}
			for range 2 { // twice
				got := make(map[string][]string)
				var mu sync.Mutex
				scanned, err := src.Scan(t.Context(), ScanOptions{Workers: 2}, func(_ int, b *Batch) error {
					mu.Lock()
					defer mu.Unlock()
					for i := range b.N {
						var row []string
						for c := range b.Columns {
							v := &b.Columns[c]
							if v.Null(i) {
								row = append(row, "null")
								continue
							}
							row = append(row, string(v.AppendText(nil, i, src.Columns()[c].Type)))
						}
						got[fmt.Sprint(b.Line(i)-1)] = row
					}
					return nil
				})
				if err != nil || scanned.Rows != 2100 {
					t.Fatalf("%s: %+v, %v", name, scanned, err)
				}
				for i := range 2100 {
					row := got[fmt.Sprint(i)]
					for c, want := range typesRow(i) {
						if len(row) <= c || row[c] != want {
							t.Fatalf("%s: row %d, %s is %q, want %q", name, i, typesColumns[c], row[c], want)
						}
					}
				}
			}
		}
	}
}

// TestParquetColumns checks that columns are chosen by name, in any order.
func TestParquetColumns(t *testing.T) {
	src, err := Open("testdata/types_zstd.parquet", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var got []string
	if _, err := src.Scan(t.Context(), ScanOptions{Workers: 1, Columns: []string{"s", "i"}}, func(_ int, b *Batch) error {
		got = append(got, fmt.Sprint(texts(b)[1]))
		return nil
	}); err != nil || got[0] != "[2 name1 1]" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := src.Scan(t.Context(), ScanOptions{Columns: []string{"q"}}, nil); err == nil || !strings.Contains(Hint(err), `"s"`) {
		t.Errorf("%v (%s)", err, Hint(err))
	}
}

// TestParquetPages reads values in dictionaries, in their own pages, and both in one batch; with
// nulls and without.
func TestParquetPages(t *testing.T) {
	type row struct {
		Text  string  `parquet:"text,dict"`
		Plain string  `parquet:"plain"`
		Maybe *string `parquet:"maybe,optional,dict"`
		N     *int64  `parquet:"n,optional"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(500), parquet.DataPageVersion(2))
	var want [][]string
	for i := range 9000 {
		r := row{Text: fmt.Sprint("t", i%50), Plain: fmt.Sprint("p", i)}
		line := []string{fmt.Sprint(i + 1), r.Text, r.Plain, "null", "null"}
		if i%1000 < 500 || i%3 == 0 {
			s, n := fmt.Sprint("m", i%90), int64(i)
			r.Maybe, r.N = &s, &n
			line[3], line[4] = s, fmt.Sprint(n)
		}
		want = append(want, line)
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		if i == 5000 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, bad, err := all(t, "a.parquet", b.String(), Options{}, "text", "plain", "maybe", "n")
	if err != nil || len(bad) > 0 || !reflect.DeepEqual(got, want) {
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
			}
		}
		t.Errorf("%d rows, %v", len(got), err)
	}
}

func TestDamagedParquet(t *testing.T) {
	whole, err := os.ReadFile("testdata/types_snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{4, 100, len(whole) / 2, len(whole) - 1} {
		_, _, err := all(t, "a.parquet", string(whole[:n]), Options{})
		if err == nil || !strings.Contains(err.Error(), "a.parquet: the Parquet is damaged or cut short") || Hint(err) == "" {
			t.Errorf("%d of %d bytes: %v (%s)", n, len(whole), err, Hint(err))
		}
	}
	if _, _, err := all(t, "a.parquet", "a,b\n", Options{Format: Parquet}); err == nil || !strings.Contains(err.Error(), "is no Parquet") {
		t.Errorf("%v", err)
	}
}

// FuzzParquet checks that damage causes an error, or other values, and nothing worse.
func FuzzParquet(f *testing.F) {
	whole, err := os.ReadFile("testdata/types_zstd.parquet")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(100, byte(1), 0)
	f.Add(len(whole)-20, byte(0x80), 0)
	f.Add(len(whole)-500, byte(0xff), 3)
	f.Fuzz(func(t *testing.T, at int, flip byte, cut int) {
		if at < 0 || at >= len(whole) || cut < 0 || cut >= len(whole) {
			return
		}
		data := bytes.Clone(whole[:len(whole)-cut])
		if at < len(data) {
			data[at] ^= flip
		}
		src, err := Open("-", Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			_ = Hint(err) + err.Error()
			return
		}
		defer src.Close()
		_, err = src.Scan(t.Context(), ScanOptions{Workers: 1, MaxBadRows: 1 << 40}, func(_ int, b *Batch) error {
			for c := range b.Columns {
				for i := range b.N {
					b.Columns[c].AppendText(nil, i, src.Columns()[c].Type)
				}
			}
			return nil
		})
		if err != nil {
			_ = Hint(err) + err.Error()
		}
	})
}

// TestParquetParts checks that several goroutines read a large row group in parts: each row once,
// numbered in its order, with an index of the pages and without one.
func TestParquetParts(t *testing.T) {
	type record struct {
		ID   int64   `parquet:"id"`
		Name string  `parquet:"name,dict"`
		Text *string `parquet:"text,optional"`
		N    *int64  `parquet:"n,optional"`
	}
	const all = 3*largePart + 777
	var out bytes.Buffer
	w := parquet.NewGenericWriter[record](&out, parquet.PageBufferSize(50_000))
	var list []record
	for i := range all {
		r := record{ID: int64(i), Name: fmt.Sprint("name ", i%100)}
		if i%3 > 0 {
			text := fmt.Sprint("text ", i)
			r.Text = &text
		}
		if i%7 > 0 {
			n := int64(2 * i)
			r.N = &n
		}
		if list = append(list, r); len(list) == 1000 || i == all-1 {
			if _, err := w.Write(list); err != nil {
				t.Fatal(err)
			}
			list = list[:0]
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := OpenBytes("t.parquet", out.Bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := src.format.(*parquetFormat)
	if len(f.file.RowGroups()) != 1 {
		t.Fatalf("%d row groups", len(f.file.RowGroups()))
	}
	f.parts = nil // as if there were four processors
	for start := 0; start < all; start += largePart {
		f.parts = append(f.parts, part{0, start, min(largePart, all-start), start / parquetBatch, start + 1})
	}
	var mu sync.Mutex
	seen := make([]int, all)
	scanned, err := src.Scan(t.Context(), ScanOptions{Workers: 4}, func(_ int, b *Batch) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range b.N {
			id := int(b.Columns[0].Ints[i])
			seen[id]++
			if b.Seq*parquetBatch+i != id {
				t.Fatalf("row %d is row %d of batch %d", id, i, b.Seq)
			}
			text, n := "null", int64(-1)
			if !b.Columns[2].Null(i) {
				text = string(b.Columns[2].Bytes(i))
			}
			if !b.Columns[3].Null(i) {
				n = b.Columns[3].Ints[i]
			}
			wantText, wantN := fmt.Sprint("text ", id), int64(2*id)
			if id%3 == 0 {
				wantText = "null"
			}
			if id%7 == 0 {
				wantN = -1
			}
			if string(b.Columns[1].Bytes(i)) != fmt.Sprint("name ", id%100) || text != wantText || n != wantN {
				t.Fatalf("row %d: %s, %s, %d", id, b.Columns[1].Bytes(i), text, n)
			}
		}
		return nil
	})
	if err != nil || scanned.Rows != all {
		t.Fatalf("%d rows, %v", scanned.Rows, err)
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("row %d came %d times", i, n)
		}
	}
	// Skipping rows from the beginning reaches the same row as seeking.
	for _, l := range f.leaves {
		c := &cursor{leaf: l, pages: f.file.RowGroups()[0].ColumnChunks()[l.index].Pages()}
		d := &cursor{leaf: l}
		left, err := d.seek(f.file.RowGroups()[0].ColumnChunks()[l.index], 2*largePart)
		if err != nil || left >= largePart {
			t.Fatalf("%v: %d rows are left, %v", l.path, left, err)
		}
		if err := c.skip(2 * largePart); err != nil {
			t.Fatal(err)
		}
		if err := d.skip(left); err != nil {
			t.Fatal(err)
		}
		var a, b Vector
		if err := c.fill(&a, 50); err != nil {
			t.Fatal(err)
		}
		if err := d.fill(&b, 50); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if x, y := string(a.AppendText(nil, i, l.typ)), string(b.AppendText(nil, i, l.typ)); a.Null(i) != b.Null(i) || !a.Null(i) && x != y {
				t.Fatalf("%v: row %d is %s and %s", l.path, i, x, y)
			}
		}
		c.close()
		d.close()
	}
}

// TestInterrupt checks that the wait for standard input ends when Interrupt is closed.
func TestInterrupt(t *testing.T) {
	stop := make(chan struct{})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	time.AfterFunc(30*time.Millisecond, func() { close(stop) })
	if _, err := Open("-", Options{Stdin: r, Interrupt: stop}); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}
