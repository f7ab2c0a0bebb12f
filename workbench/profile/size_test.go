// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
)

// TestTextLen checks that the lengths of numbers are those of CQL's serialization.
func TestTextLen(t *testing.T) {
	for _, kind := range []value.Kind{value.Varint, value.Decimal} {
		typ := value.Native(kind)
		for _, text := range []string{"0", "1", "127", "128", "-1", "-128", "-129", "32767", "32768", "999999999999999999", "-999999999999999999"} {
			v, err := typ.FromString(text)
			if err != nil {
				t.Fatal(err)
			}
			if n := textLen(typ, []byte(text)); n != len(v) {
				t.Errorf("%s %s: %d bytes, serialized has %d", typ, text, n, len(v))
			}
		}
	}
	typ := value.Native(value.Decimal)
	for _, text := range []string{"12.5", "-0.128", "0.00", "123456.789012", "12345678901234567890.5"} {
		v, err := typ.FromString(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := textLen(typ, []byte(text)); n != len(v) {
			t.Errorf("%s: %d bytes, serialized has %d", text, n, len(v))
		}
	}
}

// TestNestedIsStored checks that JSON objects and arrays count in the size of a row.
func TestNestedIsStored(t *testing.T) {
	bytes := func(nested string) float64 {
		src := open(t, strings.Repeat(`{"k":"a","n":1,"o":`+nested+"}\n", 100))
		p, err := Of(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := Measure(t.Context(), src, p, []Candidate{{Partition: wholesOf("k"), Clustering: []string{"n"}}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m[0].RowBytes
	}
	text, object := bytes(`"x----------------y"`), bytes(`{"x":[1,2,3],"y":4}`)
	if text+1 != object { // the text has a byte less
		t.Errorf("a row has %v bytes with a text, %v with an object", text, object)
	}
}
