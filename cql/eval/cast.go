// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// CastName returns the name of the function that casts to a type, for example cast_as_int.
func CastName(t *value.Type) string { return "cast_as_" + t.String() }

func addCasts(add func(*Function)) {
	cast := func(from, to value.Kind, call func(v []byte) ([]byte, error)) {
		t := value.Native(to)
		for _, name := range []string{CastName(t), "castAs" + strings.ToUpper(t.String()[:1]) + t.String()[1:]} {
			f := function(name, to, from)
			f.Digits = true
			meaningless := f.Args[0].EmptyMeaningless()
			f.call = func(_ *Env, args [][]byte) ([]byte, error) {
				if args[0] == nil || len(args[0]) == 0 && meaningless {
					return nil, nil
				}
				return call(args[0])
			}
			add(f)
		}
	}
	text := func(from value.Kind) {
		t := value.Native(from)
		for _, to := range []value.Kind{value.Ascii, value.Text} {
			cast(from, to, func(v []byte) ([]byte, error) { return literal(t, v), nil })
		}
	}
	for _, from := range []value.Kind{value.Tinyint, value.Smallint, value.Int, value.Bigint, value.Float,
		value.Double, value.Decimal, value.Counter, value.Varint} {
		for _, to := range []value.Kind{value.Tinyint, value.Smallint, value.Int, value.Bigint, value.Float,
			value.Double, value.Decimal, value.Varint} {
			if from == to {
				continue
			}
			cast(from, to, func(v []byte) ([]byte, error) {
				x, ok := decode(from, v)
				if !ok {
					return nil, nil
				}
				return convert(x, v, to)
			})
		}
		text(from)
	}
	cast(value.Ascii, value.Text, func(v []byte) ([]byte, error) { return v, nil })
	millis := func(from, to value.Kind) {
		cast(from, to, func(v []byte) ([]byte, error) {
			ms, ok := toMillis(from, v)
			if !ok {
				return nil, nil
			}
			return fromMillis(to, ms)
		})
	}
	millis(value.Timeuuid, value.Date)
	millis(value.Timeuuid, value.Timestamp)
	millis(value.Timestamp, value.Date)
	millis(value.Date, value.Timestamp)
	for _, k := range []value.Kind{value.Inet, value.Boolean, value.Timeuuid, value.Timestamp, value.Date, value.Time, value.UUID} {
		text(k)
	}
}

// convert casts between numbers.
func convert(x number, v []byte, to value.Kind) ([]byte, error) {
	switch to {
	case value.Float:
		return encodeFloat(x.float()), nil
	case value.Double:
		return encodeDouble(x.double()), nil
	case value.Varint:
		return value.AppendVarint(nil, big.NewInt(x.long())), nil
	case value.Decimal:
		switch x.kind {
		case value.Varint:
			return decimal{x.n, 0}.encode(), nil
		case value.Float, value.Double:
			d, err := decimalOfText(value.Native(x.kind), v)
			if err != nil {
				return nil, notNumber(err)
			}
			return d.encode(), nil
		}
		return decimal{big.NewInt(x.i), 0}.encode(), nil
	}
	return encodeInteger(to, x.integer(to)), nil
}

// literal formats a value as CQL does, but without quotes.
func literal(t *value.Type, v []byte) []byte {
	s := t.Format(nil, v)
	if n := len(s); n >= 2 && s[0] == '\'' && s[n-1] == '\'' {
		return s[1 : n-1]
	}
	return s
}
