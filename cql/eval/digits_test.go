// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
)

// asked counts how often it is asked whether a result is wanted.
type asked struct {
	times int
	err   error
}

func (a *asked) Err() error { a.times++; return a.err }

// TestLongNumbers calls each function that calculates with varints or decimals. It refuses more
// digits than it may take, and asks before it calculates with long ones whether the result is
// wanted. Functions that only copy a number take any.
func TestLongNumbers(t *testing.T) {
	number := func(k value.Kind, bytes int) []byte {
		switch k {
		case value.Varint:
			return append([]byte{1}, make([]byte, bytes)...)
		case value.Decimal:
			return append([]byte{0, 0, 0, 0, 1}, make([]byte, bytes)...)
		}
		n, _ := value.Native(k).FromString("2")
		return n
	}
	tested := 0
	for name, overloads := range natives {
		for _, f := range overloads {
			long := false
			for _, a := range f.Args {
				long = long || a.Kind == value.Varint || a.Kind == value.Decimal
			}
			if !long || f.Aggregate {
				continue
			}
			if !f.Digits {
				if !strings.Contains(name, "blob") && !strings.Contains(name, "Blob") {
					t.Errorf("%s does not count digits", f)
				}
				continue
			}
			tested++
			wanted := &asked{}
			call := func(bytes int) error {
				c := &Call{Func: f}
				for _, a := range f.Args {
					c.Args = append(c.Args, &Const{T: a, Value: number(a.Kind, bytes)})
				}
				_, err := Eval(c, &Env{Wanted: wanted}, nil)
				return err
			}
			if err := call(450_000); err != errDigits {
				t.Errorf("%s of long numbers: %v", f, err)
			}
			if _ = call(100); wanted.times > 0 {
				t.Errorf("%s of short numbers asked %d times", f, wanted.times)
			}
			wanted.err = errors.New("gone")
			if err := call(5000); err != wanted.err || wanted.times != 1 {
				t.Errorf("%s for nobody: %v, asked %d times", f, err, wanted.times)
			}
		}
	}
	if tested < 100 {
		t.Errorf("only %d functions calculate", tested)
	}
	for _, k := range []value.Kind{value.Varint, value.Decimal} {
		typ := value.Native(k)
		if _, err := Add(typ, number(k, 450_000), number(k, 1)); err != errDigits {
			t.Errorf("addition to a long %s: %v", typ, err)
		}
	}
}
