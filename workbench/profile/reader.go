// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/timeid"
)

// reader reads the values of a column as times, in the way that its profile found.
type reader struct {
	order   datetime.Order
	written bool          // texts, as people write times
	numbers bool          // numbers, by their size
	literal bool          // integers are ms, as in CQL's timestamps
	id      timeid.Kind   // texts that are ids
	flake   timeid.Layout // numbers that are ids; the zero value: they are none
}

// text returns the time of a text, in ms since 1970, or noTime.
func (r *reader) text(p *datetime.Parser, text []byte) int64 {
	if r.id != timeid.None {
		if ms, ok := r.id.Time(text); ok {
			return ms
		}
		return noTime
	}
	switch c, n := classify(text); c {
	case isDate, isTimestamp, isPeriod, isTimeuuid:
		return n
	case isInt:
		return r.integer(n)
	case isDecimal, isDouble:
		if f, ok := decimal(text); ok && r.numbers {
			return r.float(f)
		}
	case isText:
		if r.written {
			if v, ok := p.Parse(text); ok {
				return v.At(&r.order)
			}
		}
	}
	return noTime
}

func (r *reader) integer(n int64) int64 {
	switch {
	case r.literal:
		return n
	case r.flake.Shift > 0:
		return r.flake.Time(n)
	case r.numbers:
		if ms, unit := datetime.OfInt(n); unit != datetime.NoUnit {
			return ms
		}
	}
	return noTime
}

func (r *reader) float(f float64) int64 {
	if r.numbers {
		if ms, _, unit := datetime.OfFloat(f); unit != datetime.NoUnit {
			return ms
		}
	}
	return noTime
}
