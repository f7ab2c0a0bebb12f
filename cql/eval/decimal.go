// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/evenkeel/evenkeel/cql/value"
)

// decimal is n × 10^-scale. Its arithmetic is that of Java's BigDecimal, because the scale is part
// of a result's bytes.
type decimal struct {
	n     *big.Int
	scale int32
}

// maxDigits is the largest number of digits that decimal arithmetic may produce. Cassandra's
// MathContext has the same limit.
const maxDigits = 10000

// maxExponent limits the exponents and digits of the arguments of exp, log and log10.
const maxExponent = 1000

var errTooLarge = errors.New("Overflow")

func (d decimal) encode() []byte { return value.AppendDecimal(nil, d.n, d.scale) }

var (
	one = big.NewInt(1)
	ten = big.NewInt(10)
)

func pow10(k int64) *big.Int {
	return new(big.Int).Exp(ten, big.NewInt(k), nil)
}

func digits(n *big.Int) int { return value.Digits(n) }

// rescale returns both unscaled values at the larger of the two scales.
func rescale(a, b decimal) (x, y *big.Int, scale int32, err error) {
	d := int64(a.scale) - int64(b.scale)
	if d > maxDigits || d < -maxDigits {
		// With scales so far apart, only the addition of zero stays within the precision.
		if a.n.Sign() != 0 && b.n.Sign() != 0 {
			return nil, nil, 0, errTooLarge
		}
		if a.n.Sign() == 0 {
			return new(big.Int), b.n, b.scale, nil
		}
		return a.n, new(big.Int), a.scale, nil
	}
	switch {
	case d > 0:
		return a.n, new(big.Int).Mul(b.n, pow10(d)), a.scale, nil
	case d < 0:
		return new(big.Int).Mul(a.n, pow10(-d)), b.n, b.scale, nil
	}
	return a.n, b.n, a.scale, nil
}

func (d decimal) add(o decimal) (decimal, error) {
	x, y, s, err := rescale(d, o)
	if err != nil {
		return decimal{}, err
	}
	return decimal{new(big.Int).Add(x, y), s}, nil
}

func (d decimal) neg() decimal { return decimal{new(big.Int).Neg(d.n), d.scale} }

func (d decimal) mul(o decimal) (decimal, error) {
	s := int64(d.scale) + int64(o.scale)
	if int64(int32(s)) != s || digits(d.n)+digits(o.n) > 2*maxDigits {
		return decimal{}, errTooLarge
	}
	return decimal{new(big.Int).Mul(d.n, o.n), int32(s)}, nil
}

var (
	errDivideByZero = errors.New("/ by zero")
	errUndefined    = errors.New("Division undefined")
	errByZero       = errors.New("Division by zero")
)

// rounding is how to round quotients.
type rounding uint8

const (
	halfUp rounding = iota
	halfEven
)

// quo divides and rounds the quotient to a scale.
func (d decimal) quo(o decimal, scale int32, r rounding) (decimal, error) {
	shift := int64(scale) + int64(o.scale) - int64(d.scale)
	if shift > 4*maxDigits || shift < -4*maxDigits {
		return decimal{}, errTooLarge
	}
	num, den := d.n, o.n
	if shift >= 0 {
		num = new(big.Int).Mul(num, pow10(shift))
	}
	if o.n.Sign() == 0 {
		if num.IsInt64() {
			return decimal{}, errDivideByZero
		}
		return decimal{}, errors.New("BigInteger divide by zero")
	}
	if shift < 0 {
		den = new(big.Int).Mul(den, pow10(-shift))
	}
	q, rem := new(big.Int).QuoRem(num, den, new(big.Int))
	if rem.Sign() != 0 {
		twice := new(big.Int).Abs(rem)
		twice.Lsh(twice, 1)
		c := twice.CmpAbs(den)
		if c > 0 || c == 0 && (r == halfUp || q.Bit(0) == 1) {
			if num.Sign() == den.Sign() {
				q.Add(q, one)
			} else {
				q.Sub(q, one)
			}
		}
	}
	return decimal{q, scale}, nil
}

// div divides as Cassandra does: at least 32 significant digits, no trailing zeros.
func (d decimal) div(o decimal) (decimal, error) {
	first := (digits(d.n) - int(d.scale)) - (digits(o.n) - int(o.scale))
	scale := max(32-first, int(d.scale), int(o.scale), 32)
	q, err := d.quo(o, int32(min(scale, 1000)), halfUp)
	if err != nil {
		return q, err
	}
	return q.strip(), nil
}

// strip removes trailing zeros.
func (d decimal) strip() decimal {
	if d.n.Sign() == 0 {
		return decimal{new(big.Int), 0}
	}
	return d.stripTo(-1 << 31)
}

