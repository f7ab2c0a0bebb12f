package capacity

import (
	"math"
	"strconv"
	"strings"
)

// Number prints a number for people: thousands apart, at most two decimals.
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
