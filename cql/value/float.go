package value

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// JavaDouble is a double as Java's Double.toString writes it.
func JavaDouble(f float64) string { return string(formatDouble(nil, f, 64)) }

// formatDouble appends a floating-point number as Java 11 and 17 write it, on
// which Cassandra runs: 1.5, 1.0E10, NaN, -Infinity. Their digits are not always
// the fewest that read back, nor the nearest; javaDigits has the rules.
func formatDouble(dst []byte, f float64, size int) []byte {
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if math.Signbit(f) {
		dst = append(dst, '-')
		f = -f
	}
	if f == 0 {
		return append(dst, "0.0"...)
	}
	var mantissa uint64 // 53 bits, the highest set
	var exponent, significant int
	if size == 32 {
		b := math.Float32bits(float32(f))
		mantissa, exponent, significant = normal(uint64(b&(1<<23-1)), int(b>>23), 23, 127)
		mantissa <<= 52 - 23
	} else {
		b := math.Float64bits(f)
		mantissa, exponent, significant = normal(b&(1<<52-1), int(b>>52), 52, 1023)
	}
	digits, point := javaDigits(mantissa, exponent, significant)
	switch {
	case point > 0 && point < 8:
		whole := min(len(digits), point)
		dst = append(dst, digits[:whole]...)
		for range point - whole {
			dst = append(dst, '0')
		}
		digits = digits[whole:]
		dst = append(dst, '.')
	case point <= 0 && point > -3:
		dst = append(dst, '0', '.')
		for range -point {
			dst = append(dst, '0')
		}
	default:
		dst = append(dst, digits[0], '.')
		if digits = digits[1:]; len(digits) == 0 {
			digits = []byte{'0'}
		}
		dst = append(append(dst, digits...), 'E')
		return strconv.AppendInt(dst, int64(point-1), 10)
	}
	if len(digits) == 0 {
		return append(dst, '0')
	}
	return append(dst, digits...)
}

// normal gives a number's fraction its leading bit, shifting a subnormal one up.
func normal(fraction uint64, biased, width, bias int) (mantissa uint64, exponent, significant int) {
	if biased > 0 {
		return fraction | 1<<width, biased - bias, width + 1
	}
	n := bits.Len64(fraction)
	return fraction << (width + 1 - n), 1 - (width + 1 - n) - bias, n
}

// javaDigits returns the decimal digits of mantissa × 2^(exponent-52), and where
// the point stands from the left, as Java before 19 chooses them:
//
//   - a whole number below 2^63 is written out, less the digits that its
//     significant bits cannot tell;
//   - else digits are produced from the left until what is left is within half a
//     unit of the last place, from below or from above, but at least two where
//     the number will be shown with an exponent.
func javaDigits(mantissa uint64, exponent, significant int) (digits []byte, point int) {
	zeros := bits.TrailingZeros64(mantissa)
	width := 53 - zeros // bits of the mantissa without trailing zeros
	behind := max(0, width-exponent-1)
	if behind == 0 && exponent <= 62 {
		return wholeDigits(mantissa, exponent, significant)
	}

	// value = b/s × 10^power, half an ulp = m/s × 10^power.
	f := math.Float64frombits(0x3ff0000000000000 | mantissa&(1<<52-1))
	power := int(math.Floor((f-1.5)*0.289529654 + 0.176091259 + float64(exponent)*0.301029995663981))
	b5, s5 := max(0, -power), max(0, power)
	b2, s2 := b5+behind+exponent, s5+behind
	m2 := b2 - significant
	b2 -= width - 1
	common := min(b2, s2)
	b2, s2, m2 = b2-common, s2-common, m2-common
	if width == 1 {
		m2-- // below a power of two the next number is half as far away
	}
	if m2 < 0 {
		b2, s2, m2 = b2-m2, s2-m2, 0
	}
	mantissa >>= zeros
	var gen generator
	switch size := max(width+b2+bitsOf5(b5, b5), s2+1+bitsOf5(s5+1, s5+1)); {
	case size < 32:
		gen = newShortGenerator(mantissa, b5, b2, s5, s2, m2, 32)
	case size < 64:
		gen = newShortGenerator(mantissa, b5, b2, s5, s2, m2, 64)
	default:
		gen = newBigGenerator(mantissa, b5, b2, s5, s2, m2)
	}
	d, low, high := gen.next()
	if d == 0 && !high {
		power--
	} else {
		digits = append(digits, '0'+d)
	}
	if power < -3 || power >= 8 {
		low, high = false, false
	}
	for !low && !high {
		d, low, high = gen.next()
		digits = append(digits, '0'+d)
	}
	up := high
	if high && low {
		half := gen.half()
		up = half > 0 || half == 0 && digits[len(digits)-1]&1 == 1
	}
	if up && roundUp(digits) {
		power++
	}
	return digits, power + 1
}

