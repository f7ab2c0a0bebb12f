// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestParse reads widths and refuses what is none.
func TestParse(t *testing.T) {
	for text, want := range map[string]Width{
		"1s": 1000, "90s": 90_000, "15m": 900_000, "1h": 3_600_000, "6h": 21_600_000, "1d": 86_400_000, "30d": 2_592_000_000, "1w": 604_800_000,
		"36525d": Longest,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "h", "1", "0h", "-1h", "+1h", "1.5h", "1 h", " 1h", "1H", "1y", "1mo", "1h30m", "one", "99999999999999999999d", "36526d", "1h "} {
		if w, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %s", text, w)
		} else if !strings.Contains(err.Error(), "15m, 1h or 7d") && !strings.Contains(err.Error(), "100 years") {
			t.Errorf("%q: %s", text, err)
		}
	}
}

func drawGrid(t *rapid.T) Grid {
	return Grid{Width: Width(rapid.Int64Range(1, 4000).Draw(t, "n")) * rapid.SampledFrom([]Width{Minute, Hour, Day}).Draw(t, "unit"), Shards: rapid.IntRange(1, 20).Draw(t, "shards")}
}

// TestWidths writes and reads widths.
func TestWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Width(rapid.Int64Range(1, int64(Longest/Second)).Draw(t, "seconds")) * Second
		if got, err := Parse(w.String()); err != nil || got != w {
			t.Fatalf("%d is written %s, which is %d, %v", w, w, got, err)
		}
	})
}

// TestBuckets holds the promises about buckets: each instant is within its own, buckets
// follow each other without a gap, and their places do not meet.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		ms := rapid.Int64Range(-1<<45, 1<<45).Draw(t, "ms")
		b := g.Of(ms)
		if b > g.First() && ms < g.Start(b) || b < g.Last() && ms >= g.Start(b+1) {
			t.Fatalf("%d is in bucket %d, which is from %d to %d", ms, b, g.Start(b), g.Start(b+1))
		}
		if later := ms + rapid.Int64Range(0, 1<<40).Draw(t, "later"); g.Of(later) < b {
			t.Fatalf("%d is in bucket %d, %d in %d", ms, b, later, g.Of(later))
		}
		places := g.AppendPlaces(nil, b)
		if len(places) != g.Shards {
			t.Fatalf("%d places", len(places))
		}
		for i, n := range places {
			if n != g.Place(b, i) || g.Bucket(n) != b || n > math.MaxInt32 || n < math.MinInt32 {
				t.Fatalf("shard %d of bucket %d is place %d, of bucket %d", i, b, n, g.Bucket(n))
			}
		}
		if b < g.Last() && g.Place(b+1, 0) != places[len(places)-1]+1 {
			t.Fatalf("bucket %d ends at %d, the next begins at %d", b, places[len(places)-1], g.Place(b+1, 0))
		}
	})
}

// TestExtremes looks at the buckets and places at both ends.
func TestExtremes(t *testing.T) {
	for _, g := range []Grid{{Hour, 1}, {Hour, 4}, {Minute, 16}, {36525 * Day, 10_000}} {
		for _, ms := range []int64{math.MinInt64, math.MaxInt64, 0, -1} {
			b := g.Of(ms)
			for _, n := range g.AppendPlaces(nil, b) {
				if n < math.MinInt32 || n > math.MaxInt32 || g.Bucket(n) != b {
					t.Errorf("%v: bucket %d has place %d", g, b, n)
				}
			}
		}
		if g.Of(-1) != -1 || g.Of(0) != 0 {
			t.Errorf("%v: %d, %d", g, g.Of(-1), g.Of(0))
		}
	}
}

