// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
)

// Stored returns the profile of the same rows in a table that stores some columns of time as
// Time.Store says. There the values sort by time: equal times are equal values, however the data
// write them, and a value that is no time is null.
func (p *Profile) Stored(columns []string) *Profile {
	out := *p
	out.Columns = slices.Clone(p.Columns)
	for i := range out.Columns {
		c := &out.Columns[i]
		if c.Time == nil || c.Time.Store == "" || !slices.Contains(columns, c.Name) {
			continue
		}
		at := *c.Time
		at.Sorts = true
		c.Time, c.Type, c.Given, c.Stored, c.strict = &at, value.Named(at.Store), true, true, false
		n := fixedLen(c.Type)
		c.MeanBytes, c.MaxBytes, c.TextBytes = float64(n), n, float64(len(c.Time.Stored))
	}
	return &out
}
