// SPDX-License-Identifier: Apache-2.0

package profile

import "math"

// Billing says how a store that bills requests counts the bytes of an item.
type Billing struct {
	Fixed   int               // bytes of each item
	Columns map[string]Billed // a column that is not here counts nothing
}

// Billed says how the values of a column count.
type Billed struct {
	Head  int                   // bytes of a value that is there, besides the value: a name, metadata
	Fixed int                   // bytes of each value; 0: they differ
	Text  func(text []byte) int // bytes of a value from its text; nil: as CQL serializes it
}

// These are the sizes of Items: of all rows each byte counts, of a partition ranges of bytes.
const (
	allPeriod  = 4096
	partPeriod = 1024
	partWidth  = 64
)

// Items counts items by their sizes, so that the units of their writes and reads are known: a store
// bills each item rounded up. Of a size it counts the remainder by a period, and how many whole
// periods there are. All units divide the period.
type Items struct {
	period, width int
	bins          []itemBin
	squares       float64 // the sum of the squares of the whole periods
}

// itemBin counts the items whose remainder is in a range. least and most are relative to the
// range's beginning.
type itemBin struct {
	rows, whole uint32
	least, most uint16
}

func newItems(period, width int) *Items {
	return &Items{period: period, width: width, bins: make([]itemBin, period/width)}
}

func (s *Items) add(size int) {
	whole, rest := uint32(size/s.period), size%s.period
	b := &s.bins[rest/s.width]
	at := uint16(rest % s.width)
	if b.rows == 0 {
		b.least, b.most = at, at
	}
	b.least, b.most = min(b.least, at), max(b.most, at)
	b.rows++
	b.whole += whole
	s.squares += float64(whole) * float64(whole)
}

func (s *Items) clear() {
	clear(s.bins)
	s.squares = 0
}

func (s *Items) merge(o *Items) {
	for i := range s.bins {
		b, c := &s.bins[i], &o.bins[i]
		switch {
		case c.rows == 0:
			continue
		case b.rows == 0:
			b.least, b.most = c.least, c.most
		}
		b.least, b.most = min(b.least, c.least), max(b.most, c.most)
		b.rows += c.rows
		b.whole += c.whole
	}
	s.squares += o.squares
}

// Units says how many units an item takes: the mean over the items with its bounds, and the mean of
// the squares.
type Units struct {
	Items           float64 // how many items there are
	Mean, Low, High float64
	Square          float64
}

// Units returns the units of the items if each has that many bytes more, and a unit is so many
// bytes: 1024, or 4096 if the items are all rows.
func (s *Items) Units(unit int, more float64) Units {
	var u Units
	if s == nil || s.period%unit != 0 {
		return u
	}
	per := float64(s.period / unit)
	for i := range s.bins {
		b := &s.bins[i]
		if b.rows == 0 {
			continue
		}
		rows, whole := float64(b.rows), per*float64(b.whole)
		from := float64(i*s.width) + more
		units := func(at float64) float64 { return math.Ceil((from+at)/float64(unit) - 1e-9) }
		low, high := units(float64(b.least)), units(float64(b.most))
		share := 0.0 // of the items that take the higher number: sizes are taken as evenly spread
		if low < high {
			border := math.Floor(low*float64(unit) - from)
			share = (float64(b.most) - border) / float64(b.most-b.least+1)
		}
		mean := low + share*(high-low)
		u.Items += rows
		u.Mean += whole + rows*mean
		u.Low += whole + rows*low
		u.High += whole + rows*high
		u.Square += 2*mean*whole + rows*(low*low+share*(high*high-low*low))
	}
	u.Square += per * per * s.squares
	if u.Items > 0 {
		u.Mean, u.Low, u.High, u.Square = u.Mean/u.Items, u.Low/u.Items, u.High/u.Items, u.Square/u.Items
	}
	return u
}

// biller computes the bytes of items.
type biller struct {
	fixed int
	lanes []Billed // by lane; a lane that does not count has zeros
	items *Items   // of all rows
	size  []int    // of each row of a batch
	text  []byte
}

// newBiller prepares the billing of a layout's lanes. What the other columns take is fixed.
func (l *layout) newBiller(b *Billing) *biller {
	if b == nil {
		return nil
	}
	out := &biller{fixed: b.Fixed, lanes: make([]Billed, len(l.columns)), items: newItems(allPeriod, 1)}
	read := make(map[string]bool)
	for i, name := range l.columns {
		out.lanes[i], read[name] = b.Columns[name], true
	}
	for i := range l.profile.Columns {
		c := &l.profile.Columns[i]
		if v, counts := b.Columns[c.Name]; counts && !read[c.Name] {
			out.fixed += v.Head + v.always(c)
		}
	}
	return out
}

// always returns the bytes that each value of a column has; 0: they differ, or some are null.
func (v *Billed) always(c *Column) int {
	switch {
	case c.Nulls > 0 || c.Empty > 0:
		return 0
	case v.Fixed > 0:
		return v.Fixed
	case v.Text == nil:
		return fixedLen(c.Type)
	}
	return 0
}

// read computes the bytes of a batch's items.
func (b *biller) read(lanes []*lane, n int, skip []bool) {
	b.size = sized(b.size, n)
	for r := range b.size {
		b.size[r] = b.fixed
	}
	for i, l := range lanes {
		if v := &b.lanes[i]; l.vector != nil && (v.Head > 0 || v.Fixed > 0 || v.Text != nil) {
			b.column(l, v)
		}
	}
	for r, size := range b.size {
		if skip == nil || !skip[r] {
			b.items.add(size)
		}
	}
}

func (b *biller) column(l *lane, v *Billed) {
	for r := range b.size {
		if l.vector.Null(r) || l.stored(r) == 0 {
			continue
		}
		b.size[r] += v.Head
		switch {
		case v.Fixed > 0:
			b.size[r] += v.Fixed
		case v.Text != nil:
			b.text = l.vector.AppendText(b.text[:0], r, l.declared)
			b.size[r] += v.Text(b.text)
		default:
			b.size[r] += l.length(r)
		}
	}
}

// emptied returns items without any, in the memory of old ones if there are some; nil: they are not
// counted for a candidate.
func (m *measurer) emptied(d *design, items *Items) *Items {
	switch {
	case m.bill == nil || d.shards() > 1:
		return nil
	case items == nil:
		return newItems(partPeriod, partWidth)
	}
	items.clear()
	return items
}
