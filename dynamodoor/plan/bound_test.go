// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// edges are the characters at which UTF-8 becomes longer, and their neighbours.
var edges = []string{"\x00", "\x01", "a", "b", "\x7f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"}

// drawKey draws a sort key that is short, or as long as allowed.
func drawKey(t *rapid.T, kind attribute.Kind) attribute.Value {
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(t, "length") {
		if kind == attribute.B {
			b.WriteByte(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}).Draw(t, "byte"))
		} else {
			b.WriteString(rapid.SampledFrom(edges).Draw(t, "character"))
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
		left := attribute.MaxRangeSize - b.Len() - rapid.IntRange(0, 3).Draw(t, "left")
		return key(kind, strings.Repeat("m", left)+b.String())
	}
	return key(kind, b.String())
}

func key(kind attribute.Kind, text string) attribute.Value {
	if kind == attribute.B {
		return attribute.Binary(text)
	}
	return attribute.String(text)
}

// near draws a key that is likely to be next to another, or to have the same prefix.
func near(t *rapid.T, v attribute.Value) attribute.Value {
	kind, text := v.Kind(), v.Text()
	more := drawKey(t, kind).Text()
	cut := text[:len(text)-1]
	if kind == attribute.S {
		runes := []rune(text)
		cut = string(runes[:len(runes)-1])
	}
	text = rapid.SampledFrom([]string{text, text + more, cut, cut + more, more}).Draw(t, "near")
	if text == "" || len(text) > attribute.MaxRangeSize {
		text = more
	}
	return key(kind, text)
}

// TestNeighboursSkipNothing checks that no sort key lies between a key and its next or previous
// one, so that no item is left out. If that neighbour cannot be written, the function returns the
// key itself.
func TestNeighboursSkipNothing(t *testing.T) {
	for _, kind := range []attribute.Kind{attribute.S, attribute.B} {
		t.Run(kind.String(), func(t *testing.T) {
			compare := func(a, b attribute.Value) int { c, _ := attribute.Compare(a, b); return c }
			rapid.Check(t, func(t *rapid.T) {
				v := drawKey(t, kind)
				w := near(t, v)
				next, previous, end := after(v), before(v), last(v)
				for _, x := range []attribute.Value{next, previous, end} {
					if len(x.Text()) > attribute.MaxRangeSize || x.Text() == "" {
						t.Fatalf("%d bytes are no sort key", len(x.Text()))
					}
				}
				if compare(next, v) < 0 || compare(previous, v) > 0 {
					t.Fatalf("the neighbours of %q: %q, %q", v.Text(), previous.Text(), next.Text())
				}
				if len(v.Text()) < attribute.MaxRangeSize && compare(next, v) == 0 || strings.Trim(v.Text(), "\x00") != "" && compare(previous, v) == 0 {
					t.Fatalf("%q has no neighbours", v.Text())
				}
				if compare(w, v) > 0 && compare(w, next) < 0 || compare(w, v) < 0 && compare(w, previous) > 0 {
					t.Fatalf("%q is between %q and its neighbours", w.Text(), v.Text())
				}
				if !strings.HasPrefix(end.Text(), v.Text()) || strings.HasPrefix(w.Text(), v.Text()) && compare(w, end) > 0 {
					t.Fatalf("%q begins with %q, and is after its last", w.Text(), v.Text())
				}
			})
		})
	}
}
