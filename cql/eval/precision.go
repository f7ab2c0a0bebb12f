// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"math"
	"math/big"
)

// Decimals' sums, differences and products have at most maxDigits digits, rounded half up:
// what Java's BigDecimal.add and multiply give under new MathContext(10000), which is
// Cassandra's DecimalType.MAX_PRECISION. Scales show in the bytes of a result, so they are
// BigDecimal's too.

var errUnderflow = errors.New("Underflow")

// checkScale gives n × 10^-scale, if there is such a decimal. A zero of any scale has the
// nearest one.
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

// limited is n × 10^-scale in at most maxDigits digits.
func limited(n *big.Int, scale int64) (decimal, error) {
	for {
		drop := int64(digits(n) - maxDigits)
		if drop <= 0 {
			return checkScale(n, scale)
		}
		n, scale = halfUpTo(n, drop), scale-drop // 99…9 may get a digit more
	}
}

// halfUpTo drops the last digits of n.
func halfUpTo(n *big.Int, drop int64) *big.Int {
	unit := pow10(drop)
	q, rem := new(big.Int).QuoRem(n, unit, new(big.Int))
	if rem.Lsh(rem.Abs(rem), 1).Cmp(unit) < 0 {
		return q
	}
	return q.Add(q, big.NewInt(int64(n.Sign())))
}

// plus is BigDecimal.add.
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
	// Where all digits of the finer one are below those of the result, its sign alone tells
	// how to round.
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

// plusZero adds a zero of the given scale, which the sum has if it has room for so many
// digits.
func (d decimal) plusZero(scale int32) (decimal, error) {
	d, err := limited(d.n, int64(d.scale))
	if err != nil || d.scale >= scale {
		return d, err
	}
	more := min(int64(scale)-int64(d.scale), int64(maxDigits-digits(d.n)))
	return decimal{new(big.Int).Mul(d.n, pow10(more)), d.scale + int32(more)}, nil
}

// times is BigDecimal.multiply.
func (d decimal) times(o decimal) (decimal, error) {
	n := new(big.Int).Mul(d.n, o.n)
	product, err := checkScale(n, int64(d.scale)+int64(o.scale))
	if err != nil {
		return decimal{}, err
	}
	return limited(n, int64(product.scale))
}
