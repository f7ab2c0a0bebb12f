// SPDX-License-Identifier: Apache-2.0

package prices

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed prices.yaml
var builtin []byte

// File is a dated collection of price lists.
type File struct {
	Date     string `yaml:"date"` // 2025-11-05: the day on which the prices were read
	Currency string `yaml:"currency"`
	Lists    []List `yaml:"lists"`
}

// List holds the prices of a store in a region.
type List struct {
	Store             string  `yaml:"store" json:"store"` // dynamodb or keyspaces
	Region            string  `yaml:"region" json:"region"`
	MillionWriteUnits float64 `yaml:"million_write_units" json:"million_write_units"` // of 1 KB
	MillionReadUnits  float64 `yaml:"million_read_units" json:"million_read_units"`   // of 4 KB, strongly consistent
	GBMonth           float64 `yaml:"gb_month" json:"gb_month"`
	Source            string  `yaml:"source" json:"source,omitempty"` // the page that shows them

	Date     string `yaml:"-" json:"date"` // of the file
	Currency string `yaml:"-" json:"currency"`
}

// Builtin returns the list that is built into this module.
func Builtin() *File {
	f, err := Read(builtin)
	if err != nil {
		panic(fmt.Sprintf("prices.yaml: %v", err)) // a test reads it
	}
	return f
}

// Read reads a file in the form of prices.yaml.
func Read(text []byte) (*File, error) {
	f := &File{}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(f); err != nil {
		return nil, fmt.Errorf("prices: %s", strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if f.Date == "" || f.Currency == "" || len(f.Lists) == 0 {
		return nil, fmt.Errorf("prices: date, currency and lists are wanted")
	}
	for i := range f.Lists {
		l := &f.Lists[i]
		if l.Store == "" || l.Region == "" {
			return nil, fmt.Errorf("prices: list %d names no store or no region", i+1)
		}
		for _, price := range []float64{l.MillionWriteUnits, l.MillionReadUnits, l.GBMonth} {
			if !(price >= 0) || math.IsInf(price, 0) {
				return nil, fmt.Errorf("prices: %s in %s: %v is no price", l.Store, l.Region, price)
			}
		}
		l.Date, l.Currency = f.Date, f.Currency
	}
	return f, nil
}

// Of returns the list of a store in a region. Its error names the known regions.
func (f *File) Of(store, region string) (*List, error) {
	var regions []string
	for i := range f.Lists {
		if f.Lists[i].Store != store {
			continue
		}
		if f.Lists[i].Region == region {
			return &f.Lists[i], nil
		}
		regions = append(regions, f.Lists[i].Region)
	}
	slices.Sort(regions)
	if regions == nil {
		return nil, fmt.Errorf("there are no prices of %s", store)
	}
	return nil, fmt.Errorf("there are no prices of %s in %s; there are those of %s", store, region, strings.Join(regions, ", "))
}

// monthSeconds is the length of a month: 730 hours, as the vendors count.
const monthSeconds = 730 * 3600

// Month returns the monthly cost of units per second and stored bytes.
func (l *List) Month(writeUnits, readUnits, bytes float64) float64 {
	return (writeUnits*l.MillionWriteUnits+readUnits*l.MillionReadUnits)*monthSeconds/1e6 + bytes/(1<<30)*l.GBMonth
}