// stripTo removes trailing zeros while the scale is above least. It first removes many at once,
// because one by one would take time quadratic in their number.
func (d decimal) stripTo(least int32) decimal {
	n, rem := new(big.Int).Set(d.n), new(big.Int)
	step := int64(1)
	for step < int64(min(uint(digits(n)), n.TrailingZeroBits())) { // z zeros need 2^z as a factor
		step *= 2
	}
	for ; step > 0; step /= 2 {
		for int64(d.scale)-step >= int64(least) {
			q, _ := new(big.Int).QuoRem(n, pow10(step), rem)
			if rem.Sign() != 0 {
				break
			}
			n = q
			d.scale -= int32(step)
		}
	}
	return decimal{n, d.scale}
}

// rem returns what BigDecimal.remainder returns.
func (d decimal) rem(o decimal) (decimal, error) {
	if o.n.Sign() == 0 {
		if d.n.Sign() == 0 {
			return decimal{}, errUndefined
		}
		return decimal{}, errByZero
	}
	x, y, _, err := rescale(d, o)
	if err != nil {
		return decimal{}, err
	}
	q := decimal{new(big.Int).Quo(x, y), 0}
	preferred := d.scale - o.scale
	if q.n.Sign() == 0 {
		q.scale = preferred
	} else if preferred < 0 {
		q = q.stripTo(preferred)
	} else {
		q = decimal{new(big.Int).Mul(q.n, pow10(int64(preferred))), preferred}
	}
	p, err := q.mul(o)
	if err != nil {
		return decimal{}, err
	}
	return d.add(p.neg())
}

// round rounds half up to an integer.
func (d decimal) round() (decimal, error) {
	if d.scale < -maxDigits {
		return decimal{}, errTooLarge
	}
	return d.quo(decimal{one, 0}, 0, halfUp)
}

// truncated returns the integer part of n × 10^-scale.
func truncated(n *big.Int, scale int32) *big.Int {
	switch {
	case scale <= 0:
		if scale < -maxDigits {
			return new(big.Int) // the low bits are zero
		}
		return new(big.Int).Mul(n, pow10(int64(-scale)))
	case int(scale) > digits(n):
		return new(big.Int)
	}
	return new(big.Int).Quo(n, pow10(int64(scale)))
}

func decimalFloat(n *big.Int, scale int32, bits int) float64 {
	f, _ := strconv.ParseFloat(n.Text(10)+"e"+strconv.FormatInt(-int64(scale), 10), bits)
	return f
}

// log10 returns the decimal logarithm. It is exact for powers of ten.
func (d decimal) log10() (decimal, error) {
	if s := d.strip(); s.n.Cmp(one) == 0 {
		return decimal{big.NewInt(int64(-s.scale)), 0}, nil
	}
	return d.transcendental((*apd.Context).Log10)
}

// decimalOfDouble returns what BigDecimal.valueOf(double) returns: the decimal of the double's
// shortest text.
func decimalOfDouble(f float64) (decimal, error) {
	return decimalOfText(value.Native(value.Double), encodeDouble(f))
}

func decimalOfText(t *value.Type, v []byte) (decimal, error) {
	text := string(t.Format(nil, v))
	n, scale, ok := value.ParseDecimal(text)
	if !ok {
		c := strings.TrimPrefix(text, "-")[:1]
		return decimal{}, errors.New("Character " + c + " is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.")
	}
	return decimal{n, scale}, nil
}

// transcendental computes exp, log or log10 with Cassandra's precision.
func (d decimal) transcendental(f func(c *apd.Context, z, x *apd.Decimal) (apd.Condition, error)) (decimal, error) {
	// apd would take very long with arguments that are far out of range.
	if e := digits(d.n) - int(d.scale); e > maxExponent || e < -maxExponent || digits(d.n) > maxExponent {
		return decimal{}, errTooLarge
	}
	c := apd.BaseContext.WithPrecision(uint32(min(max(32, digits(d.n)), maxDigits)))
	c.Rounding = apd.RoundHalfEven
	var x, z apd.Decimal
	x.Coeff.SetMathBigInt(new(big.Int).Abs(d.n))
	x.Negative = d.n.Sign() < 0
	x.Exponent = -d.scale
	if _, err := f(c, &z, &x); err != nil {
		return decimal{}, errTooLarge
	}
	if z.Form != apd.Finite {
		return decimal{}, errTooLarge
	}
	n := z.Coeff.MathBigInt()
	if z.Negative {
		n.Neg(n)
	}
	return decimal{n, -z.Exponent}, nil
}
