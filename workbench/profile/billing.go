// SPDX-License-Identifier: Apache-2.0

package profile

// Billing says how a store counts the bytes of an item: ItemBytes, and what each column adds.
type Billing struct {
	ItemBytes int                     // of each item, besides its columns
	Columns   map[string]BilledColumn // by name; a column without an entry adds nothing
}

// BilledColumn says how many bytes a column adds to an item that has a value in it. An item without
// a value adds none.
type BilledColumn struct {
	Overhead   int                   // bytes besides the value: the column's name, metadata
	ValueBytes int                   // bytes of each value; 0: values differ, and are measured
	Measure    func(text []byte) int // returns a value's bytes from its text; nil: its bytes as CQL serializes it
}

// biller computes the sizes of items, and counts them.
type biller struct {
	fixed int            // bytes of each item that no lane decides
	lanes []BilledColumn // by lane; zero for a lane that adds no bytes
	all   *ItemSizes     // of all rows
	sizes []int          // of each row of the present batch
	text  []byte         // memory for the text of a value
}

// newBiller returns a biller for a layout; nil if b is nil. The layout's lanes have the columns whose
// bytes differ from row to row. The other columns add the same bytes to each item.
func (l *layout) newBiller(b *Billing) *biller {
	if b == nil {
		return nil
	}
	out := &biller{fixed: b.ItemBytes, lanes: make([]BilledColumn, len(l.columns)), all: newItemSizes(allPeriod, allWidth)}
	inLane := make(map[string]bool)
	for i, name := range l.columns {
		out.lanes[i], inLane[name] = b.Columns[name], true
	}
	for i := range l.profile.Columns {
		c := &l.profile.Columns[i]
		if v, counts := b.Columns[c.Name]; counts && !inLane[c.Name] {
			out.fixed += v.Overhead + v.always(c)
		}
	}
	return out
}

// always returns how many bytes every value of a column has. It returns 0 if values differ, or rows
// have none.
func (v *BilledColumn) always(c *Column) int {
	switch {
	case c.Nulls > 0 || c.Empty > 0:
		return 0
	case v.ValueBytes > 0:
		return v.ValueBytes
	case v.Measure == nil:
		return fixedLen(c.Type)
	}
	return 0
}

// count computes the sizes of a batch's n items, and counts the items that are not skipped.
func (b *biller) count(lanes []*lane, n int, skip []bool) {
	b.sizes = sized(b.sizes, n)
	for r := range b.sizes {
		b.sizes[r] = b.fixed
	}
	for i, l := range lanes {
		if v := &b.lanes[i]; l.vector != nil && (v.Overhead > 0 || v.ValueBytes > 0 || v.Measure != nil) {
			b.addColumn(l, v)
		}
	}
	for r, size := range b.sizes {
		if skip == nil || !skip[r] {
			b.all.add(size)
		}
	}
}

func (b *biller) addColumn(l *lane, v *BilledColumn) {
	for r := range b.sizes {
		if l.vector.Null(r) || l.stored(r) == 0 {
			continue
		}
		b.sizes[r] += v.Overhead
		switch {
		case v.ValueBytes > 0:
			b.sizes[r] += v.ValueBytes
		case v.Measure != nil:
			b.text = l.vector.AppendText(b.text[:0], r, l.declared)
			b.sizes[r] += v.Measure(b.text)
		default:
			b.sizes[r] += l.length(r)
		}
	}
}

// emptySizes returns an empty histogram for a partition of a candidate, in the memory of old if that
// is not nil. It returns nil if the candidate's items are not counted: nothing is billed, or the
// candidate has shards.
func (m *measurer) emptySizes(d *design, old *ItemSizes) *ItemSizes {
	switch {
	case m.bill == nil || d.shards() > 1:
		return nil
	case old == nil:
		return newItemSizes(partitionPeriod, partitionWidth)
	}
	old.clear()
	return old
}
