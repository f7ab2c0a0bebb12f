// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/simulation"
)

// limitFlag holds the parts of `--limit rows=100k,bytes=10MB`.
type limitFlag []string

// limit parses the flag. Its megabytes are the workbench's, of 2^20 bytes.
func (f limitFlag) limit() (l simulation.Limit, err error) {
	for _, part := range f {
		name, text, ok := strings.Cut(part, "=")
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		wrong := func(why string) error {
			return withHint(fmt.Errorf("--limit %s: %s", part, why), "--limit rows=100000,bytes=100MB, or only one of them")
		}
		switch {
		case !ok:
			return l, wrong("is no limit")
		case name == "rows" && l.Rows > 0, name == "bytes" && l.Bytes > 0:
			return l, wrong("is given twice")
		}
		switch name {
		case "rows":
			if l.Rows, err = scaled(text, 1000, []string{"", "k", "M"}, ""); err != nil {
				return l, wrong("is no number of rows")
			}
		case "bytes":
			if l.Bytes, err = scaled(text, 1024, []string{"", "K", "M", "G", "T"}, "B"); err != nil {
				return l, wrong("is no size")
			}
		default:
			return l, wrong("there are limits of rows and of bytes")
		}
		if l.Rows == 0 && name == "rows" || l.Bytes == 0 && name == "bytes" {
			return l, wrong("is not above 0")
		}
	}
	return l, nil
}

// scaled parses a number that may be followed by the name of a scale and then by unit.
func scaled(text string, base float64, scales []string, unit string) (int64, error) {
	number := strings.TrimRight(text, "bBiIkKmMgGtT ")
	name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text[len(number):])), "i", "")
	if unit != "" {
		name = strings.TrimSuffix(name, strings.ToLower(unit))
	}
	at := slices.IndexFunc(scales, func(s string) bool { return strings.EqualFold(s, name) })
	n, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if n *= math.Pow(base, float64(at)); err != nil || at < 0 || !(n >= 0) || n >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return int64(n), nil
}
