// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// read reads all pieces of data. Faults in the data must cause errors, and nothing worse.
func read(t *testing.T, data []byte, o Options) (rows [][]string, scanned Scanned, ok bool) {
	o.Stdin = bytes.NewReader(data)
	src, err := Open("-", o)
	if err != nil {
		_ = Hint(err) + err.Error()
		return nil, Scanned{}, false
	}
	defer src.Close()
	scanned, err = src.Scan(t.Context(), ScanOptions{Workers: 1, MaxBadRows: 1 << 40}, func(_ int, b *Batch) error {
		got := texts(b)
		for _, row := range got {
			for _, v := range row {
				if !utf8.ValidString(v) {
					t.Fatalf("%q is not UTF-8", v)
				}
			}
		}
		rows = append(rows, got...)
		return nil
	})
	if err != nil {
		_ = Hint(err) + err.Error()
		return nil, scanned, false
	}
	if int64(len(rows)) != scanned.Rows {
		t.Fatalf("%d rows, %d counted", len(rows), scanned.Rows)
	}
	lines := bytes.Count(data, newline) + 1
	for _, b := range scanned.First {
		if b.Line < 1 || b.Line > lines && !bytes.Contains(data, []byte("\x1f\x8b")) && !bytes.Contains(data, []byte("\x28\xb5\x2f\xfd")) {
			t.Fatalf("a bad row in line %d of %d", b.Line, lines)
		}
	}
	return rows, scanned, true
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\n\"x\"\"y\"\n", "\xef\xbb\xbfa;b\n1", "a,b\n1\n\"", "\x1f\x8b\x08\x00", "a\r\n\xff\r\n", "(\xb5/\xfd\x00", ",\n,\n", "a,b\n\"\\\"\",\"x\\\\\"\n", "a\n\"x\r\n\"\r\ny\"\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, scanned, ok := read(t, data, Options{Format: CSV})
		if !ok || scanned.Bad > 0 || bytes.ContainsAny(data, "\\") || bytes.Contains(data, []byte("\x1f\x8b")) || bytes.Contains(data, []byte("\x28\xb5\x2f\xfd")) {
			return
		}
		// Data without faults are read as encoding/csv reads them, with the same lines; but
		// encoding/csv removes \r before \n within quotes.
		src, err := Open("-", Options{Format: CSV, Stdin: bytes.NewReader(data)})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		c := src.format.(*csvFormat)
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
		r.Comma, r.FieldsPerRecord = rune(c.comma), -1
		var want [][]string
		for first := true; ; first = false {
			record, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("encoding/csv does not read it: %v", err)
			}
			if first && c.header > 0 {
				continue
			}
			line, _ := r.FieldPos(0)
			want = append(want, append([]string{fmt.Sprint(line)}, record...))
		}
		for _, row := range rows {
			for i, v := range row {
				row[i] = strings.ReplaceAll(v, "\r\n", "\n")
			}
		}
		if !reflect.DeepEqual(rows, want) {
			t.Fatalf("%q: %q, want %q", data, rows, want)
		}
	})
}

// FuzzCut checks that wherever a text is cut, each part is read as in the whole.
func FuzzCut(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "x,\"y\n\",z\n\"a\"b\nc,\"\"\"\n", "\"\\\"\n\",\\\"\n", "a\"\nb\n", "\"a\"\r\n\"b\"\r", "\"x\"\r\ny"} {
		f.Add([]byte(s), byte(0))
		f.Add([]byte(s), byte('\\'))
	}
	f.Fuzz(func(t *testing.T, data []byte, escape byte) {
		if escape != 0 {
			escape = '\\'
		}
		d := dialect{comma: ',', escape: escape}
		data = append(data, '\n')
		whole := d.lines(data)
		for n := range data {
			cut := d.cut(data[:n])
			if cut < 0 || cut > n {
				t.Fatalf("cut of %q at %d", data[:n], cut)
			}
			if cut == 0 {
				continue
			}
			parts := append(d.lines(data[:cut]), d.lines(data[cut:])...)
			slices.Sort(parts)
			if !reflect.DeepEqual(parts, whole) {
				t.Fatalf("%q cut at %d: %q, whole %q", data, cut, parts, whole)
			}
		}
	})
}

