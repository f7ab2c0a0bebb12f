// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
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
	return ev.grow(ev.env, "SELECT JSON", bytes, nil, func(most int) ([]byte, bool, error) {
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

// besideJSON returns how much memory value.Type.FromJSON takes for a text: as it makes the value, it
// may hold it twice.
func besideJSON(from, most int) int { return value.BesideJSON*from + most }

// FromJSON returns the value of a type that a JSON text denotes in INSERT JSON. The value counts as
// one that a function makes for a term. wrong makes the error of a text that denotes none.
func (e *Env) FromJSON(t *value.Type, text []byte, wrong func(error) error) ([]byte, error) {
	m := making{bytes: e.made}
	v, err := m.grow(e, "INSERT JSON", len(text), besideJSON, func(most int) ([]byte, bool, error) {
		v, ok, err := t.FromJSON(text, most)
		if err != nil {
			err = wrong(err)
		}
		return v, ok, err
	})
	e.made = m.bytes
	return v, err
}

// notJSON returns from_json's error for a text that is not JSON, or not of the type.
func notJSON(f *Function, text []byte, err error) error {
	if errors.Is(err, value.ErrNullInVector) {
		return invalid("%s", err)
	}
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
				fn := &Function{Name: name, Args: []*value.Type{value.Native(value.Text)}, Returns: receiver, Pure: true, beside: besideJSON}
				fn.grow = func(args [][]byte, most int) ([]byte, bool, error) {
					if args[0] == nil {
						return nil, true, nil
					}
					v, ok, err := receiver.FromJSON(args[0], most)
					if err != nil {
						err = notJSON(fn, args[0], err)
					}
					return v, ok, err
				}
				return fn, nil
			}})
	}
}
