// SPDX-License-Identifier: Apache-2.0

package attribute_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

var keyKinds = []attribute.Kind{attribute.S, attribute.N, attribute.B}

// The forms of two keys one after the other compare as the pairs of values do.
func TestKeysKeepOrder(t *testing.T) {
	for _, k := range keyKinds {
		t.Run(k.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a1, a2, b1, b2 := drawScalar(t, k), drawScalar(t, k), drawScalar(t, k), drawScalar(t, k)
				if rapid.Bool().Draw(t, "same first") {
					b1 = a1
				}
				want, _ := attribute.Compare(a1, b1)
				if want == 0 {
					want, _ = attribute.Compare(a2, b2)
				}
				a := attribute.AppendKey(attribute.AppendKey(nil, a1), a2)
				b := attribute.AppendKey(attribute.AppendKey(nil, b1), b2)
				if got := bytes.Compare(a, b); got != want {
					t.Fatalf("(%s, %s) and (%s, %s): keys %x and %x compare as %d, want %d", a1, a2, b1, b2, a, b, got, want)
				}
			})
		})
	}
}

func TestKeysComeBack(t *testing.T) {
	for _, k := range keyKinds {
		t.Run(k.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := drawScalar(t, k)
				key := attribute.AppendKey([]byte("x"), v)[1:]
				if len(key) > 2*len(v.Text())+4 {
					t.Fatalf("the key of %s is %d bytes", v, len(key))
				}
				back, rest, err := attribute.CutKey(append(bytes.Clone(key), "rest"...), k)
				if err != nil || string(rest) != "rest" || !back.Equal(v) {
					t.Fatalf("%s: key %x comes back as %s, rest %q, %v", v, key, back, rest, err)
				}
				if n := attribute.KeyLen(append(bytes.Clone(key), "rest"...), k); n != len(key) {
					t.Fatalf("%s: key %x is said to have %d bytes", v, key, n)
				}
			})
		})
	}
}

// A key's form begins with the prefix's form exactly if the value begins with the prefix.
func TestKeyPrefix(t *testing.T) {
	for _, k := range []attribute.Kind{attribute.S, attribute.B} {
		rapid.Check(t, func(t *rapid.T) {
			p, v := drawScalar(t, k), drawScalar(t, k)
			prefix := attribute.AppendKeyPrefix([]byte("x"), p)[1:]
			want := bytes.HasPrefix([]byte(v.Text()), []byte(p.Text()))
			if got := bytes.HasPrefix(attribute.AppendKey(nil, v), prefix); got != want {
				t.Fatalf("%s and prefix %s: %v, want %v", v, p, got, want)
			}
		})
	}
}

func TestKeyText(t *testing.T) {
	n, err := attribute.Number("121212.0")
	if err != nil {
		t.Fatal(err)
	}
	for want, v := range map[string]attribute.Value{
		"121212": n, "a-1": attribute.String("a-1"), "_-8A": attribute.Binary("\xff\xef\x00"), "AQ": attribute.Binary("\x01"),
	} {
		if got := attribute.KeyText(v); got != want {
			t.Errorf("the key text of %s is %q, want %q", v, got, want)
		}
	}
}

func FuzzCutKey(f *testing.F) {
	for _, v := range []attribute.Value{attribute.String("a\x00b"), attribute.Int(-15), attribute.Int(0), attribute.Int(1500)} {
		f.Add(attribute.AppendKey(nil, v))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		for _, k := range keyKinds {
			n := attribute.KeyLen(key, k)
			if n > len(key) {
				t.Errorf("%x begins with %d bytes", key, n)
			}
			v, rest, err := attribute.CutKey(key, k)
			if err != nil {
				continue
			}
			if n != len(key)-len(rest) {
				t.Errorf("%x begins with %d bytes of %s", key, n, v)
			}
			if again := attribute.AppendKey(nil, v); k != attribute.S && !bytes.Equal(again, key[:len(key)-len(rest)]) {
				t.Errorf("%x is %s, whose key is %x", key, v, again)
			}
		}
	})
}
