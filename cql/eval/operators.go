// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"math"
	"math/big"

	"github.com/evenkeel/evenkeel/cql/value"
)

// operator is an arithmetic operator. In Cassandra each is a function.
type operator struct {
	symbol string
	name   string
}

var operators = []operator{{"+", "_add"}, {"-", "_substract"}, {"*", "_multiply"}, {"/", "_divide"}, {"%", "_modulo"}}

// Negation is the name of the function for unary minus.
const Negation = "_negate"

// Operator returns the name of an arithmetic operator's function: "_add" for "+".
func Operator(symbol string) string {
	for _, o := range operators {
		if o.symbol == symbol {
			return o.name
		}
	}
	return ""
}

// Symbol returns the operator for a function's name; "" for other functions.
func Symbol(name string) string {
	for _, o := range operators {
		if o.name == name {
			return o.symbol
		}
	}
	return ""
}

var numericKinds = []value.Kind{value.Tinyint, value.Smallint, value.Int, value.Bigint, value.Float,
	value.Double, value.Decimal, value.Varint, value.Counter}

// size returns the size of a numeric type in bytes, to order types by range.
func size(k value.Kind) int {
	switch k {
	case value.Tinyint:
		return 1
	case value.Smallint:
		return 2
	case value.Int, value.Float:
		return 4
	case value.Bigint, value.Double, value.Counter:
		return 8
	}
	return math.MaxInt
}

// common returns the type of an operation's result.
func common(l, r value.Kind) value.Kind {
	s := max(size(l), size(r))
	if floating(l) || floating(r) {
		switch s {
		case 4:
			return value.Float
		case 8:
			return value.Double
		}
		return value.Decimal
	}
	switch s {
	case 1:
		return value.Tinyint
	case 2:
		return value.Smallint
	case 4:
		return value.Int
	case 8:
		return value.Bigint
	}
	return value.Varint
}

func addOperators(add func(*Function)) {
	for _, l := range numericKinds {
		for _, r := range numericKinds {
			for _, o := range operators {
				add(operation(o, l, r))
			}
		}
		add(negation(l))
	}
	for _, k := range []value.Kind{value.Timestamp, value.Date} {
		add(temporal(operators[0], k, 1))
		add(temporal(operators[1], k, -1))
	}
	add(concatenation(value.Text, value.Text, value.Text))
	add(concatenation(value.Ascii, value.Ascii, value.Ascii))
	add(concatenation(value.Text, value.Ascii, value.Text))
	add(concatenation(value.Text, value.Text, value.Ascii))
}

func function(name string, returns value.Kind, args ...value.Kind) *Function {
	f := &Function{Name: name, Returns: value.Native(returns), Pure: true}
	for _, a := range args {
		f.Args = append(f.Args, value.Native(a))
	}
	return f
}

func operation(o operator, l, r value.Kind) *Function {
	k := common(l, r)
	f := function(o.name, k, l, r)
	f.Digits = true
	f.call = func(_ *Env, args [][]byte) ([]byte, error) {
		x, ok := decode(l, args[0])
		y, ok2 := decode(r, args[1])
		if !ok || !ok2 {
			return nil, nil
		}
		v, err := operate(o.symbol[0], k, x, y)
		if err != nil {
			return nil, operationFailed(f, o.symbol, err.Error())
		}
		return v, nil
	}
	return f
}

// operate computes x op y in type k.
func operate(op byte, k value.Kind, x, y number) ([]byte, error) {
	switch k {
	case value.Float:
		return encodeFloat(float32(floats(op, x.float(), y.float()))), nil
	case value.Double:
		return encodeDouble(floats(op, x.double(), y.double())), nil
	case value.Varint:
		return varints(op, x.bigInt(), y.bigInt())
	case value.Decimal:
		a, err := x.decimal()
		if err != nil {
			return nil, err
		}
		b, err := y.decimal()
		if err != nil {
			return nil, err
		}
		d, err := decimals(op, a, b)
		if err != nil {
			return nil, err
		}
		return d.encode(), nil
	}
	a, b := x.integer(k), y.integer(k)
	if b == 0 && (op == '/' || op == '%') {
		return nil, errDivideByZero
	}
	switch op {
	case '+':
		a += b
	case '-':
		a -= b
	case '*':
		a *= b
	case '/':
		a /= b
	case '%':
		a %= b
	}
	return encodeInteger(k, a), nil
}

func floats[T float32 | float64](op byte, a, b T) T {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	}
	return T(math.Mod(float64(a), float64(b)))
}

func varints(op byte, a, b *big.Int) ([]byte, error) {
	if b.Sign() == 0 && (op == '/' || op == '%') {
		return nil, errors.New("BigInteger divide by zero")
	}
	z := new(big.Int)
	switch op {
	case '+':
		z.Add(a, b)
	case '-':
		z.Sub(a, b)
	case '*':
		z.Mul(a, b)
	case '/':
		z.Quo(a, b)
	case '%':
		z.Rem(a, b)
	}
	return value.AppendVarint(nil, z), nil
}

func decimals(op byte, a, b decimal) (decimal, error) {
	switch op {
	case '+':
		return a.plus(b)
	case '-':
		return a.plus(b.neg())
	case '*':
		return a.times(b)
	case '/':
		return a.div(b)
	}
	return a.rem(b)
}

func negation(k value.Kind) *Function {
	f := function(Negation, k, k)
	f.Digits = true
	f.call = func(_ *Env, args [][]byte) ([]byte, error) {
		x, ok := decode(k, args[0])
		if !ok {
			return nil, nil
		}
		switch k {
		case value.Float:
			return encodeFloat(float32(-x.f)), nil
		case value.Double:
			return encodeDouble(-x.f), nil
		case value.Varint:
			return value.AppendVarint(nil, new(big.Int).Neg(x.n)), nil
		case value.Decimal:
			return decimal{x.n, x.scale}.neg().encode(), nil
		}
		return encodeInteger(k, -x.i), nil
	}
	return f
}

func concatenation(returns, l, r value.Kind) *Function {
	f := function("_add", returns, l, r)
	f.grow = func(args [][]byte, most int) ([]byte, bool, error) {
		if args[0] == nil || args[1] == nil {
			return nil, true, nil
		}
		n := len(args[0]) + len(args[1])
		if n > most {
			return nil, false, nil
		}
		return append(append(make([]byte, 0, n), args[0]...), args[1]...), true, nil
	}
	return f
}
