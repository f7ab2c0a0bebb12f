// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// drawnColumn is a column with drawn values, and what is known about it.
type drawnColumn struct {
	values []string
	times  []time.Time // the times of the values; nil: it is no column of time
	what   string
}

// The names say nothing: they are drawn in the same way for all columns.
var drawnNames = []string{"x", "c1", "wert", "valor", "champ", "id", "ref_no", "kolumna", "b", "poids", "zustand", "field_7", "значение", "値", "kennung", "amount", "status", "ordre", "seen", "gemessen"}

var germanMonths = []string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
var frenchMonths = []string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"}

// way is a way of writing times, and what remains of a time in it.
type way struct {
	write   func(time.Time) string
	precise time.Duration
	zoned   bool
}

func layoutWay(layout string) way {
	w := way{write: func(t time.Time) string { return t.Format(layout) }, precise: 24 * time.Hour}
	switch {
	case strings.Contains(layout, ".000000"):
		w.precise = time.Microsecond
	case strings.Contains(layout, ".000"), strings.Contains(layout, ",000"):
		w.precise = time.Millisecond
	case strings.Contains(layout, "05"):
		w.precise = time.Second
	case strings.Contains(layout, "04"):
		w.precise = time.Minute
	}
	w.zoned = strings.Contains(layout, "07")
	return w
}

func monthsWay(layout string, names []string) way {
	w := layoutWay(layout)
	w.write = func(t time.Time) string { return strings.Replace(t.Format(layout), "@", names[t.Month()-1], 1) }
	return w
}

func drawWay(r *rand.Rand) way {
	switch r.IntN(12) {
	case 0:
		return way{write: func(t time.Time) string { return fmt.Sprint(t.Unix()) }, precise: time.Second}
	case 1:
		return way{write: func(t time.Time) string { return fmt.Sprint(t.UnixMilli()) }, precise: time.Millisecond}
	case 2:
		return way{write: func(t time.Time) string { return fmt.Sprint(t.UnixMicro()) }, precise: time.Microsecond}
	case 3:
		return way{write: func(t time.Time) string { return fmt.Sprint(t.UnixNano()) }, precise: time.Nanosecond}
	case 4:
		return way{write: func(t time.Time) string { return t.Format("20060102") }, precise: 24 * time.Hour}
	case 5:
		return way{write: func(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }, precise: time.Microsecond}
	case 6:
		return []way{monthsWay("2. @ 2006, 15:04", germanMonths), monthsWay("2 @ 2006 15:04:05", frenchMonths)}[r.IntN(2)]
	}
	return layoutWay([]string{
		"02.01.2006 15:04", "02.01.2006 15:04:05", "2.1.2006", "02/01/2006 15:04:05", "01/02/2006 3:04 PM", "1/2/2006", "01/02/06", "01-02-2006 15:04:05", "2006/01/02 15:04:05", "2006.01.02", "02 Jan 2006 15:04:05", "Jan 2, 2006 3:04:05 PM",
		"Mon, 02 Jan 2006 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02T15:04:05.000Z07:00", "2006-01-02", "02/Jan/2006:15:04:05 -0700", "15:04 02.01.2006", "20060102T150405", "02-Jan-06", "2006-01-02 15:04:05,000", "02/01/2006, 15:04:05.000000",
	}[r.IntN(22)])
}

