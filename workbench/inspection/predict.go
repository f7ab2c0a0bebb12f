// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"math"
	"strings"

	"github.com/evenkeel/evenkeel/workbench/prices"
)

// Size is what is known about a table's size before it is read.
type Size struct {
	Partitions float64 `json:"partitions"`
	Rows       float64 `json:"rows"`
	RowBytes   float64 `json:"row_bytes"` // of values, as they come over the network
	From       string  `json:"from"`      // the source of these figures
}

// Prediction says what an inspection will ask of the store.
type Prediction struct {
	Requests  float64 `json:"requests"`
	Rows      float64 `json:"rows"`
	Bytes     float64 `json:"bytes"`
	Seconds   float64 `json:"seconds"`              // at the set rate; 0: no rate is set
	ReadUnits float64 `json:"read_units,omitempty"` // of 4 KB read with eventual consistency (LOCAL_ONE), if the store bills them
	Money     float64 `json:"money,omitempty"`
	Currency  string  `json:"currency,omitempty"`
	Prices    string  `json:"prices,omitempty"` // date and region
	From      string  `json:"from"`
}

// Above these thresholds, an inspection asks the user for a confirmation.
const (
	ManyRows  = 1_000_000
	ManyBytes = 1 << 30
	MuchMoney = 1.0
)

// Page returns how many rows make a page of about a megabyte.
func Page(rowBytes float64) int {
	if rowBytes <= 0 {
		return 1000
	}
	return int(math.Min(5000, math.Max(10, 1e6/rowBytes)))
}

// Predict says what it takes to read a fraction of a table in that many ranges, with pages of that
// size. list is nil if requests cost nothing.
func Predict(s Size, fraction float64, ranges, page int, rate float64, list *prices.List) Prediction {
	p := Prediction{Rows: s.Rows * fraction, From: s.From}
	p.Bytes = p.Rows * s.RowBytes
	p.Requests = float64(ranges) + math.Floor(p.Rows/float64(page))
	if rate > 0 {
		p.Seconds = p.Rows / rate
	}
	if list != nil {
		// It is half a unit for 4 KB at LOCAL_ONE, rounded up for each page.
		p.ReadUnits = math.Ceil(p.Bytes/4096)/2 + p.Requests/2
		p.Money = p.ReadUnits * list.MillionReadUnits / 1e6
		p.Currency, p.Prices = list.Currency, list.Date+", "+list.Region
	}
	return p
}

// Scan turns the prediction into that of a DynamoDB Scan. A Scan takes read units even if prices
// are unknown, and takes longer if the units per second are limited.
func (p *Prediction) Scan(units float64) {
	p.ReadUnits = math.Ceil(p.Bytes/4096)/2 + p.Requests/2
	if units > 0 {
		p.Seconds = math.Max(p.Seconds, p.ReadUnits/units)
	}
}

// Above says which thresholds a prediction exceeds; "": none.
func (p Prediction) Above() string {
	var all []string
	if p.Rows > ManyRows {
		all = append(all, fmt.Sprintf("%.0f rows are more than %d", p.Rows, ManyRows))
	}
	if p.Bytes > ManyBytes {
		all = append(all, fmt.Sprintf("%.1f GB are more than 1 GB", p.Bytes/ManyBytes))
	}
	if p.Money > MuchMoney {
		all = append(all, fmt.Sprintf("%.2f %s are more than %.2f", p.Money, p.Currency, MuchMoney))
	}
	return strings.Join(all, ", ")
}

// Fraction returns the greatest fraction of a table that stays below the thresholds, at most 1.
func Fraction(s Size, list *prices.List) float64 {
	f := 1.0
	if s.Rows > 0 {
		f = math.Min(f, 0.8*ManyRows/s.Rows)
		f = math.Min(f, 0.8*ManyBytes/math.Max(1, s.Rows*s.RowBytes))
		if list != nil {
			if whole := Predict(s, 1, 1, Page(s.RowBytes), 0, list).Money; whole > 0 {
				f = math.Min(f, 0.8*MuchMoney/whole)
			}
		}
	}
	if f < 1 { // two digits, so that the same command means the same fraction tomorrow
		digits := math.Pow(10, math.Floor(math.Log10(f))-0)
		f = math.Floor(f/digits) * digits
	}
	return f
}
