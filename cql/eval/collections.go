// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/value"
)

func addCollections(add func(*factory)) {
	one := func(name string, p parameter, make func(f *factory, t *value.Type) *Function) {
		add(&factory{name: name, params: []parameter{p},
			make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
				return make(f, types[0]), nil
			}})
	}
	scalar := func(f *factory, t, returns *value.Type, call func(v []byte) ([]byte, error)) *Function {
		return &Function{Name: f.name, Args: []*value.Type{t}, Returns: returns, Pure: true,
			call: func(_ *Env, args [][]byte) ([]byte, error) {
				if args[0] == nil {
					return nil, nil
				}
				return call(args[0])
			}}
	}
	one("map_keys", mapParam, func(f *factory, t *value.Type) *Function {
		set := value.SetOf(t.Elems[0], false)
		return scalar(f, t, set, func(v []byte) ([]byte, error) { return set.Build(nil, every(parts(t, v), 2, 0)), nil })
	})
	one("map_values", mapParam, func(f *factory, t *value.Type) *Function {
		list := value.ListOf(t.Elems[len(t.Elems)-1], false)
		return scalar(f, t, list, func(v []byte) ([]byte, error) { return list.Build(nil, every(parts(t, v), 2, 1)), nil })
	})
	one("collection_count", collectionParam, func(f *factory, t *value.Type) *Function {
		return scalar(f, t, value.Native(value.Int), func(v []byte) ([]byte, error) { return encodeInt(int64(t.Len(v))), nil })
	})
	over := func(name string, p parameter, start func(elem *value.Type) func() accumulator) {
		one(name, p, func(f *factory, t *value.Type) *Function {
			begin := start(t.Elems[0])
			return scalar(f, t, t.Elems[0], func(v []byte) ([]byte, error) {
				a := begin()
				for p := t.Parts(v); p.Next(); {
					if err := a.add([][]byte{p.Part()}); err != nil {
						return nil, err
					}
				}
				return a.result()
			})
		})
	}
	over("collection_min", setOrListParam, func(t *value.Type) func() accumulator {
		return func() accumulator { return &extreme{t: t, sign: 1} }
	})
	over("collection_max", setOrListParam, func(t *value.Type) func() accumulator {
		return func() accumulator { return &extreme{t: t, sign: -1} }
	})
	over("collection_sum", numericParam, func(t *value.Type) func() accumulator { return summing(t.Kind) })
	over("collection_avg", numericParam, func(t *value.Type) func() accumulator { return averaging(t.Kind) })
}

// every returns every n-th part, starting with index first.
func every(parts [][]byte, n, first int) [][]byte {
	var taken [][]byte
	for i := first; i < len(parts); i += n {
		taken = append(taken, parts[i])
	}
	return taken
}