// lines returns the records of data; for a faulty record, its reason.
func (d dialect) lines(data []byte) (lines []string) {
	for width := range 5 {
		pick := make([]int, width)
		for i := range pick {
			pick[i] = i
		}
		b := Batch{Columns: make([]Vector, width)}
		b.reserve(len(data) + 1)
		p := csvParser{dialect: d, feed: &csvFeed{format: &csvFormat{}, pick: pick}, b: &b, data: append(bytes.Clone(data), make([]byte, padding)...)[:len(data)], valid: true}
		p.careful()
		b.end(p.data)
		for _, row := range texts(&b) {
			lines = append(lines, fmt.Sprint(width, row[1:]))
		}
		for range b.bads {
			lines = append(lines, fmt.Sprint(width, " bad"))
		}
	}
	// Sort by width, so that parts can be compared with the whole whatever the order.
	slices.Sort(lines)
	return lines
}

func FuzzJSONLines(f *testing.F) {
	for _, s := range []string{`{"a":1}` + "\n" + `{"a":"x"}`, "{}\n{}", `{"a":{}}`, "{\"a\":\"\xff\"}", `{"":null}`, "\xef\xbb\xbf{", `{"a":"\ud800"}`, `{"a":[{"b":[1,"\u00e9"]},{}]}`, `{"a":1e5,"b":-0.1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { read(t, data, Options{Format: JSONLines}) })
}

// FuzzJSONObject checks that a text is an object exactly if encoding/json accepts it, and has the
// same values.
func FuzzJSONObject(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{"a":"x\n\u00e9\ud83d\ude00\ud800"}`, `{"a":[1,{"b":null}],"c":true}`, `{"a":01}`, `{"a":1.}`, `{"a" : -0e+5 , "a":2}`, `{"a":"\x"}`, `{"\u0061":1}`, `{"a":{}}x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\n") || !utf8.ValidString(text) || strings.TrimSpace(text) == "" {
			return
		}
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		err := dec.Decode(&want)
		if err == nil && dec.More() || want == nil || !json.Valid([]byte(text)) {
			err = errors.New("not one object")
		}
		j := &jsonFormat{s: &Source{}, index: make(map[string]int)}
		feed := &jsonFeed{format: j}
		ours := errors.New("none")
		_ = feed.parse(&work{data: []byte(text + "\n"), line: 1, lines: 1}, func(b *Batch) error {
			if b.N == 0 {
				return nil
			}
			ours = nil
			for name, v := range want {
				i, ok := j.index[name]
				if !ok {
					t.Fatalf("%q: no field %q", text, name)
				}
				got := &b.Columns[i]
				s := got.Spans[0]
				switch v := v.(type) {
				case nil:
					ok = s.Null()
				case string:
					ok = s.String() && string(got.Bytes(0)) == v
				case json.Number:
					ok = string(got.Bytes(0)) == v.String() && !s.String()
				case bool:
					ok = string(got.Bytes(0)) == fmt.Sprint(v)
				default:
					ok = s.Nested() && json.Valid(got.Bytes(0))
				}
				if !ok {
					t.Fatalf("%q: %q is %q, want %v", text, name, got.Bytes(0), v)
				}
			}
			return nil
		})
		if (err == nil) != (ours == nil) {
			t.Fatalf("%q: %v, encoding/json %v", text, ours, err)
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"plain", "10,1010,9927a129-abed-4903-85b4-01e3129814d5\n"},
		{"quoted", "\"10\",\"1010\",\"9927a129-abed-4903-85b4-01e3129814d5\"\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.line)))
			b.ReportAllocs()
			in := io.MultiReader(strings.NewReader("code,user,uuid\n"), io.LimitReader(&repeat{text: c.line}, int64(len(c.line)*b.N)))
			src, err := Open("-", Options{Stdin: in})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := src.Scan(b.Context(), ScanOptions{Workers: 1}, func(int, *Batch) error { return nil }); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkJSONLines(b *testing.B) {
	line := `{"code":10,"user":"1010","uuid":"9927a129-abed-4903-85b4-01e3129814d5"}` + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	src, err := Open("-", Options{Stdin: io.LimitReader(&repeat{text: line}, int64(len(line)*b.N))})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := src.Scan(b.Context(), ScanOptions{Workers: 1}, func(int, *Batch) error { return nil }); err != nil {
		b.Fatal(err)
	}
}
