// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"

	"github.com/evenkeel/evenkeel/cql/value"
)

// number is a value of one of CQL's numeric types. Its conversions are those of Java's Number;
// Cassandra's results follow them bit by bit.
type number struct {
	kind  value.Kind
	i     int64    // tinyint, smallint, int, bigint, counter
	f     float64  // float, double
	n     *big.Int // varint; unscaled value of a decimal
	scale int32    // decimal
}

// numeric reports whether t is a numeric type. A counter is one.
func numeric(t *value.Type) bool {
	switch t.Kind {
	case value.Tinyint, value.Smallint, value.Int, value.Bigint, value.Counter,
		value.Float, value.Double, value.Varint, value.Decimal:
		return true
	}
	return false
}

func floating(k value.Kind) bool {
	return k == value.Float || k == value.Double || k == value.Decimal
}

// decode decodes a number. ok is false for null, the empty value and malformed values.
func decode(k value.Kind, v []byte) (x number, ok bool) {
	x.kind = k
	switch k {
	case value.Tinyint:
		if len(v) == 1 {
			x.i, ok = int64(int8(v[0])), true
		}
	case value.Smallint:
		if len(v) == 2 {
			x.i, ok = int64(int16(binary.BigEndian.Uint16(v))), true
		}
	case value.Int:
		if len(v) == 4 {
			x.i, ok = int64(int32(binary.BigEndian.Uint32(v))), true
		}
	case value.Bigint, value.Counter:
		if len(v) == 8 {
			x.i, ok = int64(binary.BigEndian.Uint64(v)), true
		}
	case value.Float:
		if len(v) == 4 {
			x.f, ok = float64(math.Float32frombits(binary.BigEndian.Uint32(v))), true
		}
	case value.Double:
		if len(v) == 8 {
			x.f, ok = math.Float64frombits(binary.BigEndian.Uint64(v)), true
		}
	case value.Varint:
		if len(v) > 0 {
			x.n, ok = value.BigInt(v), true
		}
	case value.Decimal:
		if len(v) > 4 {
			x.n, x.scale = value.BigDecimal(v)
			ok = true
		}
	}
	return x, ok
}

func encodeTinyint(i int64) []byte  { return []byte{byte(i)} }
func encodeSmallint(i int64) []byte { return binary.BigEndian.AppendUint16(nil, uint16(i)) }
func encodeInt(i int64) []byte      { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
func encodeBigint(i int64) []byte   { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

func encodeFloat(f float32) []byte {
	if f != f {
		return []byte{0x7f, 0xc0, 0, 0} // Java's canonical NaN
	}
	return binary.BigEndian.AppendUint32(nil, math.Float32bits(f))
}

func encodeDouble(f float64) []byte {
	if f != f {
		return []byte{0x7f, 0xf8, 0, 0, 0, 0, 0, 0}
	}
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(f))
}

// encodeInteger encodes i as one of the fixed-size integer types, truncated to its size.
func encodeInteger(k value.Kind, i int64) []byte {
	switch k {
	case value.Tinyint:
		return encodeTinyint(i)
	case value.Smallint:
		return encodeSmallint(i)
	case value.Int:
		return encodeInt(i)
	}
	return encodeBigint(i)
}

// long returns Java's longValue.
func (x number) long() int64 {
	switch x.kind {
	case value.Float, value.Double:
		return saturate(x.f, math.MinInt64, math.MaxInt64)
	case value.Varint:
		return low64(x.n)
	case value.Decimal:
		return low64(truncated(x.n, x.scale))
	}
	return x.i
}

// int returns Java's intValue.
func (x number) int() int32 {
	if x.kind == value.Float || x.kind == value.Double {
		return int32(saturate(x.f, math.MinInt32, math.MaxInt32))
	}
	return int32(x.long())
}

// integer returns Java's byteValue, shortValue, intValue or longValue.
func (x number) integer(k value.Kind) int64 {
	switch k {
	case value.Tinyint:
		return int64(int8(x.int()))
	case value.Smallint:
		return int64(int16(x.int()))
	case value.Int:
		return int64(x.int())
	}
	return x.long()
}

// double returns Java's doubleValue.
func (x number) double() float64 {
	switch x.kind {
	case value.Float, value.Double:
		return x.f
	case value.Varint:
		f, _ := new(big.Float).SetInt(x.n).Float64()
		return f
	case value.Decimal:
		return decimalFloat(x.n, x.scale, 64)
	}
	return float64(x.i)
}

// float returns Java's floatValue.
func (x number) float() float32 {
	switch x.kind {
	case value.Float, value.Double:
		return float32(x.f)
	case value.Varint:
		f, _ := new(big.Float).SetInt(x.n).Float32()
		return f
	case value.Decimal:
		return float32(decimalFloat(x.n, x.scale, 32))
	}
	return float32(x.i)
}

// bigInt returns the number as Cassandra's varint arithmetic takes it.
func (x number) bigInt() *big.Int {
	if x.kind == value.Varint {
		return x.n
	}
	return big.NewInt(x.long())
}

// The errors for numbers that have no decimal.
var (
	errNaN      = errors.New("A NaN cannot be converted into a decimal")
	errInfinite = errors.New("An infinite number cannot be converted into a decimal")
)

// decimal returns the number as Cassandra's decimal arithmetic takes it. All types except varint
// and decimal are converted through double.
func (x number) decimal() (decimal, error) {
	switch x.kind {
	case value.Decimal:
		return decimal{x.n, x.scale}, nil
	case value.Varint:
		return decimal{x.n, 0}, nil
	}
	f := x.double()
	switch {
	case f != f:
		return decimal{}, errNaN
	case f-f != 0:
		return decimal{}, errInfinite
	}
	return decimalOfDouble(f)
}

// saturate converts a floating-point number to an integer as Java does.
func saturate(f float64, lo, hi int64) int64 {
	switch {
	case f != f:
		return 0
	case f <= float64(lo):
		return lo
	case f >= float64(hi):
		return hi
	}
	return int64(f)
}

var mask64 = new(big.Int).SetUint64(math.MaxUint64)

// low64 returns the low 64 bits of n in two's complement.
func low64(n *big.Int) int64 {
	if n.IsInt64() {
		return n.Int64()
	}
	return int64(new(big.Int).And(n, mask64).Uint64())
}
