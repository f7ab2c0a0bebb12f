// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTexts says which texts tell a time, and which one.
func TestTexts(t *testing.T) {
	at := func(s string) int64 {
		when, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return when.Truncate(time.Second).UnixMilli()
	}
	for text, want := range map[string]string{
		"2020-07-10T13:37:01Z": "2020-07-10T13:37:01Z", "2020-07-10T13:37:01.5Z": "2020-07-10T13:37:01Z", "2020-07-10T13:37:01.123456789Z#id": "2020-07-10T13:37:01Z",
		"2020-07-10T13:37:01+00:00": "2020-07-10T13:37:01Z", "2020-07-10T13:37:01.25+00:00/x": "2020-07-10T13:37:01Z", "0000-01-01T00:00:00Z": "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z", "2024-02-29T00:00:00Z": "2024-02-29T00:00:00Z", "2000-02-29T00:00:00Z": "2000-02-29T00:00:00Z", "1969-12-31T23:59:59Zü": "1969-12-31T23:59:59Z",
	} {
		for _, k := range []Kind{DateTime, DateText} {
			if ms, ok := k.Instant([]byte(text)); !ok || ms != at(want) {
				t.Errorf("%d: %s: %d, %t, not %d", k, text, ms, ok, at(want))
			}
		}
	}
	for _, text := range []string{
		"", "2020", "2020-07-10T13:37", "2020-07-10T13:37:01", "2020-07-10T13:37:01.Z", "2020-07-10T13:37:01.5", "2020-07-10T13:37:01,5Z", "2020-07-10T13:37:01z", "2020-07-10t13:37:01Z",
		"2020-07-10 13:37:01Z", "2020-07-10T13:37:01+02:00", "2020-07-10T13:37:01-00:00", "2020-07-10T13:37:60Z", "2020-07-10T24:00:00Z", "2020-13-10T13:37:01Z", "2020-00-10T13:37:01Z",
		"2020-02-30T13:37:01Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2020-07-00T13:37:01Z", "20200710T133701Z", "-2020-07-10T13:37:01Z", "12020-07-10T13:37:01Z", "１２３４-07-10T13:37:01Z", "x",
	} {
		for _, k := range []Kind{DateTime, DateText} {
			if ms, ok := k.Instant([]byte(text)); ok {
				t.Errorf("%d: %q tells the time %d", k, text, ms)
			}
		}
	}
	for text, is := range map[string]bool{"2020-07-10": true, "2020-07-10#id": true, "2020-07-10~": true, "2020-07-101": false, "2020-07-10T": false, "2020-07-10 1": false, "2020-07-1": false, "2020-07-32": false} {
		if ms, ok := DateText.Instant([]byte(text)); ok != is || ok && (Grid{Day, 1}).Of(ms) != (Grid{Day, 1}).Of(at("2020-07-10T00:00:00Z")) {
			t.Errorf("%q: %d, %t", text, ms, ok)
		}
		if _, ok := DateTime.Instant([]byte(text)); ok {
			t.Errorf("%q tells a time", text)
		}
	}
}

// TestTextsOfTheCalendar checks the time of each text.
func TestTextsOfTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(earliest/1000, latest/1000).Draw(t, "seconds") * 1000
		text := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05") + rapid.SampledFrom([]string{"Z", "+00:00", ".1Z", ".999Z#1", "Z\x00", "Z" + "\U0010ffff"}).Draw(t, "rest")
		if got, ok := DateTime.Instant([]byte(text)); !ok || got != ms {
			t.Fatalf("%s: %d, %t, not %d", text, got, ok, ms)
		}
	})
}

// textNear draws a text like a time, and others that a range of keys may have as a bound.
func textNear(t *rapid.T, label string) string {
	ms := rapid.Int64Range(1_577_836_800, 1_609_459_199).Draw(t, label+" seconds") * 1000
	text := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05")
	text += rapid.SampledFrom([]string{"Z", ".5Z", "+00:00", "Z#a", ""}).Draw(t, label+" rest")
	for range rapid.IntRange(0, 2).Draw(t, label+" changes") {
		at := rapid.IntRange(0, len(text)).Draw(t, label+" at")
		c := rapid.SampledFrom([]string{"", "0", "3", "9", "-", "T", "Z", "~", "\x00", "ü", "\U0010ffff", " ", ":"}).Draw(t, label+" character")
		if at < len(text) && rapid.Bool().Draw(t, label+" cut") {
			text = text[:at] + c
		} else if at < len(text) {
			text = text[:at] + c + text[at+1:]
		}
	}
	return text
}

