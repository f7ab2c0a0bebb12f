// SPDX-License-Identifier: Apache-2.0

package datetime

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"15.03.2024 10:30": "2024-03-15T10:30:00Z D", "15.3.2024": "2024-03-15T00:00:00Z D", "15. 3. 2024": "2024-03-15T00:00:00Z D", "15/03/2024 10:30:05": "2024-03-15T10:30:05Z D", "03/15/2024": "2024-03-15T00:00:00Z M",
		"3/15/24 1:05 PM": "2024-03-15T13:05:00Z M", "3/4/2024": "2024-04-03T00:00:00Z ?", "05-06-2024": "2024-06-05T00:00:00Z ?", "5/5/2024": "2024-05-05T00:00:00Z =",
		"2024/03/15 10:30": "2024-03-15T10:30:00Z", "2024.03.15": "2024-03-15T00:00:00Z", "2024-03-15T10:30:05,123+01:00": "2024-03-15T09:30:05.123Z", "20240315T103005Z": "2024-03-15T10:30:05Z", "20240315 1030": "2024-03-15T10:30:00Z",
		"2024-03-15-10.30.05.123456": "2024-03-15T10:30:05.123456Z", "2024-03-15_10:30:05": "2024-03-15T10:30:05Z", "2024-03-15 10:30:05.123456789 UTC": "2024-03-15T10:30:05.123456789Z",
		"15 Mar 2024": "2024-03-15T00:00:00Z", "15-Mar-24": "2024-03-15T00:00:00Z", "15Mar2024:10:30:05": "2024-03-15T10:30:05Z", "15/Mar/2024:10:30:05 +0200": "2024-03-15T08:30:05Z", "Mar 15, 2024": "2024-03-15T00:00:00Z", "March 15th, 2024 at 3 pm": "2024-03-15T15:00:00Z",
		"Fri, 15 Mar 2024 10:30:05 GMT": "2024-03-15T10:30:05Z", "Fri Mar 15 10:30:05 2024": "2024-03-15T10:30:05Z", "Fri Mar 15 10:30:05 CET 2024": "2024-03-15T09:30:05Z", "Fri Mar 15 2024 10:30:05 GMT+0100 (CET)": "2024-03-15T09:30:05Z",
		"15. März 2024": "2024-03-15T00:00:00Z", "Freitag, 15. März 2024, 10:30 Uhr": "2024-03-15T10:30:00Z", "15 mars 2024 à 10h30": "2024-03-15T10:30:00Z", "vendredi 15 mars 2024": "2024-03-15T00:00:00Z", "15 de marzo de 2024": "2024-03-15T00:00:00Z", "15 марта 2024 г.": "2024-03-15T00:00:00Z",
		"2024. március 15.": "2024-03-15T00:00:00Z", "15 Mart 2024": "2024-03-15T00:00:00Z", "2024年3月15日 10:30": "2024-03-15T10:30:00Z", "2024年3月15日 下午3时30分": "2024-03-15T15:30:00Z", "15. maaliskuuta 2024 klo 10.30": "2024-03-15T10:30:00Z",
		"10:30 15.03.2024": "2024-03-15T10:30:00Z D", "10:30:05, 15 March 2024": "2024-03-15T10:30:05Z", "2024-03": "2024-03-01T00:00:00Z", "03/2024": "2024-03-01T00:00:00Z", "Mar 2024": "2024-03-01T00:00:00Z", "2024-03-15T10": "2024-03-15T10:00:00Z",
		"99/03/15": "1999-03-15T00:00:00Z", "31/12/69": "1969-12-31T00:00:00Z D", "12/31/68": "2068-12-31T00:00:00Z M", "2024-03-15 12:30 AM": "2024-03-15T00:30:00Z", "2024-03-15 12:30 p.m.": "2024-03-15T12:30:00Z", "2024-03-15T10:30:00+01:00[Europe/Berlin]": "2024-03-15T09:30:00Z",
		"29.02.2024": "2024-02-29T00:00:00Z D", "mar 15 mars 2024": "2024-03-15T00:00:00Z", "2024\u00a003\u00a015": "2024-03-15T00:00:00Z", "03/15/2024 10:30:05.5 EST": "2024-03-15T15:30:05.5Z M",
	} {
		v, ok := Parse([]byte(text))
		got := time.UnixMilli(v.Ms).Add(time.Duration(v.Nanos)).UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
		if v.Numeric {
			got += " " + map[Evidence]string{DayFirst: "D", MonthFirst: "M", Either: "?"}[v.Evidence]
			if v.Evidence == Either && v.Other == v.Ms {
				got = strings.TrimSuffix(got, "?") + "="
			}
		}
		if !ok || got != want {
			t.Errorf("%q is %s (%t), want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "hello", "12345678", "1.2.03", "1.10.25", "1-2-03", "30.02.2023", "13/13/2024", "2024-13-01", "15.03.2024 25:00", "15.03.2024 10:61", "10:30", "Mar 15", "May", "24/7/365", "1/2", "15.03/2024", "15.03-2024",
		"2024-03-15 10:30 IST", "3 pm", "15.03.2024 13:00 PM", "192.168.10.12", "AB-12-2024", "2024-03-15x", "15.03.20245", "1/2/3/2024", "12 monkeys 2024", "15.03.1024", "2024-1", "mon tue 2024", "31.04.2024", "Q1 2024", "15,03,2024",
	} {
		if v, ok := Parse([]byte(text)); ok {
			t.Errorf("%q is taken for %s", text, time.UnixMilli(v.Ms).UTC())
		}
	}
}

func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"15.03.2024 10:30": "dd.mm.yyyy hh:mm", "Fri, 15 Mar 2024 10:30:05 +0100": "weekday, dd month yyyy hh:mm:ss zone", "2024-03-15-10.30.05.123": "yyyy-mm-dd-hh.mm.ss.fff", "3/15/24 1:05 PM": "dd/mm/yy hh:mm am/pm",
		"20240315T103005Z": "yyyymmddThhmmsszone", "hello": "",
	} {
		if got := Describe([]byte(text), false); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
	if got := Describe([]byte("3/15/24"), true); got != "mm/dd/yy" {
		t.Error(got)
	}
}

