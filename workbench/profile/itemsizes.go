// SPDX-License-Identifier: Apache-2.0

package profile

import "math"

// ItemSizes is a histogram of the sizes of items. A store bills an item in whole units, and rounds
// its size up. So the units follow from the sizes of the items, and not from their mean size.
//
// The histogram splits a size into whole periods and a remainder. It counts the remainders in bins
// of equal width. A unit divides the period, so the remainders and the sums of whole periods are
// enough to compute the units.
type ItemSizes struct {
	period  int       // bytes
	width   int       // of a bin, in bytes; it divides the period
	bins    []sizeBin // bin i has the remainders from i*width to i*width+width-1
	squares float64   // the sum over all items of the square of their whole periods
}

// sizeBin counts the items whose remainder is in one bin.
type sizeBin struct {
	items, periods uint32 // the number of items, and the sum of their whole periods
	least, most    uint16 // the extreme remainders, in bytes from the bin's beginning
}

// A histogram of all items is exact: its bins are one byte wide. A histogram of one partition is
// kept for each frequent partition, and is small: its bins are ranges of bytes.
const (
	allPeriod       = 4096
	allWidth        = 1
	partitionPeriod = 1024
	partitionWidth  = 64
)

func newItemSizes(period, width int) *ItemSizes {
	return &ItemSizes{period: period, width: width, bins: make([]sizeBin, period/width)}
}

func (s *ItemSizes) add(size int) {
	periods, rest := uint32(size/s.period), size%s.period
	b := &s.bins[rest/s.width]
	at := uint16(rest % s.width)
	if b.items == 0 {
		b.least, b.most = at, at
	}
	b.least, b.most = min(b.least, at), max(b.most, at)
	b.items++
	b.periods += periods
	s.squares += float64(periods) * float64(periods)
}

func (s *ItemSizes) clear() {
	clear(s.bins)
	s.squares = 0
}

func (s *ItemSizes) merge(o *ItemSizes) {
	for i := range s.bins {
		b, c := &s.bins[i], &o.bins[i]
		switch {
		case c.items == 0:
			continue
		case b.items == 0:
			b.least, b.most = c.least, c.most
		}
		b.least, b.most = min(b.least, c.least), max(b.most, c.most)
		b.items += c.items
		b.periods += c.periods
	}
	s.squares += o.squares
}

// Units describes how many units the items take, each written or read by a request of its own. The
// zero value describes no items.
type Units struct {
	Items     float64 // the number of items
	Mean      float64 // units of an item, on average
	Low, High float64 // bounds of Mean; they differ where a bin's items take different numbers of units
	Square    float64 // the mean of the squares of the items' units
}

// Units returns the units that the items take if each item has more bytes than were counted. A unit
// has unit bytes: 1024 or 4096 for the sizes of all items, 1024 for those of a partition. For other
// units, and for nil, Units returns the zero value.
//
// Units does not know the sizes inside a bin. It takes them as evenly spread from the least to the
// most.
func (s *ItemSizes) Units(unit int, more float64) Units {
	var u Units
	if s == nil || s.period%unit != 0 {
		return u
	}
	unitsPerPeriod := float64(s.period / unit)
	for i := range s.bins {
		b := &s.bins[i]
		if b.items == 0 {
			continue
		}
		items, whole := float64(b.items), unitsPerPeriod*float64(b.periods)
		from := float64(i*s.width) + more
		units := func(at float64) float64 { return math.Ceil((from+at)/float64(unit) - 1e-9) }
		low, high := units(float64(b.least)), units(float64(b.most))
		share := 0.0 // of the bin's items that take high units; the others take low
		if low < high {
			border := math.Floor(low*float64(unit) - from)
			share = (float64(b.most) - border) / float64(b.most-b.least+1)
		}
		mean := low + share*(high-low)
		u.Items += items
		u.Mean += whole + items*mean
		u.Low += whole + items*low
		u.High += whole + items*high
		u.Square += 2*mean*whole + items*(low*low+share*(high*high-low*low))
	}
	u.Square += unitsPerPeriod * unitsPerPeriod * s.squares
	if u.Items > 0 {
		u.Mean, u.Low, u.High, u.Square = u.Mean/u.Items, u.Low/u.Items, u.High/u.Items, u.Square/u.Items
	}
	return u
}