// TestCheck refuses grids that end before 2200, and names one that does not.
func TestCheck(t *testing.T) {
	for _, g := range []Grid{{Hour, 1}, {Hour, 4}, {Minute, 1}, {Minute, 17}, {4 * Second, 1}, {Day, 10_000}, {60 * Day, 1}, {Longest, 1}} {
		if err := g.Check(); err != nil {
			t.Errorf("%v: %s", g, err)
		}
	}
	for _, g := range []Grid{{Second, 1}, {Minute, 20}, {Hour, 10_000}, {Second, 10_000}} {
		err := g.Check()
		if err == nil {
			t.Fatalf("%v is taken", g)
		}
		_, rest, _ := strings.Cut(err.Error(), "take buckets of ")
		word, _, _ := strings.Cut(rest, " ")
		w, perr := Parse(word)
		if perr != nil || (Grid{w, g.Shards}).Check() != nil {
			t.Errorf("%v: %s: %v", g, err, perr)
		}
	}
}

// valueOf serializes an instant.
func valueOf(k Kind, ms int64) []byte {
	switch k {
	case Date:
		days := ms / int64(Day)
		if ms%int64(Day) < 0 {
			days--
		}
		return binary.BigEndian.AppendUint32(nil, uint32(days+1<<31))
	case Timestamp:
		return binary.BigEndian.AppendUint64(nil, uint64(ms))
	}
	ticks := uint64(ms*10_000 + 0x01b21dd213814000)
	v := make([]byte, 16)
	binary.BigEndian.PutUint32(v, uint32(ticks))
	binary.BigEndian.PutUint16(v[4:], uint16(ticks>>32))
	binary.BigEndian.PutUint16(v[6:], uint16(ticks>>48)&0x0fff|0x1000)
	v[8] = 0x80
	return v
}

// TestValues finds the bucket of values of each kind: that of the instant that they tell.
func TestValues(t *testing.T) {
	at := time.Date(2020, 7, 10, 13, 37, 1, 500e6, time.UTC).UnixMilli()
	g := Grid{Hour, 3}
	for k, want := range map[Kind]time.Time{
		Timestamp: time.Date(2020, 7, 10, 13, 0, 0, 0, time.UTC),
		Timeuuid:  time.Date(2020, 7, 10, 13, 0, 0, 0, time.UTC),
		Date:      time.Date(2020, 7, 10, 0, 0, 0, 0, time.UTC),
	} {
		if got := g.Start(g.OfValue(k, valueOf(k, at))); got != want.UnixMilli() {
			t.Errorf("%d: %s, want %s", k, time.UnixMilli(got).UTC(), want)
		}
		for _, v := range [][]byte{nil, {}, {1}, make([]byte, 17)} {
			if _, ok := k.Instant(v); ok || g.OfValue(k, v) != g.First() {
				t.Errorf("%d: %x tells the time", k, v)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		g, k := drawGrid(t), rapid.SampledFrom([]Kind{Date, Timestamp, Timeuuid}).Draw(t, "kind")
		ms := rapid.Int64Range(-12_000_000_000_000, 1<<45).Draw(t, "ms") // a timeuuid begins in 1582
		got, ok := k.Instant(valueOf(k, ms))
		if !ok || k != Date && got != ms || k == Date && (got > ms || got <= ms-int64(Day)) {
			t.Fatalf("kind %d: %d comes back as %d", k, ms, got)
		}
		low, high := valueOf(k, ms), valueOf(k, ms+rapid.Int64Range(0, 1<<42).Draw(t, "more"))
		first, last := g.Between(k, low, high)
		if first != g.OfValue(k, low) || last != g.OfValue(k, high) || first > last {
			t.Fatalf("from %x to %x are the buckets %d to %d", low, high, first, last)
		}
		if first, last = g.Between(k, nil, nil); first != g.First() || last != g.Last() {
			t.Fatalf("all are the buckets %d to %d", first, last)
		}
	})
}

// FuzzParse checks that Parse reads back the String of each width that it accepts.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1h", "15m", "7d", "1w", "0s", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := Parse(s)
		if err != nil {
			return
		}
		if w <= 0 || w > Longest {
			t.Fatalf("%q is %d", s, w)
		}
		if again, err := Parse(w.String()); err != nil || again != w {
			t.Fatalf("%q is written %s: %v", s, w, err)
		}
		for _, ms := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
			g := Grid{w, 7}
			if b := g.Of(ms); b < g.First() || b > g.Last() {
				t.Fatalf("%d is in bucket %d", ms, b)
			}
		}
	})
}
