// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"time"

	"github.com/evenkeel/evenkeel/workbench/datetime"
)

// Granularity is a unit of time.
type Granularity = datetime.Period

const (
	Whole  = datetime.Whole // no unit: the value as it is
	Second = datetime.Second
	Minute = datetime.Minute
	Hour   = datetime.Hour
	Day    = datetime.Day
	Month  = datetime.Month
	Year   = datetime.Year
)

const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// Zeros returns how many zeros all numbers of the column end with, if they count time from 1970. For
// example, it returns 3 if they are in milliseconds and each is a whole second.
func (t *Time) Zeros() (n int) {
	unit, counts := map[datetime.Unit]time.Duration{
		datetime.Seconds: time.Second, datetime.Millis: time.Millisecond, datetime.Micros: time.Microsecond, datetime.Nanos: time.Nanosecond,
	}[t.Unit]
	if !counts {
		return 0
	}
	for step := t.Resolution / unit; step > 0 && step%10 == 0; step /= 10 {
		n++
	}
	return n
}
