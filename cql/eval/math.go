// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/evenkeel/evenkeel/cql/value"
)

// mathFunction is abs, exp, log, log10 or round, with an implementation for floats and one for
// decimals.
type mathFunction struct {
	name     string
	floats   func(float64) float64
	decimals func(decimal) (decimal, error)
}

var (
	errLog   = errors.New("Natural log of number zero or less")
	errLog10 = errors.New("Log10 of number zero or less")
)

func positive(err error, f func(decimal) (decimal, error)) func(decimal) (decimal, error) {
	return func(d decimal) (decimal, error) {
		if d.n.Sign() <= 0 {
			return d, err
		}
		return f(d)
	}
}

var mathFunctions = []mathFunction{
	{"abs", math.Abs, func(d decimal) (decimal, error) { return decimal{new(big.Int).Abs(d.n), d.scale}, nil }},
	{"exp", math.Exp, func(d decimal) (decimal, error) { return d.transcendental((*apd.Context).Exp) }},
	{"log", math.Log, positive(errLog, func(d decimal) (decimal, error) { return d.transcendental((*apd.Context).Ln) })},
	{"log10", math.Log10, positive(errLog10, decimal.log10)},
	{"round", nil, decimal.round},
}

func addMath(add func(*Function)) {
	for _, k := range []value.Kind{value.Tinyint, value.Smallint, value.Int, value.Float, value.Bigint,
		value.Double, value.Varint, value.Decimal, value.Counter} {
		for _, m := range mathFunctions {
			f := function(m.name, k, k)
			f.Digits = true
			f.call = func(_ *Env, args [][]byte) ([]byte, error) {
				x, ok := decode(k, args[0])
				if !ok {
					return nil, nil
				}
				v, err := m.apply(k, x)
				if err != nil {
					return nil, arithmetic(err)
				}
				return v, nil
			}
			add(f)
		}
	}
}

func (m mathFunction) apply(k value.Kind, x number) ([]byte, error) {
	switch k {
	case value.Float, value.Double:
		f := x.f
		switch {
		case m.floats != nil:
			f = m.floats(f)
		case k == value.Float: // Java's Math.round of a float returns an int
			f = float64(int32(saturate(math.Floor(f+0.5), math.MinInt32, math.MaxInt32)))
		default:
			f = float64(saturate(math.Floor(f+0.5), math.MinInt64, math.MaxInt64))
		}
		if k == value.Float {
			return encodeFloat(float32(f)), nil
		}
		return encodeDouble(f), nil
	case value.Varint:
		if m.name == "round" {
			return value.AppendVarint(nil, x.n), nil
		}
		d, err := m.decimals(decimal{x.n, 0})
		if err != nil {
			return nil, err
		}
		return value.AppendVarint(nil, truncated(d.n, d.scale)), nil
	case value.Decimal:
		d, err := m.decimals(decimal{x.n, x.scale})
		if err != nil {
			return nil, err
		}
		return d.encode(), nil
	}
	switch m.name {
	case "round":
		return encodeInteger(k, x.i), nil
	case "abs":
		return encodeInteger(k, max(x.i, -x.i)), nil
	}
	// Java converts a double to a byte or short through int.
	f := number{kind: value.Double, f: m.floats(float64(x.i))}
	return encodeInteger(k, f.integer(k)), nil
}
