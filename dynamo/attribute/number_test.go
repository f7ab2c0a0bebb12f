// SPDX-License-Identifier: Apache-2.0

package attribute_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// The script has AWS's canonical forms, sizes and errors of numbers.
func TestNumbers(t *testing.T) {
	datadriven.RunTest(t, "testdata/numbers", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			fields := strings.Fields(line)
			if d.Cmd == "number" {
				v, err := attribute.Number(strings.Trim(fields[0], `"`))
				if err != nil {
					fmt.Fprintln(&out, exception.Of(err).Message)
				} else {
					fmt.Fprintf(&out, "%s %d\n", v.Text(), v.Size())
				}
				continue
			}
			a, err1 := attribute.Number(fields[0])
			b, err2 := attribute.Number(fields[2])
			if err1 != nil || err2 != nil {
				t.Fatal(line)
			}
			var v attribute.Value
			var err error
			if fields[1] == "+" {
				v, err = attribute.Add(a, b)
			} else {
				v, err = attribute.Subtract(a, b)
			}
			if err != nil {
				fmt.Fprintln(&out, exception.Of(err).Message)
			} else {
				fmt.Fprintln(&out, v.Text())
			}
		}
		return out.String()
	})
}

// drawNumber draws a number with many digits or few, and any exponent.
func drawNumber(t *rapid.T) attribute.Value {
	digits := rapid.StringMatching(`[1-9][0-9]{0,37}`).Draw(t, "digits")
	exp := rapid.IntRange(attribute.MinExponent, attribute.MaxExponent).Draw(t, "exponent")
	if rapid.Bool().Draw(t, "small") {
		exp = rapid.IntRange(-3, 3).Draw(t, "small exponent")
	}
	sign := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign")
	v, err := attribute.Number(fmt.Sprintf("%s%s.%se%d", sign, digits[:1], digits[1:], exp))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func rat(t *rapid.T, v attribute.Value) *big.Rat {
	r, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		t.Fatalf("%q is no number", v.Text())
	}
	return r
}

func TestNumbersCompareByValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNumber(t), drawNumber(t)
		got, ok := attribute.Compare(a, b)
		if want := rat(t, a).Cmp(rat(t, b)); !ok || got != want {
			t.Fatalf("Compare(%s, %s) = %d, want %d", a, b, got, want)
		}
		if a.Equal(b) != (got == 0) {
			t.Fatalf("%s and %s: equal texts and values differ", a, b)
		}
	})
}

func TestNumbersAddExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNumber(t), drawNumber(t)
		for _, op := range []struct {
			do   func(a, b attribute.Value) (attribute.Value, error)
			want *big.Rat
		}{
			{attribute.Add, new(big.Rat).Add(rat(t, a), rat(t, b))},
			{attribute.Subtract, new(big.Rat).Sub(rat(t, a), rat(t, b))},
		} {
			got, err := op.do(a, b)
			if err != nil {
				if digits := significant(op.want); digits <= attribute.MaxDigits && inRange(op.want) {
					t.Fatalf("%s, %s: %v, although %s has %d digits", a, b, err, op.want.FloatString(200), digits)
				}
				continue
			}
			if rat(t, got).Cmp(op.want) != 0 {
				t.Fatalf("%s, %s: %s, want %s", a, b, got, op.want.FloatString(200))
			}
		}
	})
}

// significant counts a decimal's significant digits.
func significant(r *big.Rat) int {
	s := strings.TrimLeft(strings.ReplaceAll(r.FloatString(200), ".", ""), "-0")
	return len(strings.TrimRight(s, "0"))
}

func inRange(r *big.Rat) bool {
	abs := new(big.Rat).Abs(r)
	low, _ := new(big.Rat).SetString("1e-130")
	high, _ := new(big.Rat).SetString("1e126")
	return abs.Sign() == 0 || abs.Cmp(low) >= 0 && abs.Cmp(high) < 0
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1e125", "1.50", "+.5", "5.", "1e", "0x1", "00012.3400e-7", "1e99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := attribute.Number(s)
		if err != nil {
			return
		}
		again, err := attribute.Number(v.Text())
		if err != nil || again.Text() != v.Text() {
			t.Errorf("%q: %q is not canonical: %q, %v", s, v.Text(), again.Text(), err)
		}
		key := attribute.AppendKey(nil, v)
		back, rest, err := attribute.CutKey(key, attribute.N)
		if err != nil || len(rest) != 0 || back.Text() != v.Text() {
			t.Errorf("%q: key %x is %q, %v", s, key, back.Text(), err)
		}
	})
}
