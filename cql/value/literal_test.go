// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"testing"
)

// TestFromLiteralIsCassandras checks every kind of constant for every type against a real
// Cassandra, into which they were inserted.
func TestFromLiteralIsCassandras(t *testing.T) {
	kinds := map[string]Literal{}
	for k := StringLiteral; k <= DurationLiteral; k++ {
		kinds[k.String()] = k
	}
	vectors(t, "literal", 900, func(t *testing.T, typ *Type, in []string, want string) {
		v, err := typ.FromLiteral(kinds[in[1]], in[2])
		got := answer(v, err)
		switch {
		case errors.Is(err, ErrNotAssignable):
			text := in[2]
			if in[1] == "HEX" {
				text = "0x" + text
			}
			got = fmt.Sprintf("!Invalid %s constant (%s) for %q of type %s", in[1], text, "c", typ)
		case err == nil && typ.Kind == Counter:
			got = "ok"
		}
		if typ.Kind == Tinyint && in[1] == "HEX" && len(in[2]) != 2 {
			want = fmt.Sprintf("!Expected 1 byte for a tinyint (%d)", len(in[2])/2)
		}
		if got != want {
			t.Errorf("%s %s %q: %s, want %s", typ, in[1], in[2], got, want)
		}
	})
}
