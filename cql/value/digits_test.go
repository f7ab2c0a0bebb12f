// SPDX-License-Identifier: Apache-2.0

package value

import (
	"cmp"
	"math/big"
	older "math/rand" // for big.Int.Rand
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// TestDigits counts the digits of numbers near powers of ten, and of others.
func TestDigits(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	check := func(n *big.Int) {
		t.Helper()
		want := len(strings.TrimPrefix(n.String(), "-"))
		if got := Digits(n); got != want {
			t.Fatalf("%d digits, not %d, of %.50s…", got, want, n)
		}
	}
	for power := range int64(700) {
		for d := range int64(5) {
			n := new(big.Int).Add(pow10(power), big.NewInt(d-2))
			check(n)
			check(n.Neg(n))
		}
		check(new(big.Int).Rand(olderDraw(draw), pow10(power+1)))
	}
	check(pow10(100_000))
	check(new(big.Int).Sub(pow10(100_000), big.NewInt(1)))
}

// TestParseDigits parses long numbers in parts.
func TestParseDigits(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1, 1999, 2000, 2001, 3999, 4000, 4001, 10_000, 12_345} {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte('0' + draw.IntN(10))
		}
		want, _ := new(big.Int).SetString(string(text), 10)
		if parseDigits(string(text)).Cmp(want) != 0 {
			t.Errorf("%d digits", n)
		}
	}
}

// exactly compares decimals by multiplication with a power of ten.
func exactly(x *big.Int, sx int32, y *big.Int, sy int32) int {
	if d := int64(sy) - int64(sx); d > 0 {
		return new(big.Int).Mul(x, pow10(d)).Cmp(y)
	} else if d < 0 {
		y = new(big.Int).Mul(y, pow10(-d))
	}
	return x.Cmp(y)
}

// TestCompareNearDecimals compares decimals that have many digits in common, with other scales.
func TestCompareNearDecimals(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	dt := Native(Decimal)
	decided := 0
	for range 20_000 {
		x := new(big.Int).Rand(olderDraw(draw), pow10(1+draw.Int64N(200)))
		shift := draw.Int64N(300)
		y := new(big.Int).Mul(x, pow10(shift))
		if draw.IntN(4) > 0 {
			y.Add(y, new(big.Int).Rand(olderDraw(draw), pow10(1+draw.Int64N(200))))
		}
		if draw.IntN(2) == 0 {
			x.Neg(x)
			y.Neg(y)
		}
		scale := int32(draw.IntN(1000) - 500)
		other := scale + int32(shift)
		want := exactly(x, scale, y, other)
		a, b := AppendDecimal(nil, x, scale), AppendDecimal(nil, y, other)
		if got, back := dt.Compare(a, b), dt.Compare(b, a); cmp.Compare(got, 0) != want || cmp.Compare(back, 0) != -want {
			t.Fatalf("%sE%d and %sE%d compare as %d and %d, not %d", x, -scale, y, -other, got, back, want)
		}
		if c, ok := compareLeading(a[4:], b[4:], scale, other); ok {
			decided++
			if c != want {
				t.Fatalf("%sE%d and %sE%d compare as %d by their leading digits, not %d", x, -scale, y, -other, c, want)
			}
		}
	}
	if decided < 1000 {
		t.Errorf("the leading digits decided only %d times", decided)
	}
}

func olderDraw(r *rand.Rand) *older.Rand { return older.New(older.NewSource(r.Int64())) }

// TestLongNumbersCostLittle compares a number of a megabyte with many short ones. Nothing is
// allocated that is as long as it.
func TestLongNumbersCostLittle(t *testing.T) {
	n := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 8<<20), big.NewInt(12345))
	dt := Native(Decimal)
	long := AppendDecimal(nil, n, 7)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 1000 {
		short := AppendDecimal(nil, big.NewInt(int64(1000+i)), int32(i)-2_525_220) // about as large
		if dt.Compare(long, short)+dt.Compare(short, long) != 0 {
			t.Fatal(i)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 2000; each > 20<<10 {
		t.Errorf("%d bytes are allocated for a comparison", each)
	}
}

// TestTooManyDigits has numbers that are too long to be read.
func TestTooManyDigits(t *testing.T) {
	most, more := strings.Repeat("7", MaxDigits), strings.Repeat("7", MaxDigits+1)
	for _, typ := range []*Type{Native(Varint), Native(Decimal)} {
		v, err := typ.FromString("-" + most)
		if err != nil || typ.TooManyDigits(v) {
			t.Errorf("%s: %d digits: %v", typ, MaxDigits, err)
		}
		if _, err := typ.FromString(more); err == nil {
			t.Errorf("%s: %d digits were read", typ, MaxDigits+1)
		}
		if _, err := fromJSON(typ, more); err == nil {
			t.Errorf("%s: %d digits were read as JSON", typ, MaxDigits+1)
		}
	}
	long := append([]byte{1}, make([]byte, maxNumber)...)
	if !Native(Varint).TooManyDigits(long) || Native(Varint).TooManyDigits(append(make([]byte, 1000), long[:maxNumber]...)) {
		t.Error("the varint")
	}
	list := ListOf(Native(Varint), true)
	if !list.TooManyDigits(list.Build(nil, [][]byte{{1}, long})) || list.TooManyDigits(list.Build(nil, [][]byte{long[:maxNumber], long[:maxNumber]})) {
		t.Error("the list")
	}
}

// TestErrorsOfDeepJSON has a deep JSON text refused. The error shows it, and takes no more for each
// level.
func TestErrorsOfDeepJSON(t *testing.T) {
	const deep, long = 900, 100_000
	text := []byte(strings.Repeat(`[{"a":`, deep/2) + `"` + strings.Repeat("x", long) + `"` + strings.Repeat("}]", deep/2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := fromJSON(Native(Int), string(text))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "but got a ArrayList: [{a=[{a=") {
		t.Errorf("error %.100v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 50*long {
		t.Errorf("%d bytes were allocated", n)
	}
}
