// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"

	"github.com/evenkeel/evenkeel/workbench/queries"
)

// perSecond is a flag's rate: a number a second, or with its unit, as queries have it.
type perSecond float64

// UnmarshalText reads what the user wrote.
func (r *perSecond) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		n, err = queries.ParseRate(string(text))
	}
	*r = perSecond(n)
	return err
}
