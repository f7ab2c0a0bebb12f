// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vectors reads testdata/name.tsv: the answers of Cassandra's own classes.
func vectors(t *testing.T, name string, least int, f func(t *testing.T, typ *Type, in []string, want string)) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	n := 0
	for line := range strings.Lines(string(data)) {
		question, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t=\t")
		if !ok {
			t.Fatalf("%q is no vector", line)
		}
		in := strings.Split(question, "\t")
		for i := range in {
			in[i] = unescape.Replace(in[i])
		}
		typ, _, err := ParseClass(in[0])
		if err != nil {
			t.Fatal(err)
		}
		f(t, typ, in, unescape.Replace(want))
		n++
	}
	if n < least {
		t.Fatalf("only %d vectors", n)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func answer(b []byte, err error) string {
	if err != nil {
		return "!" + err.Error()
	}
	if b == nil {
		return "null"
	}
	return hex.EncodeToString(b)
}

func TestValidateIsCassandras(t *testing.T) {
	vectors(t, "validate", 4000, func(t *testing.T, typ *Type, in []string, want string) {
		got := "ok"
		if err := typ.Validate(unhex(t, in[1])); err != nil {
			got = "!" + err.Error()
		}
		if strings.HasPrefix(want, "!java.lang.AssertionError") && got[0] == '!' {
			return
		}
		if got != want {
			t.Errorf("%s 0x%s: %s, want %s", typ, in[1], got, want)
		}
	})
}

func TestCompareIsCassandras(t *testing.T) {
	vectors(t, "compare", 4000, func(t *testing.T, typ *Type, in []string, want string) {
		a, b := unhex(t, in[1]), unhex(t, in[2])
		if got := strconv.Itoa(typ.Compare(a, b)); got != want {
			t.Errorf("%s 0x%s with 0x%s: %s, want %s", typ, in[1], in[2], got, want)
		}
		if back := strconv.Itoa(-typ.Compare(b, a)); back != want {
			t.Errorf("%s 0x%s with 0x%s: -%s, want %s", typ, in[2], in[1], back, want)
		}
		ca, cb := string(typ.Canonical(nil, a)), string(typ.Canonical(nil, b))
		if want == "0" && ca != cb {
			t.Errorf("%s 0x%s and 0x%s are equal, and canonically 0x%x and 0x%x", typ, in[1], in[2], ca, cb)
		}
		if want != "0" && ca == cb && len(a) > 0 && len(b) > 0 {
			t.Errorf("%s 0x%s and 0x%s differ, and canonically are both 0x%x", typ, in[1], in[2], ca)
		}
	})
}

// notRead are the texts that Cassandra accepts and FromString refuses: host names, which it would
// have to resolve; digits other than 0-9; zone names that mean different zones in different places;
// long zone names.
var notRead = map[string]bool{
	"localhost": true, "١": true, "2020-07-09 12:00 BST": true, "2020-07-09 12:00 IST": true,
	"2020-07-09 12:00:01 Central European Time": true,
}

func TestFromStringIsCassandras(t *testing.T) {
	vectors(t, "string", 500, func(t *testing.T, typ *Type, in []string, want string) {
		got := answer(typ.FromString(in[1]))
		if notRead[in[1]] {
			if got[0] != '!' {
				t.Errorf("%s %q: %s, want an error", typ, in[1], got)
			}
			return
		}
		if got != want {
			t.Errorf("%s %q: %s, want %s", typ, in[1], got, want)
		}
	})
}

func TestFromJSONIsCassandras(t *testing.T) {
	vectors(t, "fromjson", 270, func(t *testing.T, typ *Type, in []string, want string) {
		got := answer(fromJSON(typ, in[1]))
		if strings.HasPrefix(want, "!Error decoding JSON") && strings.HasPrefix(got, "!Error decoding JSON") {
			return // the rest is a library's text
		}
		if before, _, ok := strings.Cut(want, "class java."); ok && strings.HasPrefix(got, before) {
			return // this is a library's text too
		}
		if got != want {
			t.Errorf("%s %s: %s, want %s", typ, in[1], got, want)
		}
	})
}

func TestJSONIsCassandras(t *testing.T) {
	vectors(t, "json", 900, func(t *testing.T, typ *Type, in []string, want string) {
		if got := jsonText(typ, unhex(t, in[1])); got != want {
			t.Errorf("%s 0x%s: %s, want %s", typ, in[1], got, want)
		}
	})
}

// TestFloatsReadBack tests the numbers whose digits Java 17 chooses in its own way. Our texts must
// have Java's form, have no more digits than Java's, and parse to the same number.
func TestFloatsReadBack(t *testing.T) {
	others := 0
	vectors(t, "float", 2000, func(t *testing.T, typ *Type, in []string, want string) {
		v := unhex(t, in[1])
		got := jsonText(typ, v)
		if got == want {
			return
		}
		others++
		back, err := fromJSON(typ, got)
		if err != nil || !bytes.Equal(back, v) || len(got) > len(want) || strings.Contains(got, "E") != strings.Contains(want, "E") || !strings.Contains(got, ".") {
			t.Errorf("%s 0x%s: %s reads back as 0x%x, %v; Java writes %s", typ, in[1], got, back, err, want)
		}
	})
	if others < 100 {
		t.Errorf("%d numbers have other digits than Java's: the vectors were chosen for these", others)
	}
}

func TestFormatIsCassandras(t *testing.T) {
	vectors(t, "format", 800, func(t *testing.T, typ *Type, in []string, want string) {
		v := unhex(t, in[1])
		got := string(typ.Format(nil, v))
		if typ.Kind == Timestamp && got == strconv.FormatInt(typ.Int64(v), 10) && strings.Contains(want, "'+") {
			return // Cassandra cannot read its own text here
		}
		if typ.Kind == Duration && got == "0s" && want == "" {
			return // the same duration
		}
		if got != want {
			t.Errorf("%s 0x%s: %s, want %s", typ, in[1], got, want)
		}
	})
}

func TestClassAndNameAreCassandras(t *testing.T) {
	vectors(t, "class", 18, func(t *testing.T, typ *Type, in []string, want string) {
		if got := typ.Class() + "\t" + typ.String(); got != want {
			t.Errorf("%s: %s, want %s", in[0], got, want)
		}
	})
}

func TestPropertiesAreCassandras(t *testing.T) {
	vectors(t, "props", 39, func(t *testing.T, typ *Type, in []string, want string) {
		if typ.Kind == Empty {
			return // the class says that it allows no empty value, but allows no other
		}
		fixed, ok := typ.FixedLen()
		if !ok {
			fixed = -1
		}
		got := strings.Join([]string{typ.String(), strconv.Itoa(fixed),
			strconv.FormatBool(typ.AllowsEmpty()), strconv.FormatBool(typ.EmptyMeaningless())}, "\t")
		if got != want {
			t.Errorf("%s: %s, want %s", in[0], got, want)
		}
	})
}

// jsonText returns the JSON of a value of any length.
func jsonText(t *Type, v []byte) string {
	text, _ := t.JSON(nil, v, 1<<40)
	return string(text)
}

// fromJSON reads JSON of a value of any length.
func fromJSON(t *Type, text string) ([]byte, error) {
	v, _, err := t.FromJSON([]byte(text), 1<<40)
	return v, err
}