// drawTimes draws a column of times: in the order of time or not, over days or years, written in
// one way or two.
func drawTimes(r *rand.Rand, n int) drawnColumn {
	first := drawWay(r)
	ways := []way{first}
	text := func(w way) bool { return strings.ContainsAny(w.write(time.Unix(0, 0)), "/-: T") }
	if r.IntN(5) == 0 {
		for len(ways) == 1 {
			if w := drawWay(r); text(w) && text(first) { // numbers and texts are not mixed, because the numbers would be uncertain
				ways = append(ways, w)
			} else if !text(first) {
				break
			}
		}
	}
	zone := time.FixedZone("", 3600*(r.IntN(20)-10))
	// At least a month, so that the order of day and month can be found.
	length := []time.Duration{40, 100, 700, 3000}[r.IntN(4)] * 24 * time.Hour
	begin := time.Date(1999+r.IntN(20), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e9), time.UTC)
	sorted := r.IntN(2) == 0
	out := drawnColumn{what: "times"}
	for i := range n {
		at := begin.Add(time.Duration(r.Int64N(int64(length))))
		if sorted {
			at = begin.Add(time.Duration(float64(length) * float64(i) / float64(n)))
		}
		at = at.In(zone)
		w := ways[r.IntN(len(ways))]
		out.values = append(out.values, w.write(at))
		if !w.zoned && text(w) || w.precise == 24*time.Hour { // the text has only the date and the time of day
			at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		}
		out.times = append(out.times, at.UTC().Truncate(min(w.precise, 24*time.Hour)))
	}
	return out
}

// drawOther draws a column that is no time, although a part of it may look like one.
func drawOther(r *rand.Rand, n int) drawnColumn {
	kinds := map[string]func(i int) string{
		"a sequence":        func(i int) string { return fmt.Sprint(1_500_000_000 + i) },
		"small integers":    func(i int) string { return fmt.Sprint(r.IntN(1_000_000)) },
		"five digits":       func(i int) string { return fmt.Sprint(10_000 + r.IntN(20_000)) },
		"telephone numbers": func(i int) string { return fmt.Sprintf("+49 170 %07d", r.IntN(1e7)) },
		"ten digits":        func(i int) string { return fmt.Sprint(1_000_000_000 + r.Int64N(9_000_000_000)) },
		"accounts":          func(i int) string { return fmt.Sprint(1_000_000_000 + r.Int64N(1_000_000_000)) },
		"EAN":               func(i int) string { return fmt.Sprint(4_000_000_000_000 + r.Int64N(1e12)) },
		"Snowflake ids": func(i int) string {
			return fmt.Sprint((1_700_000_000_000-1_288_834_974_657+int64(i)*977)<<22 | 5<<12 | int64(r.IntN(2)))
		},
		"versions":              func(i int) string { return fmt.Sprintf("%d.%d.%d", r.IntN(4), r.IntN(12), r.IntN(40)) },
		"prices":                func(i int) string { return fmt.Sprintf("%d.%02d", r.IntN(500), r.IntN(100)) },
		"prices with a comma":   func(i int) string { return fmt.Sprintf("%d,%02d", r.IntN(500), r.IntN(100)) },
		"fractions":             func(i int) string { return fmt.Sprintf("%d/%d", r.IntN(9), 1+r.IntN(12)) },
		"numbers of insurances": func(i int) string { return fmt.Sprintf("%03d-%02d-%04d", r.IntN(900), r.IntN(99), r.IntN(9999)) },
		"addresses":             func(i int) string { return fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256)) },
		"months":                func(i int) string { return germanMonths[r.IntN(12)] },
		"times of day":          func(i int) string { return fmt.Sprintf("%02d:%02d", r.IntN(24), r.IntN(60)) },
		"words":                 func(i int) string { return []string{"mar", "may be 3", "on 12", "sat", "15 Mart"}[r.IntN(5)] },
		"hex":                   func(i int) string { return fmt.Sprintf("%08x", r.Uint32()) },
		"order lines":           func(i int) string { return fmt.Sprint(15_000 + i/3) },
		"coordinates":           func(i int) string { return fmt.Sprintf("%.5f", 180*r.Float64()-90) },
		"eight digits":          func(i int) string { return fmt.Sprint(19_000_000 + r.IntN(2_000_000)) },
		"room numbers":          func(i int) string { return fmt.Sprintf("%d.%02d.%03d", 1+r.IntN(5), r.IntN(30), r.IntN(300)) },
		"articles":              func(i int) string { return fmt.Sprintf("%02d-%02d-%02d", r.IntN(99), r.IntN(99), r.IntN(99)) },
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	out := drawnColumn{what: names[r.IntN(len(names))]}
	for i := range n {
		out.values = append(out.values, kinds[out.what](i))
	}
	return out
}

