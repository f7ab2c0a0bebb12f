// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// times are the sort keys of a history on a table with buckets of time: few, so that requests meet,
// and near the bounds of buckets.
type times struct {
	kind   string // S or N
	width  time.Duration
	unit   time.Duration
	keys   []string
	bounds []string // further values, which tell no time or only the beginning of one
}

func (x *times) key(t *rapid.T, label string) string {
	return fmt.Sprintf(`{"%s":"%s"}`, x.kind, rapid.SampledFrom(x.keys).Draw(t, label))
}

func (x *times) bound(t *rapid.T, label string) string {
	from := x.keys
	if rapid.Bool().Draw(t, label+" is no key") {
		from = x.bounds
	}
	return fmt.Sprintf(`{"%s":"%s"}`, x.kind, rapid.SampledFrom(from).Draw(t, label))
}

// timed makes a history one on a table with buckets of time, and returns the table's tag.
func timed(h *history, shards int) string {
	h.local = false // such tables have none
	h.sort = rapid.SampledFrom([]string{"S", "N"}).Draw(h.t, "sort")
	width := rapid.SampledFrom([]time.Duration{90 * time.Second, 15 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}).Draw(h.t, "bucket")
	unit := rapid.SampledFrom([]time.Duration{time.Second, time.Millisecond}).Draw(h.t, "unit")
	x := &times{kind: h.sort, width: width, unit: unit}
	tag := x.tag(width, shards)
	if rapid.Bool().Draw(h.t, "named") {
		tag += " by=r"
	}
	base := time.Unix(rapid.Int64Range(-62_000_000_000, 250_000_000_000).Draw(h.t, "base"), 0).UTC()
	if rapid.Bool().Draw(h.t, "today") {
		base = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	}
	base = time.UnixMilli(base.UnixMilli() / width.Milliseconds() * width.Milliseconds()).UTC()
	if rapid.IntRange(0, 3).Draw(h.t, "around 1970") == 0 {
		base = time.Unix(0, 0).UTC()
	}
	for range 8 {
		at := base.Add(time.Duration(rapid.SampledFrom([]int{-9, -1, 0, 0, 1, 2, 3, 11}).Draw(h.t, "bucket of the key")) * width)
		at = at.Add(rapid.SampledFrom([]time.Duration{0, 0, time.Second, width - time.Second, width - time.Millisecond, width / 3}).Draw(h.t, "in the bucket"))
		x.keys = append(x.keys, x.write(h, at, unit, width%(24*time.Hour) == 0))
		if text := x.write(h, at, unit, false); h.sort == "S" {
			x.bounds = append(x.bounds, text[:rapid.IntRange(1, len(text)).Draw(h.t, "cut")], text[:rapid.IntRange(1, len(text)).Draw(h.t, "cut")]+"~")
		}
	}
	if h.sort == "S" {
		x.keys = append(x.keys, "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z")
		x.bounds = append(x.bounds, "0", "~", "ü", "2026-02-31", "2026-13", "2026-11-25T25", "x", "-1")
	} else {
		x.keys = append(x.keys, strconv.FormatInt(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()/unit.Milliseconds(), 10), "0", "1e9", "-0.5", "1000000000.0")
		x.bounds = append(x.bounds, "1e20", "-1e30", "1e125", "-1e-100", "1e-100", "253402300800000", "99999999999999999999999999999999999999")
	}
	h.times = x
	return tag
}

// tag is the tag of a table with buckets of a width.
func (x *times) tag(width time.Duration, shards int) string {
	tag := fmt.Sprintf("strategy=time bucket=%ds shards=%d", width/time.Second, shards)
	if x.kind == "N" {
		tag += " unit=" + map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[x.unit]
	}
	return tag
}

// widthsFor are widths of buckets for sort keys that were drawn for a width: dates alone are only for
// buckets of whole days.
func widthsFor(width time.Duration) []time.Duration {
	const day = 24 * time.Hour
	if width%day == 0 {
		return []time.Duration{day, 3 * day, 7 * day}
	}
	return []time.Duration{width, 90 * time.Second, 15 * time.Minute, time.Hour, 2 * time.Hour, day}
}

// write writes a time as a sort key.
func (x *times) write(h *history, at time.Time, unit time.Duration, dates bool) string {
	if x.kind == "N" {
		text := strconv.FormatInt(at.UnixMilli()/unit.Milliseconds(), 10)
		if at.UnixMilli() >= 0 && h.chance("fraction") {
			text += ".25"
		}
		return text
	}
	forms := []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.999999Z", "2006-01-02T15:04:05+00:00"}
	if dates {
		forms = append(forms, "2006-01-02", "2006-01-02")
	}
	return at.Format(rapid.SampledFrom(forms).Draw(h.t, "form")) + rapid.SampledFrom([]string{"", "", "#a", "#b", "~"}).Draw(h.t, "suffix")
}

// TestLawOfTime is TestLaw for tables with buckets of time.
func TestLawOfTime(t *testing.T) {
	for _, c := range []struct{ shards, fanout int }{{1, 1}, {3, 1}, {3, 8}, {16, 4}} {
		t.Run(fmt.Sprintf("shards=%d,fanout=%d", c.shards, c.fanout), func(t *testing.T) {
			lawfulAs(t, engineDoor(t, 1), engineDoor(t, c.fanout), c.shards, false, func(h *history) string { return timed(h, c.shards) })
		})
	}
}

// TestLawOfTimeInFront is TestLawOfTime with doors in front of another evenkeel, and of dynalite.
func TestLawOfTimeInFront(t *testing.T) {
	t.Run("evenkeel,shards=3,fleet=3", func(t *testing.T) {
		lawfulAs(t, engineDoor(t, 1), fleetOf(t, bareDoor(t), 3, 4), 3, false, func(h *history) string { return timed(h, 3) })
	})
	t.Run("dynalite,shards=2,fleet=2", func(t *testing.T) {
		lawfulAs(t, judge(t), fleetOf(t, judge(t), 2, 8), 2, true, func(h *history) string { return timed(h, 2) })
	})
}