// TestTextsKeepTheOrder checks that a later text is in the same bucket or a later one, whether it
// is a time or not. The bucket of a bound must be as near as possible to those of the times next to
// it.
func TestTextsKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := textNear(t, "a"), textNear(t, "b")
		if a > b {
			a, b = b, a
		}
		k := rapid.SampledFrom([]Kind{DateTime, DateText}).Draw(t, "kind")
		x, _ := k.Instant([]byte(a))
		y, _ := k.Instant([]byte(b))
		if x > y {
			t.Fatalf("%q is at %d, and %q, which comes later, at %d", a, x, b, y)
		}
	})
}

// TestBoundsAreNear checks which buckets of an hour some bounds allow.
func TestBoundsAreNear(t *testing.T) {
	hours := func(low, high string) int64 {
		first, last := (Grid{Hour, 4}).Between(DateTime, []byte(low), []byte(high))
		return last - first + 1
	}
	for _, c := range []struct {
		low, high string
		want      int64
	}{
		{"2026-11-25T10:00:00Z", "2026-11-25T11:59:59Z", 2},
		{"2026-11-25T10:00", "2026-11-25T12:00", 3},
		{"2026-11-25T10", "2026-11-25T10" + "\U0010ffff", 1},
		{"2026-11-25", "2026-11-25~", 24},
		{"2026-11", "2026-11~", 30 * 24},
		{"2026-02", "2026-02~", 28 * 24},
		{"2026-1", "2026-1~", 92 * 24},
		{"2026", "2026~", 365 * 24},
		{"2026-11-31", "2026-12-01T00:30", 2},
		{"2026-11-25T25", "2026-11-26T00:30", 2},
		{"2026-11-25T10:00:00Z#a", "2026-11-25T10:00:00Z#b", 1},
	} {
		if n := hours(c.low, c.high); n != c.want {
			t.Errorf("from %q to %q are %d buckets, not %d", c.low, c.high, n, c.want)
		}
	}
}

// TestNumbers checks that the time of a number is its value, rounded down, and that numbers beyond
// all years keep the order.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]struct {
		ms int64
		ok bool
	}{
		"0": {0, true}, "1": {1000, true}, "-1": {-1000, true}, "1.5": {1500, true}, "-1.5": {-1500, true}, "1.0009": {1000, true}, "-1.0009": {-1001, true}, "-0.0001": {-1, true},
		"1732530000.123456": {1732530000123, true}, "253402300799.999": {latest, true}, "253402300800": {latest + 1, false}, "-62167219200": {earliest, true}, "-62167219200.001": {earliest - 1, false},
		"": {math.MinInt64, false}, "-": {math.MinInt64, false}, "1x": {math.MinInt64, false}, "1.x": {math.MinInt64, false}, ".5": {math.MinInt64, false},
	} {
		if ms, ok := Seconds.Instant([]byte(text)); ms != want.ms || ok != want.ok {
			t.Errorf("%q: %d, %t, not %d, %t", text, ms, ok, want.ms, want.ok)
		}
	}
	if ms, ok := Milliseconds.Instant([]byte("1732530000123.9")); ms != 1732530000123 || !ok {
		t.Errorf("%d, %t", ms, ok)
	}
	draw := func(t *rapid.T, label string) string {
		text := strconv.FormatInt(rapid.Int64Range(-1<<40, 1<<40).Draw(t, label), 10)
		if rapid.IntRange(0, 5).Draw(t, label+" large") == 0 {
			text += fmt.Sprintf("%0*d", rapid.IntRange(1, 120).Draw(t, label+" zeros"), 0)
		}
		if rapid.Bool().Draw(t, label+" broken") {
			text += "." + strconv.Itoa(rapid.IntRange(1, 99999).Draw(t, label+" fraction"))
		}
		return text
	}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]Kind{Seconds, Milliseconds}).Draw(t, "kind")
		texts := []string{draw(t, "a"), draw(t, "b")}
		slices.SortFunc(texts, func(x, y string) int {
			a, _ := new(big.Rat).SetString(x)
			b, _ := new(big.Rat).SetString(y)
			return a.Cmp(b)
		})
		x, ok := k.Instant([]byte(texts[0]))
		y, _ := k.Instant([]byte(texts[1]))
		if x > y {
			t.Fatalf("%s is at %d, and %s, which is more, at %d", texts[0], x, texts[1], y)
		}
		value, _ := new(big.Rat).SetString(texts[0])
		if k == Seconds {
			value.Mul(value, big.NewRat(1000, 1))
		}
		floor := new(big.Int).Div(value.Num(), value.Denom()) // Euclidean, of a positive denominator
		if ok && floor.Int64() != x || ok != (floor.Cmp(big.NewInt(earliest)) >= 0 && floor.Cmp(big.NewInt(latest)) <= 0) {
			t.Fatalf("%s is at %d, %t, not %s", texts[0], x, ok, floor)
		}
	})
}

