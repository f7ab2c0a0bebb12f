// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"

	"github.com/evenkeel/evenkeel/workbench/queries"
)

// perSecond is the rate that a flag gives: a number a second, or a number with its unit, as in
// queries.
type perSecond float64

// UnmarshalText parses a rate.
func (r *perSecond) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		n, err = queries.ParseRate(string(text))
	}
	*r = perSecond(n)
	return err
}
