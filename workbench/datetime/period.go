// SPDX-License-Identifier: Apache-2.0

package datetime

import "time"

// Period is a unit of the calendar.
type Period uint8

const (
	Whole  Period = iota // no unit: the value as it is
	Second               // also for finer times
	Minute
	Hour
	Day
	Month
	Year
)

var periods = [...]string{Whole: "", Second: "second", Minute: "minute", Hour: "hour", Day: "day", Month: "month", Year: "year"}

// String returns the unit's name; "" for Whole.
func (g Period) String() string { return periods[g] }

const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Start returns the beginning of the period that contains a time, in ms since 1970, UTC.
func (g Period) Start(ms int64) int64 {
	switch g {
	case Second:
		return ms - floorMod(ms, second)
	case Minute:
		return ms - floorMod(ms, minute)
	case Hour:
		return ms - floorMod(ms, hour)
	case Day:
		return ms - floorMod(ms, day)
	case Month:
		t := time.UnixMilli(ms).UTC()
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	case Year:
		return time.Date(time.UnixMilli(ms).UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	return ms
}

// Millis returns the length of a period in ms; for months and years, about.
func (g Period) Millis() int64 {
	return [...]int64{0, second, minute, hour, day, 30 * day, 365 * day}[g]
}

// AppendText appends the period that begins at a time: 2024-03, 2024-03-15,
// 2024-03-15T10:00:00Z.
func (g Period) AppendText(dst []byte, start int64) []byte {
	at := time.UnixMilli(start).UTC()
	switch g {
	case Year:
		return at.AppendFormat(dst, "2006")
	case Month:
		return at.AppendFormat(dst, "2006-01")
	case Day:
		return at.AppendFormat(dst, time.DateOnly)
	}
	return at.AppendFormat(dst, "2006-01-02T15:04:05Z")
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}
