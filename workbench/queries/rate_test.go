// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{
		"500/s": 500, "5 per sec": 5, "5k/s": 5000, "3/min": 0.05, "2.5k/s": 2500, "1,200/min": 20, ".5/s": 0.5, "1_000/s": 1000, "5 K / s": 5000,
		"5 per second": 5, "5 a second": 5, "~500/s": 500, "about 40 req/s": 40, "peak: 12 writes per sec": 12, "1.5M/day": 1.5e6 / 86400, "2,5k/s": 2500,
		"1.000.000/day": 1e6 / 86400, "1 000 000 / day": 1e6 / 86400, "1'000/s": 1000, "300 rps": 300, "60 rpm": 1, "5kHz": 5000, "twice a minute": 2.0 / 60, "once per hour": 1.0 / 3600,
		"every 5 min": 1.0 / 300, "every second": 1, "once every 10 s": 0.1, "daily": 1.0 / 86400, "500/10s": 50, "5 per 2 minutes": 5.0 / 120, "1e3/s": 1000, "5/ms": 5000,
		"500/s # at noon": 500, "500/s at the peak, p99 5 ms": 500, "500/s, 99% from the cache": 500, "10x/min": 10.0 / 60, "7/wk": 7.0 / 604800, "0,125/s": 0.125, "0.125/s": 0.125, "5/sec.": 5,
		"3 queries/min": 0.05, "5 ops/s": 5, "100 thousand per hour": 1e5 / 3600, "2 million a day": 2e6 / 86400, "8 r/s": 8,
	} {
		got, reason := commentRate(" " + text)
		if reason != "" || math.Abs(got-want) > 1e-9*want {
			t.Errorf("%q is %g (%s), want %g", text, got, reason, want)
		}
	}
	for text, want := range map[string]string{
		"fast": `"fast" is no rate`, "500": `"500" is no rate`, "500/fortnight": `there is no unit "fortnight"`, "0/s": "a rate of 0", "5.000/s": "5.000 may be 5 or 5,000",
		"5-10/s": "the end of a range", "5 to 10 per s": "the end of a range", "5/s per device": `"5/s per device" is a rate of each`, "500/s, at night 5/s": "two rates", "1e99/s": "more than a thousand million",
		"12/Tag": `there is no unit "Tag"`, "5/0s": "by 0 of a unit",
	} {
		if got, reason := commentRate(text); !strings.Contains(reason, want) {
			t.Errorf("%q is %g (%q), want %q", text, got, reason, want)
		}
	}
	for text, want := range map[string]float64{"5000": 5000, "5k": 5000, "5,000": 5000, "1.5 M": 1.5e6, "-5": -5, "5 per sec": 5, "5k/s": 5000, "300/min": 5, "2,5": 2.5, "1e-3": 0.001} {
		if got, err := ParseRate(text); err != nil || math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%q is %g (%v), want %g", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": `"" is no rate`, "5/parsec": `no unit "parsec"`, "5.000": "may be 5 or 5,000", "fast": "is no rate", "5/s or so": "is no rate", "5 6": "is no rate", "--5": "is no rate"} {
		if got, err := ParseRate(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "500/s") {
			t.Errorf("%q is %g (%v), want %q", text, got, err, want)
		}
	}
}

// TestRatesAreReadAsWritten draws rates, writes them in one of the forms that people use, and reads
// them.
func TestRatesAreReadAsWritten(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 5))
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	group := func(n int, by string) string {
		s := fmt.Sprint(n)
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + by + s[i:]
		}
		return s
	}
	for range 20_000 {
		n, scale := 1+rnd.IntN(9_999_999), 1.0
		text := group(n, pick("", ",", "_", "'", " ", "\u202f"))
		switch rnd.IntN(4) {
		case 0:
			n = 1 + rnd.IntN(999)
			text, scale = fmt.Sprint(n)+pick("", " ")+pick("k", "K"), 1000
		case 1:
			n = 1 + rnd.IntN(999)
			text, scale = fmt.Sprintf("%d%s%d", n/10, pick(".", ","), n%10), 0.1
		}
		unit := pick("s", "sec", "Sec", "second", "min", "minute", "h", "hr", "hour", "d", "day", "Day", "week")
		rate := float64(n) * scale / units[strings.ToLower(unit)]
		text += pick("", " ", " req", " writes", " queries ", " x")
		text += pick("/", " / ", " per ", " a ", " each ") + unit + pick("", "", " at the peak", " (measured)", ", mostly from the app")
		text = pick("", " ", "about ", "~", "peak ", "rate: ", "≈") + text
		if got, reason := commentRate(text); reason != "" || math.Abs(got-rate) > 1e-9*rate {
			t.Fatalf("%q is %g (%s), want %g", text, got, reason, rate)
		}
	}
}

func FuzzRate(f *testing.F) {
	for _, s := range []string{"500/s", "5 per sec", "twice a min", "1.000.000/day", "every 5 h", "5-10/s", "µ/s 5/µs", "５/s", "hourly"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, reason := commentRate(text); (reason == "") != (n > 0) || n > maxRate {
			t.Fatalf("%q: %g, %q", text, n, reason)
		}
		if n, err := ParseRate(text); err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			t.Fatalf("%q: %g", text, n)
		}
		last := 0
		for _, r := range findRates(text) {
			if r.from < last || r.to <= r.from || r.to > len(text) {
				t.Fatalf("%q: %+v", text, r)
			}
			last = r.to
		}
	})
}
