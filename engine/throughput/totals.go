// SPDX-License-Identifier: Apache-2.0

package throughput

// Totals is the number of units taken and of requests refused since the Model was created.
type Totals struct {
	Read, Write Total
}

// Total is the part of Totals of one operation.
type Total struct {
	Units float64
	// Throttled has one entry for each limit that exists or existed, in the order of the constants.
	Throttled []Throttled
}

// Throttled is the number of requests that met a limit. A request that met several counts for each.
type Throttled struct {
	Limit    Refusal // a single limit
	Requests int64
}

// Reason returns the limit's name, which is the end of DynamoDB's throttling reasons:
// KeyRangeThroughputExceeded.
func (t Throttled) Reason() string {
	for _, x := range refusals {
		if t.Limit == x.is {
			return x.name
		}
	}
	return ""
}

// counts holds the counters of Totals for one operation.
type counts struct {
	units   float64
	refused [len(refusals)]int64
}

func (c *counts) refuse(r Refusal) {
	for i, x := range refusals {
		if r&x.is != 0 {
			c.refused[i]++
		}
	}
}

// Totals returns the totals so far.
func (m *Model) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Totals{Read: m.total(Read), Write: m.total(Write)}
}

func (m *Model) total(op Op) Total {
	c := &m.counts[op]
	t := Total{Units: c.units}
	for i, x := range refusals {
		if x.is == KeyRange || m.table[op].limited&x.is != 0 || c.refused[i] > 0 {
			t.Throttled = append(t.Throttled, Throttled{x.is, c.refused[i]})
		}
	}
	return t
}

// Consumption is the Totals of one table, or of one of its global indexes.
type Consumption struct {
	Table, Index string
	Totals
}
