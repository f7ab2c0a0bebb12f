// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number formats a number for people: with commas between thousands, and at most two decimals.
func Number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	if x != 0 && math.Abs(x) < 0.005 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	s := strconv.FormatFloat(math.Abs(x), 'f', 2, 64)
	whole, part, _ := strings.Cut(s, ".")
	var b strings.Builder
	if x < 0 {
		b.WriteByte('-')
	}
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if part = strings.TrimRight(part, "0"); part != "" {
		b.WriteString("." + part)
	}
	return b.String()
}

// Duration formats a number of seconds as a whole number of one unit.
func Duration(s float64) string {
	for _, u := range []struct {
		name    string
		seconds float64
	}{{"years", 365.25 * 86400}, {"days", 86400}, {"hours", 3600}, {"minutes", 60}} {
		if s >= 2*u.seconds {
			if s > 1000*u.seconds && u.name == "years" {
				return "more than 1,000 years"
			}
			return fmt.Sprintf("%.0f %s", math.Round(s/u.seconds), u.name)
		}
	}
	if math.Round(s) == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%.0f seconds", s)
}
