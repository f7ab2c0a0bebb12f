// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// column returns the result of a column's state, for that many rows and batches. again is the order
// in which its dates must be read once more; nil: they need not be.
func (s *state) column(rows int64, batches int, seams [2]order, o Options) (c Column, again *datetime.Order) {
	c = Column{
		Name: s.name, Values: s.values, Nulls: rows - s.values, Empty: s.empty,
		Given: s.given != nil || s.declared != nil, Nested: s.count[isNested] > 0,
	}
	c.Type, c.Note = s.guess()
	c.Distinct = estimate(s.sample.Distinct()).capped(float64(s.values))
	c.Top, c.Most = s.frequent(o.Top)
	c.Repeated = estimate(s.sample.Sum(func(f *firstSeen) float64 { return float64(f.rows - 1) })).capped(float64(s.values))
	c.Pairs = estimate(s.sample.Sum(func(f *firstSeen) float64 { return float64(f.rows) * float64(f.rows-1) / 2 }))
	if len(c.Top) > 0 {
		// A frequent value is a value, so there is at least one. If sketches disagree, certain
		// bounds win.
		c.Distinct.Low = max(c.Distinct.Low, 1)
		c.Repeated.High = min(c.Repeated.High, float64(s.values)-c.Distinct.Low)
		c.Repeated.Value = min(c.Repeated.Value, c.Repeated.High)
		c.Repeated.Low = min(c.Repeated.Low, c.Repeated.Value)
	}
	dates := s.moments.settle()
	if dates.again {
		again = &dates.order
	}
	if dates.flipped {
		seams[0] = seams[1]
		s.order.up, s.order.down, s.order.same, s.order.one = s.otherOrder.up, s.otherOrder.down, s.otherOrder.same, s.otherOrder.one
	}
	s.order.merge(&seams[0])
	c.Min, c.Max = s.extremes(c.Type)
	s.lengths(&c)
	if s.unique() {
		c.Distinct, c.Repeated, c.strict = exactly(float64(s.values)), exactly(0), true
	}
	c.Order = s.ordering(c)
	if c.Time = s.timing(&c, o, dates.order); c.Time != nil {
		c.Time.Doubt = doubted(c.Name, dates)
		if note := c.Time.noted(); c.Note == "" {
			c.Note = note
		} else if note != "" {
			c.Note += "; " + note
		}
	}
	if c.Time == nil {
		c.Made = s.ids()
	}
	c.Growth = growth(s.sample, batches, func(f *firstSeen) uint32 { return f.batch })
	return c, again
}

// frequent returns the most frequent values, and how many rows the first one has. Values that are
// also in the sample were counted from their first row on.
func (s *state) frequent(top int) (list []Top, most Estimate) {
	greatest := int64(0)
	for _, f := range s.sample.All() {
		greatest = max(greatest, f.rows)
	}
	all := s.top.List(1 << 30)
	for i := range all {
		if f := s.sample.Find(all[i].Hash); f != nil {
			all[i].Low, all[i].High = f.rows, f.rows
		}
	}
	slices.SortStableFunc(all, func(a, b sketch.Frequent[shown]) int { return cmp.Compare(b.High, a.High) })
	low, high := greatest, greatest
	if !s.sample.Exact() {
		high = max(high, s.top.Absent())
	}
	for i, f := range all {
		rows := between(f.Low, f.High)
		if i < top {
			list = append(list, Top{Text: string(f.Of.text), Rows: rows, Share: ratio(rows.Value, float64(s.values))})
		}
		low = max(low, f.Low)
		if !s.sample.Exact() {
			high = max(high, f.High)
		}
	}
	return list, between(low, high)
}

func (s *state) lengths(c *Column) {
	c.TextBytes = ratio(float64(s.bytes), float64(s.values))
	if s.bytes == 0 { // the file has no texts
		c.TextBytes = float64(len(c.Max))
	}
	if n := fixedLen(c.Type); n > 0 {
		c.MeanBytes, c.MaxBytes = float64(n), n
		return
	}
	mean := ratio(float64(s.bytes), float64(s.values))
	switch c.Type.Kind {
	case value.Text, value.Ascii:
		c.MeanBytes, c.MaxBytes = mean, s.maxBytes
	case value.Blob:
		if s.declared != nil {
			c.MeanBytes, c.MaxBytes = mean, s.maxBytes
			return
		}
		fallthrough
	default:
		c.MeanBytes, c.MaxBytes = float64(serializedLen(c.Type, int(math.Round(mean)))), serializedLen(c.Type, s.maxBytes)
	}
}

