// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"fmt"
)

// NextNumber returns the smallest N that is greater than v. It exists because DynamoDB's numbers
// have at most 38 digits. If NextNumber cannot find it, it returns v.
func NextNumber(v Value) Value { return neighbour(v, false) }

// PreviousNumber returns the greatest N that is smaller than v, or v as NextNumber does.
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
	// One unit of the last of 38 digits. Below a power of ten (towards zero), numbers have one more
	// decimal place.
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
