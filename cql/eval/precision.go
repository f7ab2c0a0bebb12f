// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"math"
	"math/big"
)

// Sums, differences and products of decimals have at most maxDigits digits, rounded half up. Java's
// BigDecimal.add and multiply give the same under new MathContext(10000), which is Cassandra's
// DecimalType.MAX_PRECISION. The scale is part of a result's bytes, so it is BigDecimal's too.

var errUnderflow = errors.New("Underflow")

// checkScale returns n × 10^-scale, if such a decimal exists. A zero gets the nearest possible
// scale.
func checkScale(n *big.Int, scale int64) (decimal, error) {
	switch {
	case scale == int64(int32(scale)):
	case n.Sign() == 0:
		scale = min(max(scale, math.MinInt32), math.MaxInt32)
	case scale > 0:
		return decimal{}, errUnderflow
	default:
		return decimal{}, errTooLarge
	}
	return decimal{n, int32(scale)}, nil
}

// limited returns n × 10^-scale rounded to at most maxDigits digits.
func limited(n *big.Int, scale int64) (decimal, error) {
	for {
		drop := int64(digits(n) - maxDigits)
		if drop <= 0 {
			return checkScale(n, scale)
		}
		n, scale = halfUpTo(n, drop), scale-drop // rounding 99…9 up may add a digit
	}
}

// halfUpTo removes the last drop digits of n and rounds half up.
func halfUpTo(n *big.Int, drop int64) *big.Int {
	unit := pow10(drop)
	q, rem := new(big.Int).QuoRem(n, unit, new(big.Int))
	if rem.Lsh(rem.Abs(rem), 1).Cmp(unit) < 0 {
		return q
	}
	return q.Add(q, big.NewInt(int64(n.Sign())))
}

// plus returns what BigDecimal.add returns.
func (d decimal) plus(o decimal) (decimal, error) {
	switch {
	case d.n.Sign() == 0 && o.n.Sign() == 0:
		return decimal{new(big.Int), max(d.scale, o.scale)}, nil
	case d.n.Sign() == 0:
		return o.plusZero(d.scale)
	case o.n.Sign() == 0:
		return d.plusZero(o.scale)
	}
	coarse, fine := d, o
	if coarse.scale > fine.scale {
		coarse, fine = fine, coarse
	}
	// If all digits of the finer number are below those of the result, only its sign matters for
	// rounding.
	at := int64(coarse.scale)
	last := at - int64(digits(coarse.n)) + maxDigits
	if first := int64(fine.scale) - int64(digits(fine.n)) + 1; first > at+2 && first > last+2 {
		var err error
		if fine, err = checkScale(big.NewInt(int64(fine.n.Sign())), max(at, last)+3); err != nil {
			return decimal{}, err
		}
	}
	n := new(big.Int).Mul(coarse.n, pow10(int64(fine.scale)-at))
	return limited(n.Add(n, fine.n), int64(fine.scale))
}

// plusZero adds a zero of the given scale. The sum has that scale if maxDigits leaves room for it.
func (d decimal) plusZero(scale int32) (decimal, error) {
	d, err := limited(d.n, int64(d.scale))
	if err != nil || d.scale >= scale {
		return d, err
	}
	more := min(int64(scale)-int64(d.scale), int64(maxDigits-digits(d.n)))
	return decimal{new(big.Int).Mul(d.n, pow10(more)), d.scale + int32(more)}, nil
}

// times returns what BigDecimal.multiply returns.
func (d decimal) times(o decimal) (decimal, error) {
	n := new(big.Int).Mul(d.n, o.n)
	product, err := checkScale(n, int64(d.scale)+int64(o.scale))
	if err != nil {
		return decimal{}, err
	}
	return limited(n, int64(product.scale))
}
