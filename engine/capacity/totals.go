// SPDX-License-Identifier: Apache-2.0

package capacity

// Totals is what was taken and what was refused since a Model is there.
type Totals struct {
	Read, Write Total
}

// Total is of one operation.
type Total struct {
	Units float64
	// Throttled are the limits that there are, or were, in the order of the constants.
	Throttled []Throttled
}

// Throttled is how many requests met a limit. One that met several counts for each.
type Throttled struct {
	Limit    Refusal // one
	Requests int64
}

// Reason is the limit's name as it ends DynamoDB's throttling reasons:
// KeyRangeThroughputExceeded.
func (t Throttled) Reason() string {
	for _, x := range refusals {
		if t.Limit == x.is {
			return x.name
		}
	}
	return ""
}

// counts are what Totals is made of, for one operation.
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

// Totals returns what was taken and refused so far.
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

// Consumption is the Totals of one table, or of a global index of it.
type Consumption struct {
	Table, Index string
	Totals
}
