// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// A write with IN can name as many rows as the product of its lists, each of which gets
// all of its values. What a request writes at once is bounded.
const (
	// maxMutation is how many bytes a write may put into one partition: Cassandra's
	// max_mutation_size, as it is set up by default.
	maxMutation = 16 << 20

	// maxWriting is how many it may write in all, and maxPlaces into how many rows and
	// ranges. Cassandra has no such bounds, but one of time.
	maxWriting = 4 * maxMutation
	maxPlaces  = 1 << 20
)

// overhead estimates the bytes that a row or a cell takes beside its values.
const overhead = 16

// checkBounds refuses writes that are too large, before anything is made of them.
func (w *writing) checkBounds() error {
	total, places := 0.0, 0.0
	for i := range w.writes {
		b := &w.writes[i]
		keys := float64(b.Keys.Len())
		bytes, rows := b.extent()
		total += keys*bytes + b.Keys.Bytes()
		places += keys * max(rows, 1)
		switch {
		case keys > 0 && bytes > maxMutation:
			return b.oversized(bytes, maxMutation)
		case total > maxWriting:
			return b.oversized(total, maxWriting)
		case places > maxPlaces:
			return b.oversized(places*overhead, maxPlaces*overhead)
		}
	}
	return nil
}

// extent is how many bytes a write puts into each of its partitions, about, and into how
// many rows and ranges.
func (b *boundWrite) extent() (bytes, places float64) {
	static, regular := 0, 0
	for i := range b.Mutations {
		m := &b.Mutations[i]
		n := sizeOfMutation(m) + overhead*(1+len(m.Cells))
		if m.Column.Kind == schema.Static {
			static += n
		} else {
			regular += n
		}
	}
	switch b.Scope {
	case analysis.ScopeDeletePartition:
		return overhead, 1
	case analysis.ScopeDeleteSlices:
		places = float64(b.Slices.Len())
		return b.Slices.Bytes() + places*overhead, places
	case analysis.ScopeStatic:
		return float64(static), 1
	}
	places = float64(b.Rows.Len())
	return b.Rows.Bytes() + places*float64(overhead+regular) + float64(static), places
}

// oversized is Cassandra's refusal of a mutation that is too large.
func (b *boundWrite) oversized(bytes float64, most int) error {
	key := ""
	if b.Keys.Len() > 0 {
		columns := b.Table.PartitionKey
		for i, v := range b.Keys.At(0) {
			if i > 0 {
				key += ":"
			}
			key += valueText(columns[i].Type, v)
		}
	}
	return wire.Invalidf("Rejected an oversized mutation (%.0f/%d) for keyspace: %s. Top keys are: %s.%s", bytes, most, b.Table.Keyspace, b.Table.Name, key)
}
