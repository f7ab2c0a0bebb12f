// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// all reads a text as a file of that name. It returns the rows, and how many were bad.
func all(t testing.TB, name, text string, o Options, columns ...string) (got [][]string, bad []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	src, err := Open(path, o)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	scanned, err := src.Scan(t.Context(), ScanOptions{Workers: 1, Columns: columns, MaxBadRows: 1000}, func(_ int, b *Batch) error {
		got = append(got, texts(b)...)
		return nil
	})
	for _, b := range scanned.First {
		bad = append(bad, fmt.Sprintf("%d: %s", b.Line, b.Reason))
	}
	return got, bad, err
}

// texts returns the rows of a batch: where each begins, and its values.
func texts(b *Batch) (rows [][]string) {
	for i := range b.N {
		row := []string{fmt.Sprint(b.Line(i))}
		for c := range b.Columns {
			v := &b.Columns[c]
			switch text := v.AppendText(nil, i, nil); {
			case v.Kind == Text && v.Spans[i].Nested():
				row = append(row, "nested "+string(text))
			case v.Null(i) && !(v.Kind == Text && v.Spans[i].Empty()):
				row = append(row, "null")
			default:
				row = append(row, string(text))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func pack(t testing.TB, how, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if how == "zstd" {
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	plain := [][]string{{"2", "1", "x"}, {"3", "2", "y"}}
	const text, lines = "a,b\n1,x\n2,y\n", `{"a":1,"b":"x"}` + "\n" + `{"b":"y","a":2}`
	jsonPlain := [][]string{{"1", "1", "x"}, {"2", "2", "y"}}
	for _, c := range []struct {
		name, text string
		o          Options
		want       [][]string
	}{
		{"a.csv", text, Options{}, plain},
		{"A.CSV", text, Options{}, plain},
		{"a", text, Options{}, plain},
		{"a.csv", "\xef\xbb\xbf" + text, Options{}, plain},
		{"a.csv", strings.ReplaceAll(text, "\n", "\r\n"), Options{}, plain},
		{"a.csv", strings.TrimSuffix(text, "\n"), Options{}, plain},
		{"a.tsv", "a\tb\n1\tx\n2\ty", Options{}, plain},
		{"a.csv", "b;a\nx;1\ny;2", Options{Delimiter: ';'}, plain},
		{"a.csv.gz", pack(t, "gzip", text), Options{}, plain},
		{"a.csv.zst", pack(t, "zstd", text), Options{}, plain},
		{"a.csv", pack(t, "gzip", text), Options{}, plain},
		{"a.gz", pack(t, "gzip", lines), Options{}, jsonPlain},
		{"a.csv.gz", pack(t, "gzip", "\xef\xbb\xbfa,b\n1,x\n") + pack(t, "gzip", "2,y\n"), Options{}, plain},
		{"a.jsonl", lines, Options{}, jsonPlain},
		{"a.ndjson.zstd", pack(t, "zstd", lines), Options{}, jsonPlain},
		{"a.json", "\xef\xbb\xbf" + lines, Options{}, jsonPlain},
		{"a", " \n" + lines, Options{}, [][]string{{"2", "1", "x"}, {"3", "2", "y"}}},
		{"a.csv", lines, Options{Format: JSONLines}, jsonPlain},
		{"a.csv", "a,b\n\"1\",\"x\"\"\n,\"\n\n2,y", Options{}, [][]string{{"2", "1", "x\"\n,"}, {"5", "2", "y"}}},
		{"a.csv", "b,\"a\"\n,\n\" x \",1\n\"\",2", Options{}, [][]string{{"2", "", ""}, {"3", "1", " x "}, {"4", "2", ""}}},
		{"a.csv", "b;a\nx;1\ny;2", Options{}, plain},
		{"a", "a|b\n1|x\n2|y", Options{}, plain},
		{"a", "a\tb\n1\tx\n2\ty", Options{}, plain},
		{"a.csv", "a;b\n1;\"x,1\"\n2;\"y,2\"\n", Options{}, [][]string{{"2", "1", "x,1"}, {"3", "2", "y,2"}}},
		{"a.csv", "1,x\n2,y\n", Options{Names: []string{"a", "b"}}, [][]string{{"1", "1", "x"}, {"2", "2", "y"}}},
		{"a.csv", "a,b\n1,x\n2,y\n", Options{Names: []string{"a", "b"}}, plain},
		{"a.csv", "nr,name\n1,x\n2,y\n", Options{Names: []string{"a", "b"}}, plain},
		{"a.csv", "nr,name\n1,x\n2,y\n", Options{Names: []string{"a", "b"}, Header: HasHeader}, plain},
		{"a.csv", "v,w\nx,y\n", Options{Names: []string{"a", "b"}}, [][]string{{"1", "v", "w"}, {"2", "x", "y"}}},
		{"a.csv", "nr,name\n1,x\n", Options{Names: []string{"a", "b"}, Header: NoHeader}, [][]string{{"1", "nr", "name"}, {"2", "1", "x"}}},
		{"a.csv", "\r\n\na,b\r\n1,x\n2,y\n", Options{}, [][]string{{"4", "1", "x"}, {"5", "2", "y"}}},
		// This is how cqlsh's COPY TO writes it.
		{"a.csv", "a,b\n1,\"say \\\"hi\\\", he\\\\she\"\n2,\"{'k': 1, 'l': 2}\"\n3,a\\\\b\n", Options{}, [][]string{{"2", "1", `say "hi", he\she`}, {"3", "2", "{'k': 1, 'l': 2}"}, {"4", "3", `a\b`}}},
		{"a.csv", "a,b\n1,\"C:\\\"\n2,\"D:\\\"\n", Options{}, [][]string{{"2", "1", `C:\`}, {"3", "2", `D:\`}}},
		{"a.csv", "a,b,,\n1,é,,", Options{}, [][]string{{"2", "1", "é"}}},
		{"a.csv", "c3,a,,,b\nx,1,y,z,é", Options{}, [][]string{{"2", "1", "é"}}},
		{"a.jsonl", `{"a":1.50e3,"b":true}` + "\n\n" + `{"a":"\u00e9\n","b":false,"c":{"d":[1]}}` + "\r\n", Options{}, [][]string{{"1", "1.50e3", "true"}, {"3", "é\n", "false"}}},
		{"a.jsonl", `{"a":12345678901234567890123,"b":""}`, Options{}, [][]string{{"1", "12345678901234567890123", ""}}},
	} {
		got, bad, err := all(t, c.name, c.text, c.o, "a", "b")
		if err != nil || len(bad) > 0 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %.40q: %q, bad %q, %v; want %q", c.name, c.text, got, bad, err, c.want)
		}
	}
}

// TestBadRows checks that bad rows are named, and the rows after them are read.
func TestBadRows(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		good       int
	}{
		{"a.csv", "a,b\n1\n1,2,3\n4,5", []string{"2: 1 field where the header has 2", "3: 3 fields where the header has 2"}, 1},
		{"a.csv", "a,b\n\"1\"\n\"1\",2,3\n4,5", []string{"2: 1 field where the header has 2", "3: 3 fields where the header has 2"}, 1},
		{"a.csv", "a,b\n\xff,1\n1,\xe9t\xe9\n4,5", []string{`2: column "a" is not UTF-8`, `3: column "b" is not UTF-8`}, 1},
		{"a.csv", "a,b\n1,x\"y\n4,5", []string{"2: a quote at column 4, in a field that does not begin with one"}, 1},
		{"a.csv", "a,b\n1,\"x\"y\n4,5", []string{"2: a field in quotes ends wrongly at column 5"}, 1},
		{"a.csv", "a,b\n1,\"x\n\ny\"z\n4,5", []string{"4: a field in quotes ends wrongly at column 2"}, 1},
		{"a.csv", "a,b\n1,\"x\"\"\n\"\ny\"z\",1\n4,5\n1", []string{"4: a quote at column 2, in a field that does not begin with one", "6: 1 field where the header has 2"}, 2},
		{"a.csv", "a,b\n1,2\n1,\"x\n4,5\n", []string{"3: the quote at column 3 is never closed"}, 1},
		{"a.jsonl", `{"a":1,"b":2}` + "\n[1]\n5\n{\"a\":\n{\"a\":1,\"b\":\"\xff\"}\n{\"a\":1,\"b\":2} x\n{\"a\":3,\"b\":4}\n{\"a\":\"\\n\" \"b\"",
			[]string{
				"2: is no JSON object", "3: is no JSON object", "4: unexpected end of JSON input", "5: is not UTF-8",
				"6: invalid character 'x' after top-level value", "8: is no JSON: at character 11",
			}, 2},
	} {
		got, bad, err := all(t, c.name, c.text, Options{}, "a", "b")
		if err != nil || !reflect.DeepEqual(bad, c.want) || len(got) != c.good {
			t.Errorf("%.30q: %d good, bad %q, %v; want %q", c.text, len(got), bad, err, c.want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	packed := pack(t, "gzip", "a,b\n"+strings.Repeat("1,2\n", 100_000))
	zpacked := pack(t, "zstd", "a,b\n"+strings.Repeat("1,2\n", 100_000))
	damaged := []byte(packed)
	damaged[len(damaged)-6] ^= 0x55
	for _, c := range []struct{ name, text, want, hint string }{
		{"a.csv", "", "a.csv: is empty", "a record a line"},
		{"a.csv", " \n\n", "is empty", "a record a line"},
		{"a.csv", "\xef\xbb\xbf", "is empty", ""},
		{"a.jsonl", "", "is empty", "an object a line"},
		{"a.csv", "\xff\xfea\x00,\x00", "a.csv:1: is UTF-16", "iconv -f UTF-16"},
		{"a.csv", "a,b,a\n1,2,3", `a.csv:1: the header names column "a" twice, as field 1 and 3`, "rename"},
		{"a.csv", "a,\xe9\n1,2", "name 2 of the header is not UTF-8", "iconv"},
		{"a.csv", "a,\"b\n", "a.csv:", "quote"},
		{"a.csv.gz", "a,b\n1,2", "is not what its name says (.gz)", "rename"},
		{"a.csv.gz", packed[:len(packed)/2], "end too early", "copy it again"},
		{"a.csv.zst", zpacked[:len(zpacked)-8], "end too early", "copy it again"},
		{"a.csv.gz", string(damaged), "damaged", "copy"},
		{"a.parquet", "PAR1....", "the Parquet is damaged or cut short", "copy"},
		{"a.parquet", "a,b\n1,2", "is no Parquet", "rename"},
		{"a.csv", "x\n1\n", "there is no column \"a\"", "the columns are \"x\""},
		{"a.jsonl", "{}\n{}", "the objects have no fields", "columns"},
		{"a.json", `[{"a":1}]`, "a.json:1: is a JSON array", "jq"},
		{"a.csv", "x,b\n1,2", `a.csv:1: there is no column "a"`, `the columns are "x", "b"`},
		{"a.csv", "A,b\n1,2", `there is no column "a"`, `"A"`},
		{"a.jsonl", `{"b":1}`, `a.jsonl:1: there is no column "a"`, `"b"`},
		{"a.jsonl", "a,b\n1,2", "a.jsonl:1: is no JSON object", ""},
		{"a.csv", "a,b\n1,\"" + strings.Repeat("x", MaxRecord+1<<16), "a.csv:2: a record has more than 16 MB", "quote"},
		{"a.csv", "a,b\n1,\"x\ny\"\n1," + strings.Repeat("x", MaxRecord+1<<16), "a.csv:4: a record has more than 16 MB", ""},
		{"a.csv", strings.Repeat("x", MaxRecord+1<<16), "a.csv:1: the first line has more than 1024 KB", "line ends"},
		{"a.jsonl", `{"a":1,"b":"` + strings.Repeat("x", MaxRecord+1<<16), "a.jsonl:1: the first line has more than 1024 KB", "jq"},
	} {
		_, _, err := all(t, c.name, c.text, Options{}, "a", "b")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(Hint(err), c.hint) {
			t.Errorf("%s %.40q: %v (%s), want %s (%s)", c.name, c.text, err, Hint(err), c.want, c.hint)
		}
	}
	if _, err := Open(t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "orders.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "order.csv"), Options{}); err == nil || !strings.Contains(err.Error(), "no such file") || !strings.Contains(Hint(err), "orders.csv") {
		t.Errorf("a missing file: %v (%s)", err, Hint(err))
	}
	if _, err := Open("-", Options{Stdin: strings.NewReader("a,b\n"), Delimiter: '"'}); err == nil {
		t.Error("a quote as delimiter is taken")
	}
}

func TestStandardInput(t *testing.T) {
	for _, again := range []bool{false, true} {
		src, err := Open("-", Options{Stdin: strings.NewReader(pack(t, "zstd", "a\nx\n")), Again: again})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if src.Name() != "standard input" || src.Describe() != "CSV, fields parted by commas, a header, zstd" {
			t.Errorf("%s is %s", src.Name(), src.Describe())
		}
		for pass := range 3 {
			n := 0
			_, err := src.Scan(t.Context(), ScanOptions{}, func(_ int, b *Batch) error {
				n += b.N
				return nil
			})
			if pass > 0 && !again {
				if err == nil || !strings.Contains(err.Error(), "can be read only once") {
					t.Errorf("a second time: %v", err)
				}
				continue
			}
			if err != nil || n != 1 {
				t.Errorf("%d rows, %v", n, err)
			}
			if read, size := src.Progress(); read == 0 || size != 0 {
				t.Errorf("progress %d of %d", read, size)
			}
		}
	}
}

// TestMemoryIsBounded checks that memory does not grow while a hundred megabytes are read.
func TestMemoryIsBounded(t *testing.T) {
	row := strings.Repeat("x", 1000) + ",y\n"
	in := io.MultiReader(strings.NewReader("a,b\n"), io.LimitReader(&repeat{text: row}, 100<<20/int64(len(row))*int64(len(row))))
	src, err := Open("-", Options{Stdin: in})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	runtime.GC() // frees what other tests left
	var most atomic.Uint64
	_, err = src.Scan(t.Context(), ScanOptions{Workers: 2}, func(_ int, b *Batch) error {
		if b.Seq%50 == 0 {
			var m runtime.MemStats
			runtime.GC() // measures live memory, not garbage
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if most.Load() > 32<<20 {
		t.Errorf("%d MB in use", most.Load()>>20)
	}
}

type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n += c
		r.at = (r.at + c) % len(r.text)
	}
	return n, nil
}

func TestNearest(t *testing.T) {
	names := []string{"code", "user_id", "created at", "", "émail"}
	for name, want := range map[string]string{"coed": "code", "CODE": "code", "userid": "user_id", "user": "", "created_at": "created at", "zzz": "", "email": "émail"} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
