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
	x, y := BigInt(a), BigInt(b)
	if c := cmp.Compare(x.Sign(), y.Sign()); c != 0 || x.Sign() == 0 {
		return c
	}
	sign := x.Sign()
	x.Abs(x)
	y.Abs(y)
	// The numbers of digits before the point decide, if they differ. If not, the scales differ by
	// no more than the number of digits.
	dx, dy := int64(digits(x))-int64(sa), int64(digits(y))-int64(sb)
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

// digits returns the number of decimal digits of a positive number.
func digits(n *big.Int) int {
	// log10(2) gives the number of digits to within one.
	d := int(float64(n.BitLen()-1)*math.Log10(2)) + 1
	if n.BitLen() > 64 {
		if n.Cmp(pow10(int64(d))) >= 0 {
			d++
		}
		return d
	}
	return len(strconv.AppendUint(make([]byte, 0, 20), n.Uint64(), 10))
}

// canonicalDecimal appends a decimal without trailing zeros. Zero gets scale 0.
func canonicalDecimal(dst, v []byte) []byte {
	scale, digits := int32(binary.BigEndian.Uint32(v)), trimVarint(v[4:])
	if len(digits) <= 8 {
		n := shortVarint(digits)
		if n == 0 {
			return append(dst, 0, 0, 0, 0, 0)
		}
		for n%10 == 0 && scale > math.MinInt32 {
			n /= 10
			scale--
		}
		return appendShortVarint(binary.BigEndian.AppendUint32(dst, uint32(scale)), n)
	}
	n := BigInt(digits)
	// The loop removes half of the possible zeros at a time, so that many zeros cost little.
	for step := int64(1) << (bits.Len(uint(len(digits)*3)) - 1); step > 0; step /= 2 {
		p, rest := pow10(step), new(big.Int)
		for int64(scale)-step >= math.MinInt32 {
			q, _ := new(big.Int).QuoRem(n, p, rest)
			if rest.Sign() != 0 {
				break
			}
			n, scale = q, scale-int32(step)
		}
	}
	return AppendDecimal(dst, n, scale)
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
	if len(text) == 0 || len(text) == 1 && text[0] == '-' {
		return nil, 0, false
	}
	exp := -exponent
	if point >= 0 {
		exp += int64(len(mantissa) - point - 1)
	}
	if exp < math.MinInt32 || exp > math.MaxInt32 {
		return nil, 0, false
	}
	n, ok := new(big.Int).SetString(string(text), 10)
	return n, int32(exp), ok
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