// TestDrawnTimes checks that columns of times are found by their values, whatever their names and
// forms are, and all figures about them are exact. No other columns are taken for times.
func TestDrawnTimes(t *testing.T) {
	times, unsorted := 0, 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 60 + r.IntN(900)
		var columns []drawnColumn
		for range 1 + r.IntN(3) {
			columns = append(columns, drawTimes(r, n), drawOther(r, n))
		}
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		w.Comma = []rune{',', ';', '\t', '|'}[r.IntN(4)]
		names := make([]string, len(columns))
		used := make(map[string]bool)
		for i := range columns {
			for names[i] == "" || used[names[i]] {
				names[i] = drawnNames[r.IntN(len(drawnNames))]
			}
			used[names[i]] = true
		}
		w.Write(names)
		record := make([]string, len(columns))
		for i := range n {
			for k := range columns {
				record[k] = columns[k].values[i]
			}
			w.Write(record)
		}
		w.Flush()
		src, err := rows.Open("-", rows.Options{Stdin: &file, Again: true, Delimiter: w.Comma, Header: rows.HasHeader})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		p, err := Of(t.Context(), src, Options{Workers: 1 + r.IntN(3)})
		src.Close()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for k, c := range columns {
			got := p.Column(names[k])
			if (got.Time != nil) != (c.times != nil) {
				t.Errorf("seed %d: %s, such as %q, in column %s: %+v", seed, c.what, c.values[:3], names[k], got.Time)
				continue
			}
			if c.times == nil {
				continue
			}
			times++
			least, greatest := slices.MinFunc(c.times, time.Time.Compare), slices.MaxFunc(c.times, time.Time.Compare)
			if d := got.Time.First.Sub(least).Abs(); d >= time.Millisecond {
				t.Errorf("seed %d: %q: first is %s, want %s", seed, c.values[:3], got.Time.First, least)
			}
			if d := got.Time.Last.Sub(greatest).Abs(); d >= time.Millisecond {
				t.Errorf("seed %d: %q: last is %s, want %s", seed, c.values[:3], got.Time.Last, greatest)
			}
			fine := 24 * time.Hour
			for _, at := range c.times {
				for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
					if at.Equal(at.Truncate(unit)) {
						fine = min(fine, unit)
						break
					}
				}
			}
			if got.Time.Resolution != fine {
				t.Errorf("seed %d: %q: resolution %s, want %s", seed, c.values[:3], got.Time.Resolution, fine)
			}
			sorts := inOrder(t, got.Type, c)
			if got.Time.Sorts && !sorts {
				t.Errorf("seed %d: %q (%s) is said to sort by time", seed, c.values[:3], got.Type)
			}
			if !sorts {
				unsorted++
				if got.Time.Store == "" || got.Note == "" {
					t.Errorf("seed %d: %q: what to store in its place is not said: %+v", seed, c.values[:3], got.Time)
				}
			}
		}
	}
	if times < 300 || unsorted < 40 {
		t.Errorf("%d columns of times, %d that do not sort", times, unsorted)
	}
}

