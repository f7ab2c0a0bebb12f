// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// object returns the JSON object for one row of SELECT JSON.
func (s *Selection) object(ev *evaluation, values [][]byte) ([]byte, error) {
	bytes := 0
	for i, v := range values {
		bytes += len(v)
		if len(v) < longNumber {
			continue
		}
		if err := ev.digits([]*value.Type{s.Exprs[i].Type()}, values[i:i+1]); err != nil {
			return nil, err
		}
	}
	return ev.grow(ev.env, "SELECT JSON", bytes, func(most int) ([]byte, bool, error) {
		dst, ok := append(buffer(bytes, most), '{'), true
		for i, name := range s.JSON {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(value.JSONName(dst, name), ": "...)
			if dst, ok = s.Exprs[i].Type().JSON(dst, values[i], most-len(dst)); !ok {
				return nil, false, nil
			}
		}
		return append(dst, '}'), true, nil
	})
}

// buffer returns memory for a JSON text of a value of so many bytes. The text has at most most
// bytes; if that is much, the text is probably much longer than the value.
func buffer(bytes, most int) []byte {
	if most > firstTry {
		return make([]byte, 0, most)
	}
	return make([]byte, 0, min(most, bytes+bytes/2+16))
}

// notJSON returns from_json's error for a text that is not JSON, or not of the type.
func notJSON(f *Function, text []byte, err error) error {
	if s, ok := strings.CutPrefix(err.Error(), "Error decoding JSON string: "); ok {
		return failed(f, "Could not decode JSON string '"+string(text)+"': "+s)
	}
	return threw(f, "org.apache.cassandra.serializers.MarshalException: "+err.Error())
}

func addJSON(add func(*factory)) {
	for _, name := range []string{"to_json", "tojson"} {
		add(&factory{name: name, params: []parameter{anyType{}},
			make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
				t := types[0]
				return &Function{Name: name, Args: types, Returns: value.Native(value.Text), Pure: true, Digits: true,
					grow: func(args [][]byte, most int) ([]byte, bool, error) {
						if args[0] == nil || len(args[0]) == 0 && t.EmptyMeaningless() {
							return []byte("null"), true, nil
						}
						v, ok := t.JSON(buffer(len(args[0]), most), args[0], most)
						return v, ok, nil
					}}, nil
			}})
	}
	for _, name := range []string{"from_json", "fromjson"} {
		add(&factory{name: name, params: []parameter{textParam},
			make: func(f *factory, types []*value.Type, receiver *value.Type) (*Function, error) {
				if receiver == nil {
					return nil, invalid("%s() cannot be used in the selection clause of a SELECT statement", name)
				}
				fn := &Function{Name: name, Args: []*value.Type{value.Native(value.Text)}, Returns: receiver, Pure: true}
				fn.call = func(_ *Env, args [][]byte) ([]byte, error) {
					if args[0] == nil {
						return nil, nil
					}
					v, err := receiver.FromJSON(args[0])
					if err != nil {
						return nil, notJSON(fn, args[0], err)
					}
					return v, nil
				}
				return fn, nil
			}})
	}
}
