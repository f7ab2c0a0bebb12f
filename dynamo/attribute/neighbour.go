// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"fmt"
)

// NextNumber returns the N next after another: DynamoDB's numbers have 38 digits,
// so that there is one. Where it cannot be told, it is the number itself.
func NextNumber(v Value) Value { return neighbour(v, false) }

// PreviousNumber returns the N next before another, as NextNumber.
func PreviousNumber(v Value) Value { return neighbour(v, true) }

func neighbour(v Value, below bool) Value {
	d, ok := parseDecimal(v.Text())
	if !ok {
		return v
	}
	sign := ""
	if below {
		sign = "-"
	}
	if len(d.digits) == 0 {
		return number(fmt.Sprintf("%s1e%d", sign, MinExponent))
	}
	// A unit of the last of 38 digits; towards zero, a power of ten has one more.
	unit := d.exp - MaxDigits + 1
	if d.digits == "1" && d.neg != below {
		unit--
	}
	if unit < MinExponent {
		return v
	}
	next, err := Add(v, number(fmt.Sprintf("%s1e%d", sign, unit)))
	if err != nil {
		return v
	}
	return next
}
