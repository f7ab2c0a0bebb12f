package rows

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// all reads a text as a file of that name: the rows, and how many were bad.
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
	if err := src.Select(columns); err != nil {
		return nil, nil, err
	}
	for {
		row, err := src.Next()
		var b *BadRow
		switch {
		case errors.Is(err, io.EOF):
			if _, again := src.Next(); !errors.Is(again, io.EOF) {
				t.Errorf("after the end: %v", again)
			}
			return got, bad, nil
		case errors.As(err, &b):
			bad = append(bad, fmt.Sprintf("%d: %s", b.Line, b.Reason))
		case err != nil:
			return got, bad, err
		default:
			got = append(got, append([]string{fmt.Sprint(src.Line())}, row...))
		}
	}
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
		{"a.csv", "b,\"a\"\n,\n\" x \",1", Options{}, [][]string{{"2", "", ""}, {"3", "1", " x "}}},
		{"a.csv", "a,b,,\n1,é,,", Options{}, [][]string{{"2", "1", "é"}}},
		{"a.jsonl", `{"a":1.50e3,"b":true}` + "\n\n" + `{"a":"\u00e9\n","b":false,"c":{"d":[1]}}` + "\r\n", Options{}, [][]string{{"1", "1.50e3", "true"}, {"3", "é\n", "false"}}},
		{"a.jsonl", `{"a":12345678901234567890123,"b":""}`, Options{}, [][]string{{"1", "12345678901234567890123", ""}}},
	} {
		got, bad, err := all(t, c.name, c.text, c.o, "a", "b")
		if err != nil || len(bad) > 0 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %.40q: %q, bad %q, %v; want %q", c.name, c.text, got, bad, err, c.want)
		}
	}
}

