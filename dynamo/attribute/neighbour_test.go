// SPDX-License-Identifier: Apache-2.0

package attribute_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// The next number is greater, and no number of 38 digits is between the two. The previous number of
// the next number is the number itself.
func TestNextAndPreviousNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawNumber(t)
		next := attribute.NextNumber(v)
		if next.Equal(v) {
			return // there is no such number, or NextNumber cannot find it
		}
		low, high := rat(t, v), rat(t, next)
		if low.Cmp(high) >= 0 {
			t.Fatalf("%s is next after %s", next, v)
		}
		between := new(big.Rat).Quo(new(big.Rat).Add(low, high), big.NewRat(2, 1))
		if digits := significant(between); digits <= attribute.MaxDigits {
			t.Fatalf("%s has %d digits and is between %s and %s", between.FloatString(200), digits, v, next)
		}
		if back := attribute.PreviousNumber(next); !back.Equal(v) && !back.Equal(next) {
			t.Fatalf("%s is before %s, which is after %s", back, next, v)
		}
	})
	for _, c := range [][2]string{
		{"5", "5.0000000000000000000000000000000000001"},
		{"0", "0." + zeros(129) + "1"},
		{"-1", "-0.99999999999999999999999999999999999999"},
		{"99999999999999999999999999999999999999", "100000000000000000000000000000000000000"},
	} {
		v, _ := attribute.Number(c[0])
		if next := attribute.NextNumber(v); next.Text() != c[1] {
			t.Errorf("%s is next after %s, want %s", next, v, c[1])
		}
		want, _ := attribute.Number(c[1])
		if before := attribute.PreviousNumber(want); before.Text() != c[0] && c[0] != "0" {
			t.Errorf("%s is before %s, want %s", before, want, c[0])
		}
	}
}

func zeros(n int) string {
	s := ""
	for range n {
		s += "0"
	}
	return s
}
