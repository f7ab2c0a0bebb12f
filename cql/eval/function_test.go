// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
	"runtime"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/value"
)

// FuzzFunctions checks that no native function panics on any arguments, and that each returns a
// valid value of its type.
func FuzzFunctions(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x05"), []byte("\x7f\xff\xff\xff"), []byte{})
	f.Add([]byte("\x80\x00\x00\x00\x00\x00\x00\x00"), []byte("\x00\x00\x00\x00\x00\x00\x00\x00"), []byte("x"))
	f.Add([]byte("\x7f\xf8\x00\x00\x00\x00\x00\x00"), []byte("\x02\x04\x06"), []byte("'"))
	f.Add([]byte("PUMn)\xbb\x11\xe5\xb3E\xfe\xff\x81\x9c\xdc\x9f"), []byte("\x02\x04\x06"), []byte("'"))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		env := &Env{Now: 1700000000000000}
		for name, overloads := range natives {
			for _, fn := range overloads {
				args := [][]byte{a, b, c}[:min(3, len(fn.Args))]
				if !valid(fn.Args, args) {
					continue
				}
				if fn.Aggregate {
					acc := fn.start()
					for range 3 {
						if err := acc.add(args); err != nil {
							return
						}
					}
					if v, err := acc.result(); err == nil && fn.Returns.Validate(v) != nil {
						t.Errorf("%s gives %x", fn, v)
					}
					continue
				}
				var v []byte
				var err error
				if n := allocated(func() { v, err = invoke(fn, env, args) }); n > muchForACall {
					t.Errorf("%s%v(%x) took %d bytes", name, fn.Args, args, n)
				}
				if err == nil && fn.Returns.Validate(v) != nil {
					t.Errorf("%s gives %x of %x", fn, v, args)
				}
			}
		}
	})
}

// muchForACall is a number of bytes far above what any call needs, and far below a decimal of 2³¹
// digits.
const muchForACall = 64 << 20

// allocated returns the number of bytes that a function allocates. For numbers of this size, this
// measures its work.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func valid(types []*value.Type, args [][]byte) bool {
	for i, a := range args {
		if types[i].Validate(a) != nil {
			return false
		}
	}
	return true
}

// TestHugeDecimalsEnd checks that computations with decimals stay bounded, although a decimal may
// have any scale.
func TestHugeDecimalsEnd(t *testing.T) {
	one := big.NewInt(1)
	for _, d := range []decimal{{one, 1<<31 - 1}, {one, -1 << 31}, {one, 20000}, {one, -20000}, {new(big.Int), 1<<31 - 1}, {big.NewInt(-7), -9999}, {one, -999}, {one, -3}, {one, 999}, {pow10(3000), 2999}, {pow10(1500), 600}} {
		for name, overloads := range natives {
			for _, fn := range overloads {
				if len(fn.Args) == 0 || fn.Args[0].Kind != value.Decimal || fn.Aggregate {
					continue
				}
				args := make([][]byte, len(fn.Args))
				for i, a := range fn.Args {
					if a.Kind == value.Decimal {
						args[i] = d.encode()
					} else {
						args[i] = encodeInteger(a.Kind, 3)
					}
				}
				if len(args) == 2 && fn.Args[1].Kind == value.Decimal {
					args[1] = decimal{big.NewInt(3), 0}.encode()
				}
				if n := allocated(func() { _, _ = invoke(fn, &Env{}, args) }); n > muchForACall {
					t.Errorf("%s(%v×10^%v) took %d bytes", name, d.n, -int64(d.scale), n)
				}
			}
		}
	}
}

// TestDecimalsAreExact compares sums, products and remainders with package apd.
func TestDecimalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) decimal {
			return decimal{big.NewInt(rapid.Int64().Draw(t, name)), rapid.Int32Range(-30, 30).Draw(t, name+" scale")}
		}
		a, b := draw("a"), draw("b")
		c := apd.BaseContext.WithPrecision(500)
		as := func(d decimal) *apd.Decimal {
			return apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(d.n), -d.scale)
		}
		check := func(op string, got decimal, err error, want func(z, x, y *apd.Decimal) (apd.Condition, error)) {
			var z apd.Decimal
			if _, werr := want(&z, as(a), as(b)); (werr != nil) != (err != nil) {
				t.Fatalf("%v %s %v: error %v, want %v", a, op, b, err, werr)
			} else if err == nil && z.Cmp(as(got)) != 0 {
				t.Fatalf("%v %s %v = %v, want %v", as(a), op, as(b), as(got), &z)
			}
		}
		sum, err := a.add(b)
		check("+", sum, err, c.Add)
		product, err := a.mul(b)
		check("*", product, err, c.Mul)
		rem, err := a.rem(b)
		check("%", rem, err, c.Rem)
		if b.n.Sign() != 0 && a.n.Sign() != 0 {
			q, err := a.div(b)
			if err != nil {
				t.Fatal(err)
			}
			// (a/b)·b must be a, to within one part in 10^31.
			var back, diff, rel apd.Decimal
			c.Mul(&back, as(q), as(b))
			c.Sub(&diff, &back, as(a))
			c.Quo(&rel, &diff, as(a))
			rel.Abs(&rel)
			if rel.Cmp(apd.New(1, -31)) > 0 {
				t.Fatalf("%v / %v = %v", as(a), as(b), as(q))
			}
		}
	})
}

// TestSumsWrap checks that an integer sum wraps around at the size of its type and that an average
// does not.
func TestSumsWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64(), 1, 20).Draw(t, "values")
		sum, avg := summing(value.Bigint)(), averaging(value.Bigint)()
		exact, wrapped := new(big.Int), int64(0)
		for _, v := range values {
			args := [][]byte{encodeBigint(v)}
			if sum.add(args) != nil || avg.add(args) != nil {
				t.Fatal("an error")
			}
			exact.Add(exact, big.NewInt(v))
			wrapped += v
		}
		if v, _ := sum.result(); string(v) != string(encodeBigint(wrapped)) {
			t.Fatalf("sum %x, want %x", v, wrapped)
		}
		want := new(big.Int).Quo(exact, big.NewInt(int64(len(values)))).Int64()
		if v, _ := avg.result(); string(v) != string(encodeBigint(want)) {
			t.Fatalf("avg %x, want %d", v, want)
		}
	})
}

// TestRowOfAGroupIsKept checks that a group keeps the cells of its first row when the row's memory
// is reused.
func TestRowOfAGroupIsKept(t *testing.T) {
	col := &Column{Cell: 0, Column: textColumn}
	min := &Function{Name: "min", Args: []*value.Type{textColumn.Type}, Returns: textColumn.Type, Aggregate: true,
		start: func() accumulator { return &extreme{t: textColumn.Type, sign: 1} }}
	s := &Selection{Exprs: []Expr{col, &Call{Func: min, Args: []Expr{col}}}, Aggregated: true}
	g := s.NewGroup()
	buf := []byte("bbb")
	row := Cells{buf}
	if err := g.Add(&Env{}, row); err != nil {
		t.Fatal(err)
	}
	copy(buf, "ccc")
	if err := g.Add(&Env{}, row); err != nil {
		t.Fatal(err)
	}
	out, err := g.Result(&Env{}, nil)
	if err != nil || string(out[0]) != "bbb" || string(out[1]) != "bbb" {
		t.Fatalf("%q, %v", out, err)
	}
	out, err = g.Result(&Env{}, nil)
	if err != nil || out[0] != nil || out[1] != nil {
		t.Fatalf("an emptied group gives %q, %v", out, err)
	}
}
