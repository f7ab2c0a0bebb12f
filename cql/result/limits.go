// SPDX-License-Identifier: Apache-2.0

package result

import "github.com/evenkeel/evenkeel/cql/analysis"

// Unbound means that there is no limit.
const Unbound = -1

// Limits are the rest of LIMIT and PER PARTITION LIMIT. They count rows of the result, or groups if
// the statement has groups.
type Limits struct {
	Left   int // rest of LIMIT; Unbound: there is none
	Inside int // rest of PER PARTITION LIMIT in the current partition; Unbound: there is none

	each   int  // PER PARTITION LIMIT
	sorted bool // ORDER BY sorts the rows of several partitions: LIMIT applies to the sorted rows
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

// Count counts a row of the result and of the current partition.
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

// Lesser returns the lesser of two limits. Either may be Unbound.
func Lesser(a, b int) int {
	if a == Unbound || b != Unbound && b < a {
		return b
	}
	return a
}
