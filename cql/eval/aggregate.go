// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bytes"
	"math"
	"math/big"

	"github.com/evenkeel/evenkeel/cql/value"
)

func addAggregates(add func(*Function)) {
	rows := &Function{Name: "count_rows", Returns: value.Native(value.Bigint), Pure: true, Aggregate: true}
	rows.start = func() accumulator { return new(countRows) }
	add(rows)
	legacy := *rows
	legacy.Name = "countRows"
	add(&legacy)
	for _, k := range numericKinds {
		sum := function("sum", k, k)
		sum.Aggregate, sum.start = true, summing(k)
		add(sum)
		avg := function("avg", k, k)
		avg.Aggregate, avg.start = true, averaging(k)
		add(avg)
	}
	count := function("count", value.Bigint, value.Blob)
	count.Aggregate = true
	count.start = func() accumulator { return new(countValues) }
	add(count)
}

type countRows struct{ n int64 }

func (a *countRows) add([][]byte) error      { a.n++; return nil }
func (a *countRows) result() ([]byte, error) { return encodeBigint(a.n), nil }

type countValues struct{ n int64 }

func (a *countValues) add(args [][]byte) error {
	if args[0] != nil {
		a.n++
	}
	return nil
}
func (a *countValues) result() ([]byte, error) { return encodeBigint(a.n), nil }

// extreme computes min (sign 1) or max (sign -1) in the type's order.
type extreme struct {
	t    *value.Type
	sign int
	v    []byte
}

func (a *extreme) add(args [][]byte) error {
	v := args[0]
	if v == nil || a.t.Kind == value.Counter && len(v) != 8 {
		return nil
	}
	if a.v == nil || a.sign*a.t.Compare(a.v, v) > 0 {
		a.v = bytes.Clone(v)
	}
	return nil
}
func (a *extreme) result() ([]byte, error) { return a.v, nil }

func summing(k value.Kind) func() accumulator {
	switch k {
	case value.Float, value.Double:
		return func() accumulator { return &floatSum{kind: k} }
	case value.Varint:
		return func() accumulator { return &varintSum{sum: new(big.Int)} }
	case value.Decimal:
		return func() accumulator { return &decimalSum{sum: decimal{new(big.Int), 0}} }
	}
	return func() accumulator { return &integerSum{kind: k} }
}

// integerSum computes a sum that wraps around at the size of its type, as in Cassandra.
type integerSum struct {
	kind value.Kind
	sum  int64
}

func (a *integerSum) add(args [][]byte) error {
	if x, ok := decode(a.kind, args[0]); ok {
		a.sum += x.i
	}
	return nil
}
func (a *integerSum) result() ([]byte, error) { return encodeInteger(a.kind, a.sum), nil }

type varintSum struct{ sum *big.Int }

func (a *varintSum) add(args [][]byte) error {
	if x, ok := decode(value.Varint, args[0]); ok {
		a.sum.Add(a.sum, x.n)
	}
	return nil
}
func (a *varintSum) result() ([]byte, error) { return value.AppendVarint(nil, a.sum), nil }

type decimalSum struct{ sum decimal }

func (a *decimalSum) add(args [][]byte) error {
	x, ok := decode(value.Decimal, args[0])
	if !ok {
		return nil
	}
	sum, err := a.sum.add(decimal{x.n, x.scale})
	if err != nil {
		return arithmetic(err)
	}
	a.sum = sum
	return nil
}
func (a *decimalSum) result() ([]byte, error) { return a.sum.encode(), nil }

// floatSum implements Cassandra's compensated summation, in the order of the rows. Its result
// depends on that order. It adds the compensation at the end.
type floatSum struct {
	kind                      value.Kind
	sum, compensation, simple float64
}

func (a *floatSum) add(args [][]byte) error {
	if x, ok := decode(a.kind, args[0]); ok {
		a.plus(x.f)
	}
	return nil
}

func (a *floatSum) plus(d float64) {
	a.simple += d
	t := d - a.compensation
	rounded := a.sum + t
	a.compensation = (rounded - a.sum) - t
	a.sum = rounded
}

func (a *floatSum) total() float64 {
	t := a.sum + a.compensation
	if t != t && math.IsInf(a.simple, 0) {
		return a.simple
	}
	return t
}

func (a *floatSum) result() ([]byte, error) {
	if a.kind == value.Float {
		return encodeFloat(float32(a.total())), nil
	}
	return encodeDouble(a.total()), nil
}

