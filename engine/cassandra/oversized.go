// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// A write with IN can name as many rows as the product of its lists, and each row gets all values
// of the write. So the engine bounds how much a request writes at once.
const (
	// maxMutation is the largest number of bytes that a write may put into one partition. It is the
	// default of Cassandra's max_mutation_size.
	maxMutation = 16 << 20

	// maxWriting is the largest number of bytes that a request may write in total, and maxPlaces
	// the largest number of rows and ranges. Cassandra does not bound these, but only the time.
	maxWriting = 4 * maxMutation
	maxPlaces  = 1 << 20
)

// overhead is the estimated number of bytes that a row or a cell takes in addition to its values.
const overhead = 16

// checkBounds refuses writes that are too large, before the engine makes any rows of them.
func (w *writing) checkBounds() error {
	total, places := 0.0, 0.0
	for i := range w.writes {
		b := &w.writes[i]
		keys := float64(b.Keys.Len())
		bytes, rows := b.extent()
		total += keys*bytes + b.Keys.Bytes()*max(rows, 1) // the key is before each row
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
	w.bytes = int(total + places*perPlace)
	return nil
}

// perPlace is the estimated number of bytes that a row or range takes in a batch in addition to
// its values.
const perPlace = 96

// hold makes the call hold the memory of what it will write.
func (w *writing) hold() error {
	err := w.c.room(w.bytes)
	if err == nil {
		w.c.rows += w.bytes
	}
	return err
}

// extent returns how many bytes a write puts into each of its partitions, approximately, and into
// how many rows and ranges.
func (b *boundWrite) extent() (bytes, places float64) {
	static, regular := 0, 0
	for i := range b.Mutations {
		m := &b.Mutations[i]
		n := sizeOfMutation(m) + overhead*(1+m.Cells.Len())
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

// oversized returns Cassandra's error about a mutation that is too large.
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

// tooLong reports whether a batch is longer than a request may write, and refuses it then. A
// statement may remove many equal elements of a list, and many statements the same ones.
func (w *writing) tooLong(batch *storage.Batch) bool {
	n := batch.Size()
	if n <= maxWriting {
		return false
	}
	if w.err == nil {
		w.err = w.writes[0].oversized(float64(n), maxWriting)
	}
	return true
}
