// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/keys"
)

// Ambiguous is the error for a date that can be read with the day first and with the month first.
// Options.DateOrders decides.
type Ambiguous struct{ Column, Text string }

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("column %q: %.60q can be read with the day first, and with the month first", e.Column, e.Text)
}

var (
	errNoTime    = errors.New("is no time")
	errAmbiguous = errors.New("is a date in two ways")
)

// timeOf returns the time of a text, in ms since 1970. order is nil if it is unknown.
func timeOf(p *datetime.Parser, order *datetime.Order, text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if ms, unit := datetime.OfInt(n); unit != datetime.NoUnit {
			return ms, nil
		}
		return 0, errNoTime
	}
	v, ok := p.Parse([]byte(text))
	switch {
	case ok && order != nil:
		return v.At(order), nil
	case ok && v.Ms != v.Other && v.Sign != '.': // nobody writes the month first in dates with points
		return 0, errAmbiguous
	case ok:
		return v.Ms, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if ms, _, unit := datetime.OfFloat(f); unit != datetime.NoUnit {
			return ms, nil
		}
	}
	return 0, errNoTime
}

// setTime reads the column's value as a time.
func (c *column) setTime(p *datetime.Parser) error {
	if c.typ != nil && c.typ.Kind == value.Timestamp {
		if ms, err := strconv.ParseInt(c.text, 10, 64); err == nil { // as CQL reads it
			c.ms = ms
			return nil
		}
	}
	var err error
	c.ms, err = timeOf(p, c.order, c.text)
	return c.refused(err)
}

// refused turns an error about a time or a number into an error about the column.
func (c *column) refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errAmbiguous):
		return &Ambiguous{c.name, c.text}
	}
	return &BadValue{c.name, fmt.Sprintf("%.60q %s", c.text, err)}
}

// periods maps functions of keys to the units of the calendar.
var periods = map[keys.Function]datetime.Period{
	keys.Minute: datetime.Minute, keys.Hour: datetime.Hour, keys.Day: datetime.Day, keys.Month: datetime.Month, keys.Year: datetime.Year,
}

// appendPeriod appends the beginning of a period as CQL has it: a timestamp, or a date for day and
// longer periods.
func appendPeriod(dst []byte, p datetime.Period, start int64) []byte {
	if p < datetime.Day {
		return binary.BigEndian.AppendUint64(dst, uint64(start))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(start/datetime.Day.Millis()+1<<31)) // the start of a day divides evenly
}

// periodToken returns the number of a period since 1970; of a year, the year.
func periodToken(p datetime.Period, start int64) int64 {
	switch p {
	case datetime.Month, datetime.Year:
		at := time.UnixMilli(start).UTC()
		if p == datetime.Year {
			return int64(at.Year())
		}
		return int64(at.Year()-1970)*12 + int64(at.Month()) - 1
	}
	return start / p.Millis()
}