func averaging(k value.Kind) func() accumulator {
	switch k {
	case value.Float, value.Double:
		return func() accumulator { return &floatAverage{floatSum: floatSum{kind: k}} }
	case value.Varint:
		return func() accumulator { return &varintAverage{sum: new(big.Int)} }
	case value.Decimal:
		return func() accumulator { return &decimalAverage{avg: decimal{new(big.Int), 0}} }
	}
	return func() accumulator { return &integerAverage{kind: k} }
}

// integerAverage sums as a bigint. From the first overflow on it sums exactly.
type integerAverage struct {
	kind  value.Kind
	sum   int64
	count int32
	big   *big.Int // set after an overflow
}

func (a *integerAverage) add(args [][]byte) error {
	x, ok := decode(a.kind, args[0])
	if !ok {
		return nil
	}
	a.count++
	if a.big != nil {
		a.big.Add(a.big, big.NewInt(x.i))
		return nil
	}
	before := a.sum
	a.sum += x.i
	if (before^a.sum)&(x.i^a.sum) < 0 {
		a.big = new(big.Int).Add(big.NewInt(before), big.NewInt(x.i))
	}
	return nil
}

func (a *integerAverage) result() ([]byte, error) {
	var avg int64
	switch {
	case a.count == 0:
	case a.big != nil:
		avg = low64(new(big.Int).Quo(a.big, big.NewInt(int64(a.count))))
	default:
		avg = a.sum / int64(a.count)
	}
	return encodeInteger(a.kind, avg), nil
}

type varintAverage struct {
	sum   *big.Int
	count int32
}

func (a *varintAverage) add(args [][]byte) error {
	if x, ok := decode(value.Varint, args[0]); ok {
		a.count++
		a.sum.Add(a.sum, x.n)
	}
	return nil
}

func (a *varintAverage) result() ([]byte, error) {
	if a.count == 0 {
		return value.AppendVarint(nil, new(big.Int)), nil
	}
	return value.AppendVarint(nil, new(big.Int).Quo(a.sum, big.NewInt(int64(a.count)))), nil
}

// decimalAverage moves the average towards each value by the value's share, at the scale of the
// difference. The result depends on the order of the rows.
type decimalAverage struct {
	avg   decimal
	count int32
}

func (a *decimalAverage) add(args [][]byte) error {
	x, ok := decode(value.Decimal, args[0])
	if !ok {
		return nil
	}
	a.count++
	diff, err := decimal{x.n, x.scale}.add(a.avg.neg())
	if err == nil {
		diff, err = diff.quo(decimal{big.NewInt(int64(a.count)), 0}, diff.scale, halfEven)
	}
	if err == nil {
		a.avg, err = a.avg.add(diff)
	}
	if err != nil {
		return arithmetic(err)
	}
	return nil
}
func (a *decimalAverage) result() ([]byte, error) { return a.avg.encode(), nil }

type floatAverage struct {
	floatSum
	count int32
	big   *decimal // set after an overflow
}

func (a *floatAverage) add(args [][]byte) error {
	x, ok := decode(a.kind, args[0])
	if !ok {
		return nil
	}
	a.count++
	if a.big != nil {
		return a.addBig(x.f)
	}
	before := a.sum
	a.plus(x.f)
	if math.IsInf(a.sum, 0) && !math.IsInf(x.f, 0) {
		d, err := decimalOfDouble(before)
		if err != nil {
			return notNumber(err)
		}
		a.big = &d
		return a.addBig(x.f)
	}
	return nil
}

func (a *floatAverage) addBig(f float64) error {
	d, err := decimalOfDouble(f)
	if err != nil {
		return notNumber(err)
	}
	if d, err = a.big.add(d); err != nil {
		return arithmetic(err)
	}
	a.big = &d
	return nil
}

func (a *floatAverage) result() ([]byte, error) {
	var avg float64
	switch {
	case a.count == 0:
	case a.big != nil:
		q, err := a.big.quo(decimal{big.NewInt(int64(a.count)), 0}, a.big.scale, halfEven)
		if err != nil {
			return nil, arithmetic(err)
		}
		avg = decimalFloat(q.n, q.scale, 64)
	default:
		avg = a.total() / float64(a.count)
	}
	if a.kind == value.Float {
		return encodeFloat(float32(avg)), nil
	}
	return encodeDouble(avg), nil
}
