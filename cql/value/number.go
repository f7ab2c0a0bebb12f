// SPDX-License-Identifier: Apache-2.0

package value

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// BigInt returns the integer of a varint or of any of CQL's integer types. It returns zero for the
// empty value.
func BigInt(v []byte) *big.Int {
	n := new(big.Int)
	if len(v) == 0 {
		return n
	}
	if len(v) <= 8 {
		return n.SetInt64(shortVarint(v))
	}
	n.SetBytes(v)
	if v[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
	}
	return n
}

// shortVarint decodes a varint of up to eight bytes.
func shortVarint(v []byte) int64 {
	if len(v) == 0 {
		return 0
	}
	n := int64(int8(v[0]))
	for _, b := range v[1:] {
		n = n<<8 | int64(b)
	}
	return n
}

// AppendVarint appends the shortest big-endian form in two's complement.
func AppendVarint(dst []byte, n *big.Int) []byte {
	if n.IsInt64() {
		return appendShortVarint(dst, n.Int64())
	}
	if n.Sign() > 0 {
		b := n.Bytes()
		if b[0] >= 0x80 {
			dst = append(dst, 0)
		}
		return append(dst, b...)
	}
	// For n > 0, -n is ^(n-1): the complement of |n|-1.
	m := new(big.Int).Neg(n)
	b := m.Sub(m, big.NewInt(1)).Bytes()
	if b[0] >= 0x80 {
		dst = append(dst, 0xff)
	}
	for _, c := range b {
		dst = append(dst, ^c)
	}
	return dst
}

func appendShortVarint(dst []byte, n int64) []byte {
	size := 1
	for m := n; m < -128 || m > 127; m >>= 8 {
		size++
	}
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, byte(n>>(8*i)))
	}
	return dst
}

// trimVarint removes leading bytes that only repeat the sign.
func trimVarint(v []byte) []byte {
	for len(v) > 1 && (v[0] == 0 && v[1] < 0x80 || v[0] == 0xff && v[1] >= 0x80) {
		v = v[1:]
	}
	return v
}

func compareVarint(a, b []byte) int {
	a, b = trimVarint(a), trimVarint(b)
	negative := a[0] >= 0x80
	if negative != (b[0] >= 0x80) {
		if negative {
			return -1
		}
		return 1
	}
	c := cmp.Compare(len(a), len(b))
	if negative {
		c = -c
	}
	if c == 0 {
		c = strings.Compare(string(a), string(b))
	}
	return c
}

// BigDecimal returns a decimal as unscaled × 10^-scale. It returns zero for values shorter than
// four bytes.
func BigDecimal(v []byte) (unscaled *big.Int, scale int32) {
	if len(v) < 4 {
		return new(big.Int), 0
	}
	return BigInt(v[4:]), int32(binary.BigEndian.Uint32(v))
}

// AppendDecimal appends unscaled × 10^-scale.
func AppendDecimal(dst []byte, unscaled *big.Int, scale int32) []byte {
	return AppendVarint(binary.BigEndian.AppendUint32(dst, uint32(scale)), unscaled)
}

// compareDecimal compares valid non-empty decimals as numbers.
func compareDecimal(a, b []byte) int {
	sa, sb := int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b))
	a, b = trimVarint(a[4:]), trimVarint(b[4:])
	if len(a) > 0 && len(b) > 0 && sa == sb {
		return compareVarint(a, b)
	}
	if len(a) <= 8 && len(b) <= 8 {
		if c, ok := compareShortDecimal(shortVarint(a), shortVarint(b), sa, sb); ok {
			return c
		}
	}
	if c, ok := compareLeading(a, b, sa, sb); ok {
		return c
	}
	x, y := BigInt(a), BigInt(b)
	if c := cmp.Compare(x.Sign(), y.Sign()); c != 0 || x.Sign() == 0 {
		return c
	}
	sign := x.Sign()
	x.Abs(x)
	y.Abs(y)
	// The numbers of digits before the point decide, if they differ. If not, the scales differ by
	// no more than the number of digits.
	dx, dy := int64(Digits(x))-int64(sa), int64(Digits(y))-int64(sb)
	if c := cmp.Compare(dx, dy); c != 0 {
		return sign * c
	}
	if d := int64(sb) - int64(sa); d > 0 {
		x.Mul(x, pow10(d))
	} else {
		y.Mul(y, pow10(-d))
	}
	return sign * x.Cmp(y)
}

