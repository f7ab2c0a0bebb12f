// SPDX-License-Identifier: Apache-2.0

package profile

import "github.com/evenkeel/evenkeel/workbench/datetime"

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
