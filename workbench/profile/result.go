package profile

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/sketch"
)

// column is the result of a column's state, of so many rows in so many batches.
func (s *state) column(name string, rows int64, batches int, seam order, top int) Column {
	c := Column{
		Name: name, Values: s.values, Nulls: rows - s.values, Empty: s.empty,
		Given: s.given != nil || s.declared != nil, Nested: s.count[isNested] > 0,
	}
	c.Type, c.Note = s.guess()
	c.Distinct = estimate(s.sample.Distinct()).capped(float64(s.values))
	c.Top, c.Most = s.frequent(top)
	c.Pairs = estimate(s.sample.Sum(func(f *firstSeen) float64 { return float64(f.rows) * float64(f.rows-1) / 2 }))
	if len(c.Top) > 0 {
		// A value that is frequent is one; with sketches that differ, certain bounds go before.
		c.Distinct.Low = max(c.Distinct.Low, 1)
	}
	c.Min, c.Max = s.extremes(c.Type)
	s.lengths(&c)
	s.order.merge(&seam)
	if s.unique() {
		c.Distinct = exactly(float64(s.values))
	}
	c.Order = s.ordering(c)
	c.Time = s.timing(name, c.Type)
	c.Growth = growth(s.sample, batches, func(f *firstSeen) uint32 { return f.batch })
	return c
}

// frequent are the most frequent values, and how many rows the first has. Values that are
// in the sample were counted from their first row on.
func (s *state) frequent(top int) (list []Top, most Estimate) {
	known, greatest := make(map[uint64]int64), int64(0)
	for _, k := range s.sample.Keys() {
		known[k.Hash] = k.Of.rows
		greatest = max(greatest, k.Of.rows)
	}
	all := s.top.List(1 << 30)
	for i := range all {
		if n := known[all[i].Hash]; n > 0 {
			all[i].Low, all[i].High = n, n
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

// extremes are the least and greatest value.
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
	if of != nil && s.someInt {
		return of(s.minInt), of(s.maxInt)
	}
	if s.minText == nil && s.someInt && s.count[isInt] > 0 { // text that is all integers
		return strconv.FormatInt(s.minInt, 10), strconv.FormatInt(s.maxInt, 10)
	}
	if s.minText == nil && s.someInt { // text that is all times
		return time.UnixMilli(s.minInt).UTC().Format(time.RFC3339), time.UnixMilli(s.maxInt).UTC().Format(time.RFC3339)
	}
	if s.declared != nil && t.Kind == value.UUID || t.Kind == value.Blob && s.declared != nil {
		low, _ := t.Text(s.minText)
		high, _ := t.Text(s.maxText)
		return low, high
	}
	return string(s.minText), string(s.maxText)
}

// ordering is what the steps from value to value say.
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
	// Each integer once, most of those between the least and the greatest; or in the
	// order of the data, each one up from the last.
	unique := c.Distinct.High >= float64(c.Values) && c.Values > 1
	o.Sequential = unique && (o.Gaps < 0.5 || float64(s.order.one) > 0.8*n)
	return o
}

// unique says that each value is above the one before it, or each below: what is
// known of all of them, without having kept any.
func (s *state) unique() bool {
	steps := s.order.up + s.order.down
	return s.values > 0 && s.order.same == 0 && (s.order.up == 0 || s.order.down == 0) && steps == s.values-1
}

// epochNames are parts of names of columns whose integers may be times.
var epochNames = []string{"time", "date", "epoch", "created", "updated", "stamp"}

// epochUnit is how many ms a unit of a column's integers is, where they can be times
// since 1970; negative: how many units a ms is. 0: they are no times.
func epochUnit(name string, least, greatest int64) int64 {
	name = strings.ToLower(name)
	named := name == "ts" || name == "at" || strings.HasSuffix(name, "_ts") || strings.HasSuffix(name, "_at")
	for _, n := range epochNames {
		named = named || strings.Contains(name, n)
	}
	if !named {
		return 0
	}
	const from, to = 978_307_200, 4_102_444_800 // 2001 to 2100, in seconds
	switch {
	case least >= from && greatest < to:
		return 1000
	case least >= from*1000 && greatest < to*1000:
		return 1
	case least >= from*1_000_000 && greatest < to*1_000_000:
		return -1000
	}
	return 0
}

// timing is what a column says of when, nil where it says nothing.
func (s *state) timing(name string, t *value.Type) *Time {
	times := s.count[isDate] + s.count[isTimestamp] + s.count[isPeriod] + s.count[isTimeuuid]
	if s.given != nil && s.given.Kind == value.Timestamp && times == 0 && s.someInt { // integers that are declared to be times
		times = s.count[isInt]
	}
	if times == 0 {
		if t.Kind != value.Int && t.Kind != value.Bigint || !s.someInt {
			return nil
		}
		unit := epochUnit(name, s.minInt, s.maxInt)
		if unit == 0 {
			return nil
		}
		return &Time{Granularity: Second, First: time.UnixMilli(inMillis(s.minInt, unit)).UTC(), Last: time.UnixMilli(inMillis(s.maxInt, unit)).UTC()}
	}
	if float64(times) < 0.99*float64(s.values-s.empty) {
		return nil
	}
	out := &Time{Granularity: s.finest, First: time.UnixMilli(s.minInt).UTC(), Last: time.UnixMilli(s.maxInt).UTC()}
	if s.hot != nil {
		out.Hot = s.hot.periods(min(s.finest, Day))
	}
	return out
}

func inMillis(n, unit int64) int64 {
	if unit < 0 {
		return (n - floorMod(n, -unit)) / -unit
	}
	return n * unit
}

// growth is the share of the keys that has come by each tenth of the batches.
func growth[T any](s *sketch.Sample[T], batches int, first func(*T) uint32) []float64 {
	keys := s.Keys()
	if len(keys) == 0 || batches == 0 {
		return nil
	}
	tenths := make([]float64, 10)
	for _, k := range keys {
		t := (int(first(k.Of)) - 1) * 10 / batches
		tenths[min(max(t, 0), 9)]++
	}
	sum := 0.0
	for i := range tenths {
		sum += tenths[i]
		tenths[i] = sum / float64(len(keys))
	}
	return tenths
}
