// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/evenkeel/evenkeel/cql/value"
)

// Add returns the result of c = c + delta in a conditional update. current is a number or text.
func Add(t *value.Type, current, delta []byte) ([]byte, error) {
	if current == nil || delta == nil {
		return current, nil
	}
	if t.Kind == value.Text || t.Kind == value.Ascii {
		return append(append(make([]byte, 0, len(current)+len(delta)), current...), delta...), nil
	}
	if t.TooManyDigits(current) || t.TooManyDigits(delta) {
		return nil, errDigits
	}
	x, ok := decode(t.Kind, current)
	y, ok2 := decode(t.Kind, delta)
	if !ok || !ok2 {
		return current, nil
	}
	v, err := operate('+', t.Kind, x, y)
	if err != nil {
		return nil, invalid("%s", err)
	}
	return v, nil
}