// A generator gives a number's digits from the left, and with each whether what
// is left is within half an ulp from below and from above.
type generator interface {
	next() (digit byte, low, high bool)
	half() int // what is left, compared with half a unit of the last digit
}

type bigGenerator struct{ b, s, m, tens, q *big.Int }

var ten = big.NewInt(10)

func newBigGenerator(n uint64, b5, b2, s5, s2, m2 int) *bigGenerator {
	scale := func(n uint64, five, two int) *big.Int {
		p := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(five)), nil)
		return p.Lsh(p.Mul(p, new(big.Int).SetUint64(n)), uint(two))
	}
	s := scale(1, s5, s2)
	return &bigGenerator{scale(n, b5, b2), s, scale(1, b5, m2), new(big.Int).Mul(s, ten), new(big.Int)}
}

func (g *bigGenerator) next() (digit byte, low, high bool) {
	g.q.QuoRem(g.b, g.s, g.b)
	digit = byte(g.q.Uint64())
	g.b.Mul(g.b, ten)
	g.m.Mul(g.m, ten)
	return digit, g.b.Cmp(g.m) < 0, g.q.Add(g.b, g.m).Cmp(g.tens) >= 0
}

func (g *bigGenerator) half() int { return g.b.Lsh(g.b, 1).Cmp(g.tens) }

// shortGenerator computes in Java's int or long, overflow included.
type shortGenerator struct {
	b, s, m, tens int64
	size          int
	begun         bool
}

func newShortGenerator(n uint64, b5, b2, s5, s2, m2, size int) *shortGenerator {
	scale := func(n uint64, five, two int) int64 {
		for range five {
			n *= 5
		}
		return int64(n << two)
	}
	s := scale(1, s5, s2)
	return &shortGenerator{b: scale(n, b5, b2), s: s, m: scale(1, b5, m2), tens: 10 * s, size: size}
}

func (g *shortGenerator) wrap(n int64) int64 {
	if g.size == 32 {
		return int64(int32(n))
	}
	return n
}

func (g *shortGenerator) next() (digit byte, low, high bool) {
	digit = byte(g.b / g.s)
	g.b = g.wrap(10 * (g.b % g.s))
	g.m = g.wrap(10 * g.m)
	low, high = g.b < g.m, g.wrap(g.b+g.m) > g.tens
	if g.begun && g.m <= 0 {
		low, high = true, true
	}
	g.begun = true
	return digit, low, high
}

func (g *shortGenerator) half() int { return cmp.Compare(g.wrap(2*g.b-g.tens), 0) }

// bitsOf5 is how many bits 5^n takes, as Java counts them.
func bitsOf5(n, index int) int {
	if index < 27 {
		return big.NewInt(0).Exp(big.NewInt(5), big.NewInt(int64(n)), nil).BitLen()
	}
	return 3 * n
}

// wholeDigits writes out a whole number less its insignificant digits.
func wholeDigits(mantissa uint64, exponent, significant int) (digits []byte, point int) {
	n := mantissa
	if exponent >= 52 {
		n <<= exponent - 52
	} else {
		n >>= 52 - exponent
	}
	dropped := 0
	if p := exponent - significant - 1; p > 1 {
		dropped = int(float64(p) * math.Log10(2))
		rest := n % tens[dropped]
		n /= tens[dropped]
		if dropped > 0 && rest >= tens[dropped]/2 {
			n++
		}
	}
	digits = strconv.AppendUint(nil, n, 10)
	point = len(digits) + dropped
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, point
}

// roundUp adds one to the last digit; true where it carried beyond the first.
func roundUp(digits []byte) bool {
	i := len(digits) - 1
	for i > 0 && digits[i] == '9' {
		digits[i] = '0'
		i--
	}
	if digits[i] == '9' {
		digits[i] = '1'
		return true
	}
	digits[i]++
	return false
}