// compareShortDecimal compares in 128 bits. It returns false if the scales are too
// far apart for that.
func compareShortDecimal(x, y int64, sx, sy int32) (int, bool) {
	if (x < 0) != (y < 0) || x == 0 || y == 0 {
		return cmp.Compare(x, y), true
	}
	sign := 1
	ux, uy := uint64(x), uint64(y)
	if x < 0 {
		sign, ux, uy = -1, -ux, -uy
	}
	d := int64(sy) - int64(sx)
	if d < -19 || d > 19 {
		return 0, false
	}
	var hx, hy uint64
	if d > 0 {
		hx, ux = bits.Mul64(ux, tens[d])
	} else {
		hy, uy = bits.Mul64(uy, tens[-d])
	}
	if c := cmp.Compare(hx, hy); c != 0 {
		return sign * c, true
	}
	return sign * cmp.Compare(ux, uy), true
}

// tens holds the powers of ten that fit 64 bits.
var tens = func() (t [20]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = 10 * t[i-1]
	}
	return t
}()

func pow10(n int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil)
}

// Digits returns the number of decimal digits of n; 1 for 0.
func Digits(n *big.Int) int {
	if n.BitLen() <= 64 {
		return len(strconv.AppendUint(make([]byte, 0, 20), new(big.Int).Abs(n).Uint64(), 10))
	}
	// The leading bits give the logarithm to more than seven digits. It decides unless n is very
	// near to a power of ten.
	log := logarithm(n)
	d := int(log)
	if rest := log - float64(d); rest > 1e-6 && rest < 1-1e-6 {
		return d + 1
	}
	if d = int(math.Round(log)); n.CmpAbs(pow10(int64(d))) >= 0 {
		d++
	}
	return d
}

// logarithm returns the decimal logarithm of the absolute value of a number of more than 64 bits.
func logarithm(n *big.Int) float64 {
	words := n.Bits()
	top := float64(words[len(words)-1])*(1<<(bits.UintSize/2))*(1<<(bits.UintSize/2)) + float64(words[len(words)-2])
	return math.Log10(top) + float64(bits.UintSize*(len(words)-2))*math.Log10(2)
}

// leadingBytes is how much of a long number compareLeading looks at.
const leadingBytes = 40

// compareLeading compares two decimals by the leading bytes of their trimmed numbers. ok is false
// if these do not decide: the numbers have the same 50 digits at least. It takes the same number of
// steps however long the numbers are.
func compareLeading(a, b []byte, sa, sb int32) (c int, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	sign := 1
	if a[0] >= 0x80 {
		sign = -1
	}
	if (a[0] >= 0x80) != (b[0] >= 0x80) {
		return sign, true
	}
	x, y := leading(a), leading(b)
	if x.Sign() == 0 || y.Sign() == 0 {
		return 0, false
	}
	// First by logarithms, whose error is below 1e-5 for any numbers and scales.
	d := approximate(x) - float64(sa) - approximate(y) + float64(sb)
	switch {
	case d > 1e-4:
		return sign, true
	case d < -1e-4:
		return -sign, true
	}
	// Their scales differ by no more than they have digits.
	if shift := int64(sb) - int64(sa); shift > 0 {
		x.Mul(x, floatPower(shift))
	} else {
		y.Mul(y, floatPower(-shift))
	}
	if x.IsInf() || y.IsInf() {
		return 0, false
	}
	diff := new(big.Float).Sub(x, y)
	if diff.Sign() == 0 || diff.MantExp(nil) < x.MantExp(nil)-170 {
		return 0, false
	}
	return sign * diff.Sign(), true
}

// leading returns the absolute value of a trimmed varint, exact if it is short.
func leading(v []byte) *big.Float {
	top := v[:min(len(v), leadingBytes)]
	n := BigInt(top)
	if len(top) < len(v) && n.Sign() < 0 {
		n.Add(n, big.NewInt(1)) // what follows makes it less negative
	}
	f := new(big.Float).SetPrec(8 * leadingBytes).SetInt(n.Abs(n))
	return f.SetMantExp(f, 8*(len(v)-len(top)))
}

func approximate(x *big.Float) float64 {
	mantissa := new(big.Float)
	exp := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log10(m) + float64(exp)*math.Log10(2)
}

