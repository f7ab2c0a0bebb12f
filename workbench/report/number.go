// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
)

// count formats a whole number with a comma between the thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted formats a whole number of things with this name.
func counted(n int64, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return count(n) + " " + name + "s"
}

// passedOver says that rows could not be read.
func passedOver(rows int64) string {
	if rows == 1 {
		return "1 bad row was passed over."
	}
	return count(rows) + " bad rows were passed over."
}

// share formats a share. It never makes a small one 0, nor one that lacks a little 1.
func share(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "under 0.1%"
	case x >= 0.9995 && x < 1:
		return "over 99.9%"
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}

// ratio formats a number with as many digits as help the reader.
func ratio(x float64) string {
	switch {
	case x >= 100:
		return count(int64(math.Round(x)))
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// chance formats a probability.
func chance(p float64) string {
	switch {
	case p >= 0.001:
		return fmt.Sprintf("%.3f", p)
	case p < 1e-15:
		return "under 1e-15"
	}
	return fmt.Sprintf("%.0e", p)
}