// writer writes times in one way.
type writer struct {
	layout string // of package time
	names  []string
	upper  bool
}

// languages holds names of months by number in several languages; not all that the package knows,
// and some without accents.
var languages = [][]string{
	nil, nil, nil,
	{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
	{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	{"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"},
	{"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia", "września", "października", "listopada", "grudnia"},
	{"ocak", "şubat", "mart", "nisan", "mayıs", "haziran", "temmuz", "ağustos", "eylül", "ekim", "kasım", "aralık"},
	{"янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"},
}

func drawWriter(r *rand.Rand) writer {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	sep := pick("/", "-", ".")
	date := pick("02"+sep+"01"+sep+"2006", "01"+sep+"02"+sep+"2006", "2006"+sep+"01"+sep+"02", "2"+sep+"1"+sep+"2006", "1/2/2006", "01/02/06", "02.01.06", "2 January 2006", "Jan 2, 2006", "02-Jan-2006", "2. January 2006", "20060102T", "2 de January de 2006", "2006-Jan-02")
	clock := pick("", " 15:04", " 15:04:05", " 3:04 PM", ", 15:04:05", " 15:04:05.000", " 15:04:05.000000", "T15:04:05", " 03:04:05 PM", " 15.04", " 15:04:05,000")
	if strings.HasSuffix(date, "T") {
		clock = pick("150405", "1504")
	}
	zone := ""
	if clock != "" {
		zone = pick("", "", "", "Z07:00", " -0700", " UTC", " -07:00")
		if strings.Contains(clock, "PM") && zone == "Z07:00" {
			zone = " -0700"
		}
	}
	day := ""
	if r.IntN(6) == 0 && !strings.HasPrefix(date, "20060102") {
		day = pick("Mon, ", "Monday ")
	}
	return writer{layout: day + date + clock + zone, names: languages[r.IntN(len(languages))], upper: r.IntN(8) == 0}
}

func (w writer) write(at time.Time) string {
	layout := w.layout
	if w.names != nil {
		name := w.names[at.Month()-1]
		layout = strings.ReplaceAll(strings.ReplaceAll(layout, "January", "@"), "Jan", "@")
		return w.cased(strings.ReplaceAll(at.Format(layout), "@", name))
	}
	return w.cased(at.Format(layout))
}

func (w writer) cased(s string) string {
	if w.upper {
		return strings.ToUpper(s)
	}
	return s
}

// precise returns what a layout keeps of a time, in its zone.
func (w writer) precise(at time.Time) time.Time {
	switch {
	case strings.Contains(w.layout, ".000000"):
		at = at.Truncate(time.Microsecond)
	case strings.Contains(w.layout, "000"):
		at = at.Truncate(time.Millisecond)
	case strings.Contains(w.layout, "05"):
		at = at.Truncate(time.Second)
	case strings.Contains(w.layout, "04"):
		at = at.Truncate(time.Minute)
	default:
		_, offset := at.Zone()
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		if strings.Contains(w.layout, "07") {
			day = day.Add(-time.Duration(offset) * time.Second)
		}
		return day
	}
	if !strings.Contains(w.layout, "07") { // the text does not show the zone
		_, offset := at.Zone()
		at = at.Add(time.Duration(offset) * time.Second)
	}
	return at.UTC()
}

// TestDrawnLayouts checks that whatever layout is drawn, its text is read to the time that the
// layout keeps; in two ways if the order of day and month is open.
func TestDrawnLayouts(t *testing.T) {
	for seed := range uint64(40_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := drawWriter(r)
		at := time.Date(1970+r.IntN(70), 1, 1, 0, 0, 0, r.IntN(1e9), time.FixedZone("", 900*(r.IntN(80)-40))).Add(time.Duration(r.Int64N(366 * 86400 * 1e9)))
		if strings.Contains(w.layout, "06") && !strings.Contains(w.layout, "2006") && at.Year() < 1970 {
			continue
		}
		if strings.Contains(w.layout, "UTC") {
			at = at.UTC()
		}
		text := w.write(at)
		v, ok := Parse([]byte(text))
		want := w.precise(at)
		got := time.UnixMilli(v.Ms).Add(time.Duration(v.Nanos)).UTC()
		other := time.UnixMilli(v.Other).Add(time.Duration(v.Nanos)).UTC()
		monthFirst := strings.Contains(w.layout, "1/2/2006") || strings.Contains(w.layout, "01/02/06") || strings.Contains(w.layout, "01"+w.layout[max(0, strings.Index(w.layout, "02")-1):][:1]+"02") && !strings.HasPrefix(w.layout, "2006")
		if monthFirst && v.Numeric {
			got = other
		}
		if !ok || !got.Equal(want) {
			t.Fatalf("seed %d: %q (%s) is %s or %s (%t), want %s", seed, text, w.layout, got, other, ok, want)
		}
		if d := Describe([]byte(text), monthFirst); d == "" {
			t.Fatalf("%q has no description", text)
		}
	}
}

// TestYearlySorts checks what Yearly promises: texts of one layout sort in the order of their
// times.
func TestYearlySorts(t *testing.T) {
	sorted, other := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := drawWriter(r)
		var texts []string
		var values []Value
		for range 40 {
			at := time.Date(2020+r.IntN(3), 1, 1, 0, 0, 0, r.IntN(1e9), time.UTC).Add(time.Duration(r.Int64N(366 * 86400 * 1e9)))
			text := w.write(at)
			v, ok := Parse([]byte(text))
			if !ok {
				t.Fatalf("%q", text)
			}
			texts, values = append(texts, text), append(values, v)
		}
		for i := range texts {
			if values[i].Layout != values[0].Layout && w.names == nil {
				t.Fatalf("%q and %q are not written alike", texts[0], texts[i])
			}
			if !values[i].Yearly {
				other++
				continue
			}
			sorted++
			for j := range i {
				if values[j].Yearly && values[j].Layout == values[i].Layout && (texts[i] < texts[j]) != (values[i].Ms < values[j].Ms || values[i].Ms == values[j].Ms && values[i].Nanos < values[j].Nanos) {
					t.Fatalf("%q and %q do not sort as their times", texts[i], texts[j])
				}
			}
		}
	}
	if sorted == 0 || other == 0 {
		t.Errorf("%d sorted, %d not", sorted, other)
	}
}

func TestOfInt(t *testing.T) {
	at := time.Date(2024, 3, 15, 10, 30, 5, 123456789, time.UTC)
	for n, want := range map[int64]string{
		at.Unix(): "seconds 2024-03-15T10:30:05Z", at.UnixMilli(): "milliseconds 2024-03-15T10:30:05.123Z", at.UnixMicro(): "microseconds 2024-03-15T10:30:05.123456Z", at.UnixNano(): "nanoseconds 2024-03-15T10:30:05.123456789Z",
		at.Unix() / 86400: "days 2024-03-15T00:00:00Z", 20240315: "yyyymmdd 2024-03-15T00:00:00Z", 202403151030: "yyyymmddhhmm 2024-03-15T10:30:00Z", 20240315103005: "yyyymmddhhmmss 2024-03-15T10:30:05Z", 20240315103005123: "yyyymmddhhmmssfff 2024-03-15T10:30:05.123Z",
		0: "", -5: "", 1: "", 20241315: "", 20240230: "", 20240315103060: "", 5000: "", 10_000_000: "", 10_000_000_000: "", 1 << 62: "", 638_460_000_000_000_000: "", // ticks of .NET
	} {
		ms, unit := OfInt(n)
		got := ""
		if unit != NoUnit {
			got = unit.String() + " " + time.UnixMilli(ms).Add(time.Duration(unit.Beyond(n))).UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
		}
		if got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		at := time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(int64(54 * 365 * 24 * time.Hour))))
		for unit, n := range map[Unit]int64{Seconds: at.Unix(), Millis: at.UnixMilli(), Micros: at.UnixMicro(), Nanos: at.UnixNano(), Days: at.Unix() / 86400} {
			if ms, u := OfInt(n); u != unit || unit != Days && ms/1000 != at.Unix() || ms > at.UnixMilli() {
				t.Fatalf("%d (%s) is %d in %s", n, at, ms, u)
			}
		}
	}
	if ms, nanos, unit := OfFloat(1710498605.25); ms != 1710498605250 || nanos != 0 || unit != Seconds {
		t.Error(ms, nanos, unit)
	}
	if _, _, unit := OfFloat(3.5); unit != NoUnit {
		t.Error(unit)
	}
}