// floatPower returns 10^n, to about 280 bits.
func floatPower(n int64) *big.Float {
	p := new(big.Float).SetPrec(8 * leadingBytes).SetInt64(1)
	base := new(big.Float).SetPrec(8 * leadingBytes).SetInt64(10)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p.Mul(p, base)
		}
		base.Mul(base, base)
	}
	return p
}

// MaxDigits is how many digits a number may have that is parsed, calculated with, or shown as
// text. Longer ones are stored and returned as they are. Cassandra has no such limit. It takes a
// time that grows with the square of the digits.
const MaxDigits = 1_000_000

// maxNumber is how many bytes a number of MaxDigits digits has.
const maxNumber = 415_242

// TooManyDigits reports whether a value is, or contains, a number of more than MaxDigits digits.
func (t *Type) TooManyDigits(v []byte) bool {
	if len(v) <= maxNumber {
		return false
	}
	switch t.Kind {
	case Varint:
		return len(trimVarint(v)) > maxNumber
	case Decimal:
		return len(trimVarint(v[4:])) > maxNumber
	}
	if len(t.Elems) == 0 {
		return false
	}
	for p, i := t.Parts(v), 0; p.Next(); i++ {
		if t.Elems[i%len(t.Elems)].TooManyDigits(p.part) {
			return true
		}
	}
	return false
}

// ParseDecimal parses a decimal as Java's BigDecimal does.
func ParseDecimal(s string) (unscaled *big.Int, scale int32, ok bool) {
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(strings.TrimPrefix(s[i+1:], "+"), 10, 32)
		if err != nil || strings.HasPrefix(s[i+1:], "+-") {
			return nil, 0, false
		}
		mantissa, exponent = s[:i], e
	}
	text := make([]byte, 0, len(mantissa))
	point := -1
	for i := range len(mantissa) {
		switch c := mantissa[i]; {
		case c >= '0' && c <= '9':
			text = append(text, c)
		case c == '.' && point < 0:
			point = i
		case (c == '-' || c == '+') && i == 0:
			if c == '-' {
				text = append(text, c)
			}
		default:
			return nil, 0, false
		}
	}
	digits := strings.TrimPrefix(string(text), "-")
	if digits == "" || len(digits) > MaxDigits {
		return nil, 0, false
	}
	exp := -exponent
	if point >= 0 {
		exp += int64(len(mantissa) - point - 1)
	}
	if exp < math.MinInt32 || exp > math.MaxInt32 {
		return nil, 0, false
	}
	n := parseDigits(digits)
	if text[0] == '-' {
		n.Neg(n)
	}
	return n, int32(exp), true
}

// parseDigits returns the number of decimal digits without a sign. big.Int.SetString takes a time
// that grows with the square of the digits.
func parseDigits(s string) *big.Int {
	const few = 2000
	if len(s) <= few {
		n, _ := new(big.Int).SetString(s, 10)
		return n
	}
	low := few
	for 2*low < len(s) {
		low *= 2
	}
	n := parseDigits(s[:len(s)-low])
	n.Mul(n, pow10(int64(low)))
	return n.Add(n, parseDigits(s[len(s)-low:]))
}

// formatDecimal appends a decimal as Java's BigDecimal.toString does.
func formatDecimal(dst []byte, unscaled *big.Int, scale int32) []byte {
	text := unscaled.Append(nil, 10)
	if text[0] == '-' {
		dst = append(dst, '-')
		text = text[1:]
	}
	if scale == 0 {
		return append(dst, text...)
	}
	adjusted := int64(len(text)) - 1 - int64(scale)
	if scale > 0 && adjusted >= -6 {
		if pad := int(scale) - len(text); pad >= 0 {
			dst = append(dst, '0', '.')
			for range pad {
				dst = append(dst, '0')
			}
			return append(dst, text...)
		}
		whole := len(text) - int(scale)
		dst = append(dst, text[:whole]...)
		return append(append(dst, '.'), text[whole:]...)
	}
	dst = append(dst, text[0])
	if len(text) > 1 {
		dst = append(append(dst, '.'), text[1:]...)
	}
	if adjusted != 0 {
		dst = append(dst, 'E')
		if adjusted > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, adjusted, 10)
	}
	return dst
}
