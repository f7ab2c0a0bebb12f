// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/workbench/capacity"
)

// number formats a number for people, with as many digits as help.
func number(x float64) string {
	switch a := math.Abs(x); {
	case a >= 100:
		return capacity.Number(math.Round(x))
	case a >= 10:
		return capacity.Number(math.Round(x*10) / 10)
	}
	return capacity.Number(x)
}

// sizeText formats bytes for people.
func sizeText(b float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if b >= u.size {
			return number(b/u.size) + " " + u.name
		}
	}
	return number(b) + " bytes"
}

func percent(x float64) string {
	switch {
	case x <= 0:
		return "0%"
	case x < 0.0005:
		return "under 0.1%"
	case x < 0.1:
		return fmt.Sprintf("%.1f%%", 100*x)
	}
	return fmt.Sprintf("%.0f%%", 100*x)
}

// about formats an estimate: three digits, and millions or billions in words.
func about(x float64) string {
	if a := math.Abs(x); a >= 1000 {
		d := math.Pow(10, math.Floor(math.Log10(a))-2)
		x = math.Round(x/d) * d
	}
	for _, u := range []struct {
		name string
		size float64
	}{{"billion", 1e9}, {"million", 1e6}} {
		if x >= u.size {
			return number(x/u.size) + " " + u.name
		}
	}
	return number(x)
}