// extremes returns the least and the greatest value.
func (s *state) extremes(t *value.Type) (least, greatest string) {
	var of func(n int64) string
	switch t.Kind {
	case value.Int, value.Bigint, value.Smallint, value.Tinyint, value.Counter, value.Boolean:
		of = func(n int64) string { return strconv.FormatInt(n, 10) }
	case value.Timestamp:
		of = func(n int64) string { return time.UnixMilli(n).UTC().Format("2006-01-02T15:04:05.999Z07:00") }
	case value.Date:
		of = func(n int64) string { return time.UnixMilli(n).UTC().Format(time.DateOnly) }
	case value.Timeuuid:
		of = func(n int64) string { return "at " + time.UnixMilli(n).UTC().Format("2006-01-02T15:04:05.999Z07:00") }
	case value.Decimal, value.Double, value.Float:
		low, high := s.minFloat, s.maxFloat
		if s.someInt {
			low, high = min(low, float64(s.minInt)), max(high, float64(s.maxInt))
			if !s.someFloat {
				low, high = float64(s.minInt), float64(s.maxInt)
			}
		} else if !s.someFloat {
			return "", ""
		}
		return strconv.FormatFloat(low, 'g', -1, 64), strconv.FormatFloat(high, 'g', -1, 64)
	}
	switch clock := s.clock(); {
	case clock.n > 0 && (t.Kind == value.Timestamp || t.Kind == value.Date || t.Kind == value.Timeuuid):
		return of(clock.min), of(clock.max)
	case of != nil && s.someInt && t.Kind != value.Timestamp && t.Kind != value.Date && t.Kind != value.Timeuuid:
		return of(s.minInt), of(s.maxInt)
	}
	if s.minText == nil && s.someInt && s.count[isInt] > 0 { // text whose values are all integers
		return strconv.FormatInt(s.minInt, 10), strconv.FormatInt(s.maxInt, 10)
	}
	if clock := s.moments.main; s.minText == nil && clock.n > 0 { // text whose values are all times
		return time.UnixMilli(clock.min).UTC().Format(time.RFC3339), time.UnixMilli(clock.max).UTC().Format(time.RFC3339)
	}
	if s.declared != nil && t.Kind == value.UUID || t.Kind == value.Blob && s.declared != nil {
		low, _ := t.Text(s.minText)
		high, _ := t.Text(s.maxText)
		return low, high
	}
	return string(s.minText), string(s.maxText)
}

// ordering summarizes the steps from value to value.
func (s *state) ordering(c Column) Order {
	o := Order{Steps: s.order.up + s.order.down + s.order.same}
	if o.Steps == 0 {
		return o
	}
	n := float64(o.Steps)
	o.Ascending, o.Descending, o.Same = float64(s.order.up)/n, float64(s.order.down)/n, float64(s.order.same)/n
	o.Monotonic = s.order.down == 0 && s.order.up > 0 || s.order.up == 0 && s.order.down > 0
	switch c.Type.Kind {
	case value.Int, value.Bigint, value.Smallint, value.Tinyint:
	default:
		return o
	}
	span := float64(s.maxInt) - float64(s.minInt) + 1
	o.Gaps = max(0, 1-c.Distinct.Value/span)
	// Each integer comes once, and most integers between the least and the greatest occur; or, in
	// the order of the data, most are one apart.
	unique := c.Distinct.High >= float64(c.Values) && c.Values > 1
	o.Sequential = unique && (o.Gaps < 0.5 || float64(s.order.one) > 0.8*n)
	return o
}

// unique reports whether each value is above the one before it, or each is below. It knows this of
// all values, although it keeps none.
func (s *state) unique() bool {
	steps := s.order.up + s.order.down
	return s.values > 0 && s.order.same == 0 && (s.order.up == 0 || s.order.down == 0) && steps == s.values-1
}

// growth returns the share of the keys that has come by each tenth of the batches.
func growth[T any](s *sketch.Sample[T], batches int, first func(*T) uint32) []float64 {
	if s.Len() == 0 || batches == 0 {
		return nil
	}
	tenths := make([]float64, 10)
	for _, k := range s.All() {
		t := (int(first(k)) - 1) * 10 / batches
		tenths[min(max(t, 0), 9)]++
	}
	sum := 0.0
	for i := range tenths {
		sum += tenths[i]
		tenths[i] = sum / float64(s.Len())
	}
	return tenths
}
