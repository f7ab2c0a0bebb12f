// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"math"

	"github.com/evenkeel/evenkeel/workbench/queries"
)

// Cost is the cost of a design's queries. A query without a rate counts as UnratedPerSecond.
type Cost struct {
	WriteUnits float64 `json:"write_units_per_second,omitempty"` // WCU, with the writes to indexes
	ReadUnits  float64 `json:"read_units_per_second,omitempty"`  // RCU, eventually consistent
	Month      float64 `json:"month,omitempty"`                  // in Currency, without storage
	Storage    float64 `json:"storage_month,omitempty"`          // of the rows in the data
	Currency   string  `json:"currency,omitempty"`
	Date       string  `json:"prices_of,omitempty"`
	Region     string  `json:"region,omitempty"`

	CPU        float64 `json:"cpu_seconds_per_second,omitempty"` // of nodes, without replicas
	Partitions float64 `json:"partitions_read_per_second"`
	Rated      bool    `json:"rated"` // the queries have rates; if not, the figures serve only to compare
}

// costOf computes a design's cost, including its extras.
func (s *ranker) costOf(d *Design, extras []Extra) Cost {
	c := Cost{Rated: rated(s.qs)}
	more := s.keyBytes(d) + s.indexBytes(d, extras)
	item, writeEach := s.itemBytes()+more, s.unitsOf(writeUnitBytes, more).Mean
	for i := range s.qs {
		q := &s.qs[i]
		rate := rateOf(q)
		v := s.served(d, extras, q)
		if q.Writes() {
			// Each write also goes to each index and each further table.
			c.WriteUnits += rate * writeEach * float64(1+len(extras))
			c.CPU += rate * cpuWrite * float64(1+len(extras))
			if s.twice(q) {
				c.WriteUnits += rate * writeEach * float64(1+len(extras))
			}
			if !s.alone {
				c.CPU += rate * cpuWrite * s.logCost(d, len(extras), q)
			}
			if q.Verb == queries.Insert || v.Kind == OnePartition {
				continue
			}
			if q.Verb == queries.Delete && v.Kind == FanOut {
				c.WriteUnits += rate * (v.Partitions - 1) * writeEach
				c.CPU += rate * (v.Partitions - 1) * cpuWrite
				continue
			}
		}
		if v.Kind == FullScan && s.tiny(q) {
			continue // the report names it as not served by the key
		}
		c.Partitions += rate * v.Partitions
		c.CPU += rate * (v.Partitions*cpuPartition + v.Rows*cpuRow)
		units := math.Max(v.Partitions/2, s.readUnits(v.Rows, more))
		if v.Kind == FullScan {
			units = s.readUnits(float64(s.p.Rows), more)
		}
		c.ReadUnits += rate * units
	}
	if !s.o.Target.units() {
		c.WriteUnits, c.ReadUnits = 0, 0
		return c
	}
	c.CPU = 0
	if p := s.o.Prices; p != nil {
		c.Month = p.Month(c.WriteUnits, c.ReadUnits, 0)
		c.Storage = p.Month(0, 0, float64(s.p.Rows)*item*float64(1+len(extras)))
		c.Currency, c.Date, c.Region = p.Currency, p.Date, p.Region
	}
	return c
}

// figure returns the number by which designs are compared.
func (c *Cost) figure() float64 {
	switch {
	case c.Month > 0:
		return c.Month
	case c.WriteUnits+c.ReadUnits > 0: // the ratio of the list prices
		return 5*c.WriteUnits + c.ReadUnits
	}
	return c.CPU
}
