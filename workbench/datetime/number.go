// SPDX-License-Identifier: Apache-2.0

package datetime

import "github.com/evenkeel/evenkeel/cql/value"

// Unit is the unit that a number counts from 1970, or the form in which it writes a date.
type Unit uint8

const (
	NoUnit Unit = iota
	Days
	Seconds
	Millis
	Micros
	Nanos
	DateDigits   // 20240315
	MinuteDigits // 202403151030
	SecondDigits // 20240315103000
	MillisDigits // 20240315103000123
	Units        // the number of units
)

var unitNames = [Units]string{
	NoUnit: "", Days: "days", Seconds: "seconds", Millis: "milliseconds", Micros: "microseconds", Nanos: "nanoseconds",
	DateDigits: "yyyymmdd", MinuteDigits: "yyyymmddhhmm", SecondDigits: "yyyymmddhhmmss", MillisDigits: "yyyymmddhhmmssfff",
}

// String returns the unit's name: seconds, or yyyymmdd.
func (u Unit) String() string { return unitNames[u] }

// Counts reports whether the unit counts from 1970.
func (u Unit) Counts() bool { return u >= Days && u <= Nanos }

// A number is a time by its size if it is between these days since 1970: 1990 to 2050. Nanoseconds
// begin in 1995: below are the ticks of .NET, since the year 1.
const (
	fromDay      = 7305
	fromDayNanos = 9131
	toDay        = 29_220
)

// OfInt returns the time of a number by its size, in ms since 1970, and its unit; NoUnit: it is no
// time. It cuts finer units to milliseconds.
func OfInt(n int64) (ms int64, unit Unit) {
	switch {
	case n < fromDay:
	case n < toDay:
		return n * day, Days
	case n < 1990_01_01:
	case n < 2050_01_01:
		return digits(n, 0, DateDigits)
	case n < fromDay*86_400:
	case n < toDay*86_400:
		return n * 1000, Seconds
	case n < 1990_01_01_0000:
	case n < 2050_01_01_0000:
		return digits(n/10_000, n%10_000*100, MinuteDigits)
	case n < fromDay*86_400_000:
	case n < toDay*86_400_000:
		return n, Millis
	case n < 1990_01_01_000000:
	case n < 2050_01_01_000000:
		return digits(n/1_000_000, n%1_000_000, SecondDigits)
	case n < fromDay*86_400_000_000:
	case n < toDay*86_400_000_000:
		return n / 1000, Micros
	case n < 1990_01_01_000000_000:
	case n < 2050_01_01_000000_000:
		ms, unit = digits(n/1_000_000_000, n/1000%1_000_000, MillisDigits)
		return ms + n%1000, unit
	case n < fromDayNanos*86_400_000_000_000:
	case n < toDay*86_400_000_000_000:
		return n / 1_000_000, Nanos
	}
	return 0, NoUnit
}

// Beyond returns the nanoseconds that OfInt has cut off a number.
func (u Unit) Beyond(n int64) int32 {
	switch u {
	case Micros:
		return int32(n % 1000 * 1000)
	case Nanos:
		return int32(n % 1_000_000)
	}
	return 0
}

// digits returns the time of 20240315 and 103000, if these are a date and a time of day.
func digits(date, clock int64, unit Unit) (int64, Unit) {
	y, m, d := date/10_000, date/100%100, date%100
	h, min, s := clock/10_000, clock/100%100, clock%100
	if m < 1 || m > 12 || d < 1 || d > value.MonthLength(y, m) || h > 23 || min > 59 || s > 59 {
		return 0, NoUnit
	}
	return value.DaysFromCivil(y, m, d)*day + h*hour + min*minute + s*second, unit
}

// OfFloat returns the time of a number of seconds with a fraction.
func OfFloat(f float64) (ms int64, nanos int32, unit Unit) {
	if f < fromDay*86_400 || f >= toDay*86_400 {
		return 0, 0, NoUnit
	}
	whole := int64(f)
	part := int64((f - float64(whole)) * 1e6) // the precision of such floats
	return whole*1000 + part/1000, int32(part % 1000 * 1000), Seconds
}
