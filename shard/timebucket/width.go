// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"fmt"
	"strconv"
)

// Width is the length of a bucket, in milliseconds.
type Width int64

// These are the units of a width.
const (
	Second Width = 1000
	Minute       = 60 * Second
	Hour         = 60 * Minute
	Day          = 24 * Hour
	Week         = 7 * Day
)

var units = []struct {
	name  byte
	width Width
}{{'w', Week}, {'d', Day}, {'h', Hour}, {'m', Minute}, {'s', Second}}

// Longest is the longest width and the longest time that rows may be kept: 100 years.
const Longest = 36525 * Day

// Parse parses a width: a whole number and a unit, such as 15m, 1h, 7d.
func Parse(s string) (Width, error) {
	wrong := fmt.Errorf("%q is not a length of time; write a whole number and a unit: s, m (minutes), h, d or w, such as 15m, 1h or 7d", s)
	if len(s) < 2 {
		return 0, wrong
	}
	for _, u := range units {
		if s[len(s)-1] != u.name {
			continue
		}
		n, err := strconv.ParseUint(s[:len(s)-1], 10, 63)
		if err != nil || n == 0 {
			return 0, wrong
		}
		if n > uint64(Longest/u.width) {
			return 0, fmt.Errorf("%q is longer than 100 years", s)
		}
		return Width(n) * u.width, nil
	}
	return 0, wrong
}

// String formats a width in the largest unit that divides it.
func (w Width) String() string {
	for _, u := range units {
		if w%u.width == 0 && (u.width != Week || w == Week) {
			return strconv.FormatInt(int64(w/u.width), 10) + string(u.name)
		}
	}
	return strconv.FormatInt(int64(w), 10) + "ms"
}
