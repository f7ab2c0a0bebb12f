// SPDX-License-Identifier: Apache-2.0

package timeid

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestTexts reads ids whose times their makers' documents give.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		text string
		kind Kind
		at   string
	}{
		{"01ARYZ6S41TSV4RRFFQ69G5FAV", ULID, "2016-07-30T22:36:16.385Z"},
		{"01aryz6s41tsv4rrffq69g5fav", ULID, "2016-07-30T22:36:16.385Z"},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", UUID7, "2022-02-22T19:22:22Z"},
		{"1EC9414C-232A-6B00-B3C8-9F6BDECED846", UUID6, "2022-02-22T19:22:22Z"},
		{"507f1f77bcf86cd799439011", ObjectID, "2012-10-17T21:13:27Z"},
		{"0ujtsYcgvSTl8PAuAdqWYSMnLOv", KSUID, "2017-10-10T04:00:47Z"},
		{"9m4e2mr0ui3e8a215n4g", XID, "2011-03-22T17:50:19Z"},
		{"c232ab00-9414-11ec-b3c8-9f6bdeced846", None, ""}, // version 1: a timeuuid
		{"f81d4fae-7dec-41d0-a765-00a0c91e6bf6", None, ""}, // version 4
		{"00000000000000000000000000", None, ""},           // 1970
		{"01ARYZ6S41TSV4RRFFQ69G5FAU", None, ""},           // no U in this alphabet
		{"ffffffffffffffffffffffff", None, ""},             // 2106
		{"507f1f77bcf86cd79943901g", None, ""},
		{"zzzzzzzzzzzzzzzzzzzzzzzzzzz", None, ""}, // more than 160 bits
		{"", None, ""},
	} {
		kind := KindOf([]byte(c.text))
		if kind != c.kind {
			t.Errorf("%s is %q, want %q", c.text, kind, c.kind)
			continue
		}
		if ms, ok := kind.Time([]byte(c.text)); ok != (c.kind != None) || ok && time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z") != c.at {
			t.Errorf("%s: %s, %t, want %s", c.text, time.UnixMilli(ms).UTC(), ok, c.at)
		}
	}
}

// made returns numbers of a layout, and the times that they hold.
func made(rng *rand.Rand, l Layout, n int, first time.Time, span time.Duration, low func() int64) (*Numbers, Span) {
	var x Numbers
	s := Span{1 << 62, 0}
	for range n {
		at := first.UnixMilli() + rng.Int64N(span.Milliseconds())
		x.Add((at-l.Epoch)/l.Step<<l.Shift | low()&(1<<l.Shift-1))
		s.First, s.Last = min(s.First, at), max(s.Last, at)
	}
	return &x, s
}

// TestNumbers finds the layout of drawn Snowflake numbers, with a column of time beside them and
// without.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for range 200 {
		l := Layout{Shift: 22, Step: 1, Epoch: epochs[1+rng.IntN(2)]}
		beside := rng.IntN(2) == 0
		if beside {
			l = Layout{Shift: uint(14 + rng.IntN(10)), Step: 1, Epoch: int64(rng.IntN(17_000)) * 86_400_000}
			switch rng.IntN(4) {
			case 0:
				l.Step, l.Shift = 10, 24
			case 1:
				l.Step, l.Shift = 1000, 32
			}
		}
		machines := 1 + rng.Int64N(32)
		low := func() int64 { return rng.Int64N(machines)<<12 | rng.Int64N(1+rng.Int64N(4096)) }
		if beside {
			low = rng.Int64
		}
		first := time.Date(2020+rng.IntN(6), time.Month(1+rng.IntN(12)), 3, 4, 5, 6, 0, time.UTC)
		x, s := made(rng, l, 400+rng.IntN(4000), first, time.Duration(1+rng.IntN(400))*24*time.Hour, low)
		if x.Min < Least {
			continue // a young epoch of few bits
		}
		var spans []Span
		if beside {
			late := rng.Int64N(5000) // the row is written a little after its id is made
			spans = []Span{{0, 1_500_000_000_000}, {s.First + late, s.Last + late}}
		}
		got, ok := x.Layout(spans)
		switch {
		case !ok:
			t.Fatalf("%+v from %s on: no layout, beside %t, %d to %d", l, first, beside, x.Min, x.Max)
		case beside && (got.Shift != l.Shift || got.Step != l.Step || got.Epoch != l.Epoch || !got.Sure):
			t.Fatalf("%+v: got %+v", l, got)
		case !beside && (got.Shift != 22 || got.Step != 1 || got.Sure):
			t.Fatalf("%+v: got %+v", l, got)
		}
	}
}

// TestOtherNumbers finds no layout in numbers of other kinds.
func TestOtherNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	day := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	at := func() int64 { return day.UnixMilli() + rng.Int64N(30*86_400_000) }
	beside := []Span{{day.UnixMilli(), day.UnixMilli() + 30*86_400_000}}
	next := int64(0)
	for name, draw := range map[string]func() int64{
		"64 random bits":           func() int64 { return rng.Int64()&(1<<62) | rng.Int64() },
		"nanoseconds":              func() int64 { return at()*1_000_000 + rng.Int64N(1_000_000) },
		"nanoseconds, whole ms":    func() int64 { return at() * 1_000_000 },
		"nanoseconds, whole s":     func() int64 { return at() / 1000 * 1_000_000_000 },
		"microseconds":             func() int64 { return at() * 1000 },
		"a sequence":               func() int64 { next++; return 1<<60 + next },
		"a sequence in steps":      func() int64 { next += 1000; return 1<<60 + next },
		"a sequence behind a date": func() int64 { next++; return (20240301+rng.Int64N(30))*10_000_000_000 + next%10_000 },
		"cards":                    func() int64 { return 4_000_000_000_000_000 + rng.Int64N(1_000_000_000_000_000) },
		"amounts in 10^-18":        func() int64 { return rng.Int64N(900) * 10_000_000_000_000_000 },
		"few values":               func() int64 { return 1<<60 + rng.Int64N(5)<<40 },
	} {
		for _, spans := range [][]Span{nil, beside} {
			var x Numbers
			for range 3000 {
				if n := draw(); n >= Least {
					x.Add(n)
				}
			}
			if l, ok := x.Layout(spans); ok {
				t.Errorf("%s (with %d columns of time): %+v", name, len(spans), l)
			}
		}
	}
}

// TestMerge counts in two parts what one counts.
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var whole, a, b Numbers
	for i := range 1000 {
		n := Least + rng.Int64N(1<<60)
		whole.Add(n)
		if i%3 == 0 {
			a.Add(n)
		} else {
			b.Add(n)
		}
	}
	a.Merge(&b)
	a.Merge(&Numbers{})
	if a != whole {
		t.Error("the parts differ from the whole")
	}
}
