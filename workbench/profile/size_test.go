// SPDX-License-Identifier: Apache-2.0

package profile

import (
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