// TestNames checks that no name of a month means another month in another language, and none is a
// filler that stands before one.
func TestNames(t *testing.T) {
	for name := range fillers {
		if months[name] > 0 {
			t.Errorf("%q is a month and a filler", name)
		}
	}
	var buf [longestName]byte
	for i, line := range monthNames {
		for _, name := range strings.Fields(line) {
			for _, way := range []string{name, strings.ToUpper(name), strings.ToLower(name)} {
				if m := months[string(fold(&buf, []byte(way)))]; m != uint8(i+1) && !strings.Contains(name, "ς") {
					t.Errorf("%q is month %d, want %d", way, m, i+1)
				}
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	texts := [][]byte{[]byte("15.03.2024 10:30"), []byte("Freitag, 15. März 2024, 10:30 Uhr"), []byte("hello, world"), []byte("2024-03-15T10:30:05.123Z")}
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range texts {
			Parse(b)
			ISO(b)
		}
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"15.03.2024 10:30", "Fri, 15 Mar 2024 10:30:05 GMT", "10:30 p.m. 3/4/24", "2024年3月15日", "20240315T103005.5+0100 (x)", "den 15. März 2024", "a.m.", "1 a. m. ", "5-МАЯ-2024"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := Parse([]byte(text))
		if !ok {
			if v != (Value{}) {
				t.Fatalf("%q: %+v", text, v)
			}
			return
		}
		if y := time.UnixMilli(v.Ms).UTC().Year(); y < 1799 || y > 2201 || v.Nanos < 0 || v.Nanos > 999_999 || v.Evidence == Either != (v.Numeric && v.Evidence == Either) && v.Evidence != Either {
			t.Fatalf("%q: %+v", text, v)
		}
		if v.Evidence != Either && v.Ms != v.Other {
			t.Fatalf("%q is sure, and has two times: %+v", text, v)
		}
		if Describe([]byte(text), true) == "" {
			t.Fatalf("%q has no description", text)
		}
		if k, ms, nanos := ISO([]byte(text)); k != NoTime && (ms != v.Ms || nanos != v.Nanos) {
			t.Fatalf("%q is %d as ISO, %d else", text, ms, v.Ms)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{"15.03.2024 10:30:05", "03/15/2024 10:30 PM", "Fri, 15 Mar 2024 10:30:05 GMT", "leave at the door", "P-10004"} {
		b.Run(s, func(b *testing.B) {
			text := []byte(s)
			var p Parser
			for b.Loop() {
				p.Parse(text)
			}
		})
	}
	b.Run("2024-03-15T10:30:05.123Z", func(b *testing.B) {
		text := []byte("2024-03-15T10:30:05.123Z")
		for b.Loop() {
			ISO(text)
		}
	})
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		texts    string
		narrower int
		want     string // of the first text, and of the last
		doubt    Doubt
	}{
		{"01/02/2024 31/01/2024", 0, "02-01 01-31", Certain},
		{"01/02/2024 01/31/2024", 0, "01-02 01-31", Certain},
		{"01/02/2024", 0, "02-01 02-01", Guessed},
		{"01/02/2024", 1, "01-02 01-02", Guessed},
		{"01/02/2024", -1, "02-01 02-01", Guessed},
		{"01.02.2024", 1, "02-01 02-01", Certain},
		{"1/2/2024_1PM", 0, "01-02 01-02", Guessed},
		{"01/02/2024 12-31-2024 01-02-2024", 0, "01-02 01-02", Guessed},
		{"01/02/2024 12/31/2024 31-12-2024 01-02-2024", 0, "01-02 02-01", Certain},
		{"01/02/2024 12/31/2024 31/12/2024 30/12/2024 03/04/2024", 0, "02-01 04-03", Mixed},
		{"2024-01-02 3/3/2024", 0, "01-02 03-03", Certain},
		{"01/02/24 12/31/24 31/12/2024_10:00 01/02/2024_10:00", 0, "01-02 02-01", Certain},
		{"01/02/24 12/31/24 31/12/2024_10:00 01/02/2024_11:00_UTC 01/02/2024,_11:00", 0, "01-02 02-01", Guessed},
	} {
		var tally Tally
		var values []Value
		for _, text := range strings.Fields(c.texts) {
			v, ok := Parse([]byte(strings.ReplaceAll(text, "_", " ")))
			if !ok {
				t.Fatal(text)
			}
			tally.Add(&v)
			values = append(values, v)
		}
		o, doubt, _ := tally.Order(c.narrower)
		date := func(v *Value) string { return time.UnixMilli(v.At(&o)).UTC().Format("01-02") }
		if got := date(&values[0]) + " " + date(&values[len(values)-1]); got != c.want || doubt != c.doubt {
			t.Errorf("%s: %s, %d, want %s, %d", c.texts, got, doubt, c.want, c.doubt)
		}
	}
}
