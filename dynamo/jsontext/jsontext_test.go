// SPDX-License-Identifier: Apache-2.0

package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

var documents = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0.5e+10`, `"a"`, `"\u00e9\ud83d\ude00\ud83d\n\/\"\\"`, `{"a":{"b":[1,2,{"c":null}]}}`,
	` { "a" : [ ] , "b" : "x" } `, `[1,]`, `{"a"}`, `{"a":}`, `{,}`, `[1 2]`, `01`, `1.`, `1e`, `-`, `"\x"`, `"\u12"`, "\"\x01\"", `"a`, `{"a":1`, `tru`, `nul`, `1 2`, ``,
	"\"\xff\xc3\"", `"a long string without any escapes in it, and then é"`, `"0123456\"7"`, `"01234567\\"`,
}

// Skip takes what encoding/json does.
func FuzzSkip(f *testing.F) {
	for _, s := range documents {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r := jsontext.NewReader(src)
		r.Skip()
		err := r.End()
		if want := json.Valid(src) && utf8.Valid(src); (err == nil) != want && !errors.Is(err, jsontext.ErrDepth) {
			t.Errorf("%q: %v, but valid is %v", src, err, want)
		}
	})
}

// Text gives what encoding/json does, and AppendString writes it back.
func FuzzText(f *testing.F) {
	for _, s := range documents {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r := jsontext.NewReader(src)
		got := r.Text()
		err := r.End()
		var want string
		if bytes.HasPrefix(bytes.TrimLeft(src, " \t\r\n"), []byte("null")) {
			return // which encoding/json takes for a string
		}
		if wantErr := json.Unmarshal(src, &want); (err == nil) != (wantErr == nil && utf8.Valid(src)) {
			t.Fatalf("%q: %v, want %v, and valid UTF-8", src, err, wantErr)
		}
		if err != nil {
			return
		}
		if got != want {
			t.Fatalf("%q is %q, want %q", src, got, want)
		}
		var back string
		text := jsontext.AppendString(nil, got)
		if err := json.Unmarshal(text, &back); err != nil || back != got {
			t.Fatalf("%q is written as %s", got, text)
		}
		if other := jsontext.AppendString(nil, []byte(got)); !bytes.Equal(text, other) {
			t.Fatalf("%q is written as %s and as %s", got, text, other)
		}
	})
}

func TestStringsOfAllBytes(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			b := bytes.Repeat([]byte("x"), 17)
			b[at] = byte(c)
			text := jsontext.AppendString(nil, b)
			var back string
			if err := json.Unmarshal(text, &back); err != nil || back != strings.ToValidUTF8(string(b), "\ufffd") {
				t.Errorf("%q is written as %s", b, text)
			}
			r := jsontext.NewReader(text)
			if got := r.Text(); got != back || r.End() != nil {
				t.Errorf("%s is read as %q, %v", text, got, r.Err())
			}
		}
	}
}

func TestDepth(t *testing.T) {
	for depth, ok := range map[int]bool{jsontext.MaxDepth: true, jsontext.MaxDepth + 1: false, 1_000_000: false} {
		r := jsontext.NewReader([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		r.Skip()
		if err := r.End(); (err == nil) != ok || !ok && !errors.Is(err, jsontext.ErrDepth) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

// An error stays, and loops end, whatever is read after it.
func TestErrorsStay(t *testing.T) {
	r := jsontext.NewReader([]byte(`{"a": x}`))
	n := 0
	for r.Object(); r.Next(); {
		r.Number()
		first := r.Err()
		r.Text()
		r.Array()
		r.Bool()
		if r.Err() != first || first == nil {
			t.Errorf("%v became %v", first, r.Err())
		}
		if n++; n > 1 {
			t.Fatal("the loop does not end")
		}
	}
	if r.End() == nil {
		t.Error("no error")
	}
}

func TestRawAndOffsets(t *testing.T) {
	r := jsontext.NewReader([]byte(` {"a": [1, {"b": 2}] , "c":3}`))
	r.Object()
	r.Next()
	r.Peek()
	start := r.Offset()
	if got := string(r.Raw()); got != `[1, {"b": 2}]` || string(r.Since(start)) != got {
		t.Errorf("raw is %s", got)
	}
	if !r.Next() || r.Name() != "c" || r.Number() != "3" || r.Next() || r.End() != nil {
		t.Errorf("reading went wrong after Raw: %v", r.Err())
	}
}

func BenchmarkText(b *testing.B) {
	src := []byte(`"` + strings.Repeat("x", 1000) + `"`)
	r := jsontext.NewReader(src)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(src)
		r.Text()
	}
}
