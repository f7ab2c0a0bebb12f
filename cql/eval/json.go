// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
)

// object returns the JSON object for one row of SELECT JSON.
func (s *Selection) object(ev *evaluation, values [][]byte) ([]byte, error) {
	dst := []byte{'{'}
	for i, name := range s.JSON {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = value.JSONName(dst, name)
		dst = append(dst, ": "...)
		if values[i] == nil {
			dst = append(dst, "null"...)
			continue
		}
		t := s.Exprs[i].Type()
		if len(values[i]) >= longNumber {
			if err := ev.digits([]*value.Type{t}, values[i:i+1]); err != nil {
				return nil, err
			}
		}
		if dst = t.JSON(dst, values[i]); len(dst) > maxValue {
			return nil, errLong
		}
	}
	return append(dst, '}'), nil
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
					call: func(_ *Env, args [][]byte) ([]byte, error) {
						if args[0] == nil || len(args[0]) == 0 && t.EmptyMeaningless() {
							return []byte("null"), nil
						}
						return t.JSON(nil, args[0]), nil
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