// FuzzTexts checks that no text has a time beyond the years 0000 to 9999, and that the beginning of
// a text does not come after the text.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"2020-07-10T13:37:01Z", "2020-07-10", "", "9999-99-99T99:99:99Z", "0000-00-00", "~"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		ms, _ := DateTime.Instant([]byte(s))
		if ms < earliest || ms > latest {
			t.Fatalf("%q is at %d", s, ms)
		}
		if n = max(0, min(n, len(s))); n < len(s) {
			if before, _ := DateTime.Instant([]byte(s[:n])); before > ms {
				t.Fatalf("%q is at %d, and %q before it at %d", s, ms, s[:n], before)
			}
		}
	})
}

// TestLeast holds that a value is at or above the least one of a bucket exactly if it is in that bucket
// or in a later one, whether it tells a time or not.
func TestLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Grid{Width(rapid.SampledFrom([]time.Duration{90 * time.Second, 15 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 400 * 24 * time.Hour}).Draw(t, "width").Milliseconds()), 3}
		k := rapid.SampledFrom([]Kind{DateTime, DateText, Seconds, Milliseconds}).Draw(t, "kind")
		at := rapid.Int64Range(earliest/1000, latest/1000).Draw(t, "seconds") * 1000
		if rapid.Bool().Draw(t, "at the beginning of a day, month or year") {
			when := time.UnixMilli(at).UTC()
			at = time.Date(when.Year(), rapid.SampledFrom([]time.Month{1, when.Month()}).Draw(t, "month"), rapid.SampledFrom([]int{1, when.Day()}).Draw(t, "day"), 0, 0, 0, 0, time.UTC).UnixMilli()
		}
		b := g.Of(at)
		if b <= g.Of(earliest) {
			return
		}
		least := g.Least(k, b)
		if g.OfValue(k, least) < b {
			t.Fatalf("%q is in bucket %d, not in %d", least, g.OfValue(k, least), b)
		}
		if k == Seconds || k == Milliseconds {
			unit := map[Kind]int64{Seconds: 1000, Milliseconds: 1}[k]
			start, ok := new(big.Rat).SetString(string(least))
			if !ok {
				t.Fatalf("%q is no number", least)
			}
			n := new(big.Rat).Add(start, big.NewRat(rapid.Int64Range(-3, 3).Draw(t, "near"), rapid.SampledFrom([]int64{1, 8, 1_000_000}).Draw(t, "part")))
			if rapid.Bool().Draw(t, "anywhere") {
				n.SetInt64(rapid.Int64Range(earliest/unit-10, latest/unit+10).Draw(t, "number"))
			}
			text := strings.TrimSuffix(strings.TrimRight(n.FloatString(9), "0"), ".")
			if above := n.Cmp(start) >= 0; above != (g.OfValue(k, []byte(text)) >= b) {
				t.Fatalf("%s is in bucket %d; %s is the least of bucket %d", text, g.OfValue(k, []byte(text)), least, b)
			}
			return
		}
		text := time.UnixMilli(at+rapid.Int64Range(-100, 100).Draw(t, "near")*rapid.SampledFrom([]int64{1000, 60_000, int64(g.Width)}).Draw(t, "by")).UTC().Format("2006-01-02T15:04:05") + "Z"
		if len(text) > 20 { // a year before 0000 or after 9999
			return
		}
		text = text[:rapid.IntRange(0, len(text)).Draw(t, "cut")] + rapid.SampledFrom([]string{"", "", "0", "3", "9", "-", "T", "Z", "~", "\x00", "ü", "\U0010ffff", " ", ":", "/"}).Draw(t, "end")
		if rapid.Bool().Draw(t, "any text") {
			text = textNear(t, "text")
		}
		if (text >= string(least)) != (g.OfValue(k, []byte(text)) >= b) {
			t.Fatalf("%q is in bucket %d; %q is the least of bucket %d", text, g.OfValue(k, []byte(text)), least, b)
		}
	})
}