// inOrder sorts the values as their type does, and reports whether their times are then in order.
func inOrder(t *testing.T, typ *value.Type, c drawnColumn) bool {
	index := make([]int, len(c.values))
	for i := range index {
		index[i] = i
	}
	switch typ.Kind {
	case value.Timestamp, value.Date:
		return true
	case value.Text:
		slices.SortFunc(index, func(a, b int) int { return strings.Compare(c.values[a], c.values[b]) })
	default:
		number := func(i int) float64 {
			f, err := strconv.ParseFloat(c.values[i], 64)
			if err != nil {
				t.Fatalf("%q is no %s", c.values[i], typ)
			}
			return f
		}
		slices.SortFunc(index, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	}
	for i := 1; i < len(index); i++ {
		if c.times[index[i]].Before(c.times[index[i-1]].Truncate(time.Microsecond)) {
			return false
		}
	}
	return true
}

// TestOrderOfDatesIsGuessed checks that if no date shows its order, the profile takes the reading
// in which the dates lie closer together, and says that it is a guess. The user decides.
func TestOrderOfDatesIsGuessed(t *testing.T) {
	for _, c := range []struct {
		layout, first string
		options       Options
		doubt         string
	}{
		{"02/01/2006 15:04", "2024-03-03", Options{}, "is taken to be in April"},
		{"01/02/2006 15:04", "2024-03-03", Options{}, "is taken to be in March"},
		{"01/02/2006 15:04", "2024-03-03", Options{MonthFirst: map[string]bool{"at": true}}, ""},
		{"01/02/2006 15:04", "2024-03-03", Options{MonthFirst: map[string]bool{"at": false}}, ""},
		{"02.01.2006 15:04", "2024-03-03", Options{}, ""},
	} {
		begin := time.Date(2024, 3, 3, 0, 0, 0, 0, time.UTC)
		p := of(t, lines("at;n", 200, func(i int) string {
			return begin.Add(time.Duration(i)*37*time.Minute).Format(c.layout) + ";x"
		}), c.options)
		at := p.Column("at").Time
		if c.options.MonthFirst != nil && !c.options.MonthFirst["at"] {
			if got := at.Last.Format(time.DateOnly); got != "2024-08-03" {
				t.Errorf("%s with the day first: last is %s", c.layout, got)
			}
			continue
		}
		if got := at.First.Format(time.DateOnly); got != c.first || !strings.Contains(at.Doubt, c.doubt) || c.doubt == "" && at.Doubt != "" {
			t.Errorf("%s: first is %s (%s)", c.layout, got, at.Doubt)
		}
	}
	if _, err := Of(t.Context(), open(t, "a,b\n1,2\n"), Options{MonthFirst: map[string]bool{"at": true}}); err == nil || rows.Hint(err) == "" {
		t.Errorf("%v", err)
	}
}

// TestGivenTimestamps checks that a column that is given as timestamps accepts any time, gives
// equal times equal values, and keeps their granularity.
func TestGivenTimestamps(t *testing.T) {
	begin := time.Date(2024, 3, 15, 0, 0, 0, 0, time.UTC)
	at := func(i int) time.Time { return begin.Add(time.Duration(i/3) * time.Hour) }
	for name, write := range map[string]func(i int) string{
		"dd.mm.yyyy": func(i int) string { return at(i).Format("02.01.2006 15:04") },
		"months":     func(i int) string { return at(i).Format("Jan 2, 2006 3:04 PM") },
		"mixed": func(i int) string {
			return at(i).Format([]string{"02.01.2006 15:04", time.RFC3339, "01/02/2006 15:04:05"}[i%3])
		},
		"seconds": func(i int) string { return fmt.Sprint(at(i).Unix()) },
		"micros":  func(i int) string { return fmt.Sprint(at(i).UnixMicro()) },
		"units":   func(i int) string { return fmt.Sprint([]int64{at(i).Unix(), at(i).UnixMilli(), at(i).UnixNano()}[i%3]) },
	} {
		text := lines("at;n", 90, func(i int) string { return write(i) + ";x" })
		o := Options{Types: map[string]*value.Type{"at": value.Native(value.Timestamp)}}
		src := open(t, text)
		p, err := Of(t.Context(), src, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c := p.Column("at")
		if c.Time == nil || c.Time.Granularity != Hour || c.Time.Resolution != time.Hour || !c.Time.First.Equal(begin) || !c.Time.Sorts || c.Type.Kind != value.Timestamp || c.Min != "2024-03-15T00:00:00Z" {
			t.Errorf("%s: %+v %+v", name, c, c.Time)
			continue
		}
		ms, _, err := Measure(t.Context(), src, p, []Candidate{{Partition: []Part{{Column: "at"}}}, {Partition: []Part{{Column: "at", Bucket: Day}}, Time: "at"}}, o)
		if err != nil {
			t.Fatal(err)
		}
		if ms[0].Partitions != exactly(30) || ms[1].Partitions != exactly(2) {
			t.Errorf("%s: %v hours, %v days", name, ms[0].Partitions, ms[1].Partitions)
		}
		for _, l := range ms[0].Largest {
			v, err := value.Native(value.Timestamp).FromString(l.Values[0])
			if name == "dd.mm.yyyy" {
				when, _ := time.Parse("02.01.2006 15:04", l.Values[0])
				v, err = value.Native(value.Timestamp).FromString(fmt.Sprint(when.UnixMilli()))
			}
			if name != "dd.mm.yyyy" && name != "seconds" {
				continue
			}
			if name == "seconds" {
				v, err = value.Native(value.Timestamp).FromString(l.Values[0] + "000")
			}
			if want := partitioner.Murmur3(v); err != nil || l.Token != want {
				t.Errorf("%s: token of %s is %d, want %d", name, l.Values[0], l.Token, want)
			}
		}
	}
	// Numbers that are no times by their size are milliseconds, as in CQL.
	p := of(t, "at,n\n0,x\n60000,x\n7200000,x\n", Options{Types: map[string]*value.Type{"at": value.Native(value.Timestamp)}})
	if c := p.Column("at"); c.Time.Granularity != Minute || c.Max != "1970-01-01T02:00:00Z" {
		t.Errorf("%+v %+v", c, c.Time)
	}
	// A value that is no time at all makes a bad row.
	if _, err := Of(t.Context(), open(t, "at,n\n15.03.2024 10:30,x\n32.03.2024 10:30,x\n"), Options{Types: map[string]*value.Type{"at": value.Native(value.Timestamp)}}); err == nil || !strings.Contains(err.Error(), `:3: column "at": "32.03.2024 10:30" is no timestamp`) {
		t.Errorf("%v", err)
	}
	if _, err := Of(t.Context(), open(t, "at,n\n15.03.2024,x\n15.03.2024 10:30,x\n"), Options{Types: map[string]*value.Type{"at": value.Native(value.Date)}}); err == nil || !strings.Contains(err.Error(), `:3: column "at": "15.03.2024 10:30" is no date`) {
		t.Errorf("%v", err)
	}
}

// TestEventTimeIsBelieved checks that the profile believes a user who knows something about a time
// that its values do not show.
func TestEventTimeIsBelieved(t *testing.T) {
	text := lines("n,mixed", 300, func(i int) string {
		mixed := "n/a"
		if i%3 > 0 {
			mixed = time.Unix(int64(1_700_000_000+i*60), 0).UTC().Format("02.01.2006 15:04")
		}
		return fmt.Sprintf("%d,%s", 19_000+i*7%100, mixed)
	})
	p := of(t, text, Options{})
	if p.Column("n").Time != nil || p.Column("mixed").Time != nil {
		t.Error("times without being told so")
	}
	for _, name := range []string{"n", "mixed"} {
		c := of(t, text, Options{EventTime: name}).Column(name)
		if c.Time == nil {
			t.Errorf("%s is no time", name)
		}
	}
	if p := of(t, lines("at,n", 50, func(i int) string { return fmt.Sprintf("%d,x", 1_700_000_000+i*60) }), Options{Types: map[string]*value.Type{"at": value.Native(value.Bigint)}}); p.Column("at").Time != nil {
		t.Error("given as bigint, and a time")
	}
}

// TestCodesStayText checks that codes stay text, from CSV and from a file that declares them as
// text.
func TestCodesStayText(t *testing.T) {
	for text, note := range map[string]string{
		"007 042 001": "", "12E4 3E07 99E1": "though \"12E4\" could be a number", "1234 12E4": "could be a number", "90210 10001 02139": "leading zero", "0e1 0x": "",
	} {
		list := strings.Fields(text)
		c := of(t, lines("c,x", len(list), func(i int) string { return list[i] + ",x" }), Options{}).Column("c")
		if c.Type.Kind != value.Text || !strings.Contains(c.Note, note) {
			t.Errorf("%s: %s (%s)", text, c.Type, c.Note)
		}
	}
	for _, text := range []string{"1.5e10 2", "1e-7 3e+2", "2.5 1e9"} {
		list := strings.Fields(text)
		if c := of(t, lines("c,x", len(list), func(i int) string { return list[i] + ",x" }), Options{}).Column("c"); c.Type.Kind != value.Double {
			t.Errorf("%s: %s", text, c.Type)
		}
	}
}

// TestRepeated checks that repeated values are counted, whatever a column is called.
func TestRepeated(t *testing.T) {
	p := of(t, lines("order_id,plain,twice", 5000, func(i int) string { return fmt.Sprintf("%d,%x,%d", i*7%1000, i*2654435761, i/2) }), Options{})
	if r := p.Column("order_id").Repeated; r != exactly(4000) {
		t.Errorf("order_id: %+v", r)
	}
	if r := p.Column("plain").Repeated; r.Value != 0 || r.Low != 0 {
		t.Errorf("plain: %+v", r)
	}
	if r := p.Column("twice").Repeated; r.Low > 2500 || r.High < 2500 {
		t.Errorf("twice: %+v", r)
	}
}

// TestDaysWithFewRows checks that numbers which could be days since 1970 are named as such, but not
// taken for a time: order numbers rise in the same way.
func TestDaysWithFewRows(t *testing.T) {
	var data strings.Builder
	data.WriteString("sensor,n,chance\n")
	for i := range 3000 {
		fmt.Fprintf(&data, "s%d,%d,%d\n", i%20, 19700+i/3, 19000+i*7919%1500)
	}
	src, err := rows.OpenBytes("data.csv", []byte(data.String()), rows.Options{Again: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Column("n"); c.Time != nil || !strings.HasPrefix(c.Note, "could be days since 1970, 2023-12-09 to 2026-09-03") {
		t.Errorf("%+v, %q", c.Time, c.Note)
	}
	if c := p.Column("chance"); c.Note != "" {
		t.Errorf("numbers by chance: %q", c.Note)
	}
	if p, err = Of(t.Context(), src, Options{EventTime: "n"}); err != nil || p.Column("n").Time == nil || p.Column("n").Time.Granularity != Day {
		t.Errorf("%v, %+v", err, p.Column("n").Time)
	}
}

// TestOneDayInDigits checks that numbers such as 20260301 are days, also if the data are of one day, and that
// few other numbers are not.
func TestOneDayInDigits(t *testing.T) {
	for _, c := range []struct {
		value string
		time  bool
	}{{"20260301", true}, {"20260317", true}, {"20261301", false}, {"20260230", false}, {"30260301", false}} {
		p := of(t, "day,id\n"+strings.Repeat(c.value+",7\n", 300), Options{})
		if got := p.Column("day").Time; (got != nil) != c.time || got != nil && got.Granularity != Day {
			t.Errorf("%s: %+v", c.value, got)
		}
	}
}

// TestStoredTimesHaveOneLength checks the form in which times are to be stored that do not sort as they are
// written: where a store keeps them as texts, only texts of one length sort.
func TestStoredTimesHaveOneLength(t *testing.T) {
	for _, c := range []struct{ first, next, want string }{
		{"05.03.2026 10:00:00", "05.03.2026 10:00:01", "2026-03-05T10:00:00Z"},
		{"05.03.2026 10:00:00.000", "05.03.2026 10:00:00.250", "2026-03-05T10:00:00.000Z"},
		{"13.03.2026", "14.03.2026", "2026-03-13"},
	} {
		var file strings.Builder
		file.WriteString("at,n\n")
		for i := range 40 {
			fmt.Fprintf(&file, "%s,%d\n", []string{c.first, c.next}[i%2], i)
		}
		p := of(t, file.String(), Options{})
		if at := p.Column("at").Time; at == nil || at.Stored != c.want {
			t.Errorf("%q: %+v, want %q", c.first, at, c.want)
		}
	}
}