// Bad rows are named, and what follows them is read.
func TestBadRows(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		good       int
	}{
		{"a.csv", "a,b\n1\n1,2,3\n4,5", []string{"2: 1 field where the header has 2", "3: 3 fields where the header has 2"}, 1},
		{"a.csv", "a,b\n\xff,1\n1,\xe9t\xe9\n4,5", []string{`2: column "a" is not UTF-8`, `3: column "b" is not UTF-8`}, 1},
		{"a.csv", "a,b\n1,x\"y\n4,5", []string{"2: a quote at column 4, in a field that does not begin with one"}, 1},
		{"a.csv", "a,b\n1,\"x\"y\n4,5", []string{"2: a field in quotes ends wrongly, or never, at column 5"}, 1},
		{"a.csv", "a,b\n1,2\n1,\"x\n4,5\n", []string{"3: a field in quotes ends wrongly, or never (noticed in line 4, column 5)"}, 1},
		{"a.jsonl", `{"a":1,"b":2}` + "\n[1]\n5\n{\"a\":\n{\"a\":1}\n{\"a\":null,\"b\":1}\n{\"a\":[1],\"b\":1}\n{\"a\":1,\"b\":{}}\n{\"a\":1,\"b\":\"\xff\"}\n{\"a\":1,\"b\":2} x\n{\"a\":3,\"b\":4}",
			[]string{
				"2: is no JSON object", "3: is no JSON object", "4: unexpected end of JSON input", `5: there is no field "b"`, `6: field "a" is null`,
				`7: field "a" is an array, which is no value of a key`, `8: field "b" is an object, which is no value of a key`, "9: is not UTF-8",
				"10: invalid character 'x' after top-level value",
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
		{"a.csv", "", "a.csv: is empty", "names the columns"},
		{"a.csv", " \n\n", "is empty", "names the columns"},
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
		{"a.parquet", "PAR1....", "is Parquet", "make CSV"},
		{"a.json", `[{"a":1}]`, "a.json:1: is a JSON array", "jq"},
		{"a.csv", "x,b\n1,2", `a.csv:1: there is no column "a"`, `the columns are "x", "b"`},
		{"a.csv", "A,b\n1,2", `there is no column "a"`, `"A"`},
		{"a.csv", "a;b\n1;2", `there is no column "a"`, "--delimiter ';'"},
		{"a.csv", "a\tb\n1\t2", `there is no column "a"`, "--delimiter tab"},
		{"a.jsonl", `{"b":1}`, `a.jsonl:1: there is no column "a"`, `"b"`},
		{"a.jsonl", "a,b\n1,2", "a.jsonl:1: is no JSON object", ""},
		{"a.csv", "a,b\n1,\"" + strings.Repeat("x", MaxRecord+1<<16), "a.csv:2: a record has more than 16 MB", "quote"},
		{"a.csv", "a,b\n1,\"x\ny\"\n1," + strings.Repeat("x", MaxRecord+1<<16), "a.csv:4: a record has more than 16 MB", ""},
		{"a.csv", "a,b\n" + strings.Repeat("x", MaxRecord+1<<16), "a record has more than 16 MB", "quote"},
		{"a.jsonl", `{"a":1,"b":"` + strings.Repeat("x", MaxRecord+1<<16), "a.jsonl:1: a record has more than 16 MB", ""},
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
	src, err := Open("-", Options{Stdin: strings.NewReader(pack(t, "zstd", "a\n1\n"))})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := src.Select([]string{"a"}); err != nil {
		t.Fatal(err)
	}
	if row, err := src.Next(); err != nil || row[0] != "1" {
		t.Errorf("%q, %v", row, err)
	}
	if read, size := src.Progress(); read == 0 || size != 0 {
		t.Errorf("progress %d of %d", read, size)
	}
	if src.Name() != "standard input" {
		t.Errorf("%s", src.Name())
	}
}

// Memory stays what it is while a hundred megabytes go by.
func TestMemoryIsBounded(t *testing.T) {
	row := strings.Repeat("x", 1000) + ",y\n"
	in := io.MultiReader(strings.NewReader("a,b\n"), io.LimitReader(&repeat{text: row}, 100<<20/int64(len(row))*int64(len(row))))
	src, err := Open("-", Options{Stdin: in})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := src.Select([]string{"a"}); err != nil {
		t.Fatal(err)
	}
	runtime.GC() // what other tests left
	var most uint64
	for n := 0; ; n++ {
		if _, err := src.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if n%20_000 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
		}
	}
	if most > 32<<20 {
		t.Errorf("%d MB in use", most>>20)
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

func fuzz(t *testing.T, data []byte, format Format) {
	src, err := Open("-", Options{Stdin: bytes.NewReader(data), Format: format})
	if err != nil {
		_ = Hint(err)
		return
	}
	defer src.Close()
	names, _, err := src.rows.columns()
	if err != nil {
		_ = err.Error()
		return
	}
	if err := src.Select(names); err != nil {
		t.Fatalf("its own columns: %v", err)
	}
	for range 1000 {
		row, err := src.Next()
		var bad *BadRow
		switch {
		case errors.As(err, &bad):
			if bad.Line < 1 {
				t.Fatalf("a bad row in line %d", bad.Line)
			}
		case err != nil:
			if _, again := src.Next(); again == nil {
				t.Fatalf("a row after %v", err)
			}
			return
		default:
			if len(row) != len(names) {
				t.Fatalf("%d values of %d", len(row), len(names))
			}
			for _, v := range row {
				if !utf8.ValidString(v) {
					t.Fatalf("%q is not UTF-8", v)
				}
			}
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\n\"x\"\"y\"\n", "\xef\xbb\xbfa;b\n1", "a,b\n1\n\"", "\x1f\x8b\x08\x00", "a\r\n\xff\r\n", "(\xb5/\xfd\x00", ",\n,\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, data, CSV) })
}

func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{`{"a":1}` + "\n" + `{"a":"x"}`, "{}\n{}", `{"a":{}}`, "{\"a\":\"\xff\"}", `{"":null}`, "\xef\xbb\xbf{", `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, data, JSONLines) })
}

// A JSON text is what encoding/json makes of it.
func FuzzJSONText(f *testing.F) {
	f.Add("x")
	f.Add("\u2028\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		raw, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		src, err := Open("-", Options{Stdin: bytes.NewReader(raw), Format: JSONLines})
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Select([]string{"a"}); err != nil {
			t.Fatal(err)
		}
		if row, err := src.Next(); err != nil || row[0] != text {
			t.Fatalf("%q, %v; want %q", row, err, text)
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	line := "10,1010,9927a129-abed-4903-85b4-01e3129814d5\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	src, err := Open("-", Options{Stdin: io.MultiReader(strings.NewReader("code,user,uuid\n"), &repeat{text: line})})
	if err != nil {
		b.Fatal(err)
	}
	if err := src.Select([]string{"code", "user"}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := src.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
