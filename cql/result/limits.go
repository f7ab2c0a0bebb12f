// SPDX-License-Identifier: Apache-2.0

package result

import "github.com/evenkeel/evenkeel/cql/analysis"

// Unbound is no limit.
const Unbound = -1

// Limits are what LIMIT and PER PARTITION LIMIT leave. They count rows of the result: groups
// where there are groups.
type Limits struct {
	Left   int // of LIMIT; Unbound where there is none
	Inside int // of PER PARTITION LIMIT in the present partition; Unbound where there is none

	each   int  // PER PARTITION LIMIT
	sorted bool // ORDER BY sorts the rows of several partitions: LIMIT is for the sorted ones
}

// LimitsOf returns the limits of a statement before its first row.
func LimitsOf(b *analysis.BoundSelect) Limits {
	l := Limits{Left: Unbound, each: Unbound, sorted: len(b.Sort) > 0}
	if b.Limit > 0 {
		l.Left = b.Limit
	}
	if b.PerPartitionLimit > 0 {
		l.each = b.PerPartitionLimit
	}
	l.Inside = l.each
	return l
}

// Partition begins a partition.
func (l *Limits) Partition() { l.Inside = l.each }

// Count counts a row of the result, and of the present partition.
func (l *Limits) Count() {
	l.CountTotal()
	if l.Inside > 0 {
		l.Inside--
	}
}

// CountTotal counts a row of the result whose partition has ended.
func (l *Limits) CountTotal() {
	if l.Left > 0 && !l.sorted {
		l.Left--
	}
}

// Lesser returns the lesser of two limits, of which either may be Unbound.
func Lesser(a, b int) int {
	if a == Unbound || b != Unbound && b < a {
		return b
	}
	return a
}
