// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/datetime"
)

// reportOf counts rows whose values are the options' columns.
func reportOf(t *testing.T, o Options, rows ...[]string) *Report {
	t.Helper()
	s := simulation(t, o)
	for _, r := range rows {
		row := &Row{Values: r, Null: make([]bool, len(r)), Bytes: 10}
		for i, v := range r {
			row.Null[i] = v == "NULL"
		}
		if err := s.AddRow(row); err != nil {
			t.Fatal(err)
		}
	}
	return s.Report()
}

// TestNullsAreExcludedKeyByKey checks that a row with a null in a key counts for the keys without a
// null, and the nulls are counted by column.
func TestNullsAreExcludedKeyByKey(t *testing.T) {
	for _, p := range []Partitioner{Murmur3, Random, ByteOrdered, MD5Mod, JavaMod} {
		r := reportOf(t, options(t, p, 4, "a", "b", "a,b", "salt(b,3)", "a,hour(c)", "b,rollover(1)"),
			[]string{"x", "1", "2024-03-15 10:00"}, []string{"NULL", "2", "2024-03-15"}, []string{"y", "NULL", "NULL"}, []string{"z", "NULL", "2024-03-16"})
		want := map[string][]NullReport{
			"a": {{"a", 1}}, "b": {{"b", 2}}, "a,b": {{"a", 1}, {"b", 2}}, "salt(b,3)": {{"b", 2}}, "a,hour(c)": {{"a", 1}, {"c", 1}}, "b,rollover(1)": {{"b", 2}},
		}
		for _, k := range r.Keys {
			sum, nulls := int64(0), int64(0)
			for _, n := range k.Sizes {
				sum += n
			}
			for _, n := range k.Nulls {
				nulls += n.Rows
			}
			if !reflect.DeepEqual(k.Nulls, want[k.Key]) || sum != k.Rows || k.Rows+nulls != 4 || r.Rows != 4 {
				t.Errorf("%s, %s: %d rows in partitions, %d of %d, nulls %v", p, k.Key, sum, k.Rows, r.Rows, k.Nulls)
			}
		}
	}
	// Cassandra accepts no empty key, but it accepts an empty component of a key.
	r := reportOf(t, options(t, Murmur3, 4, "a", "a,b"), []string{"", "1"}, []string{"x", "2"})
	if r.Keys[0].Rows != 1 || !slices.Equal(r.Keys[0].Nulls, []NullReport{{"a", 1}}) || r.Keys[1].Rows != 2 {
		t.Errorf("an empty key: %+v", r.Keys)
	}
}

// TestPeriods checks that periods are placed as a column of that type would be, whatever the form
// of the times is.
func TestPeriods(t *testing.T) {
	of := func(p Partitioner, key string, text string) []int64 {
		return reportOf(t, options(t, p, 97, key), []string{text}).Keys[0].Sizes
	}
	at := func(typ, text string) int {
		v, err := value.Named(typ).FromString(text)
		if err != nil {
			t.Fatal(err)
		}
		return rangeOf(Murmur3.position(v), 97)
	}
	for _, text := range []string{"2024-03-15 10:42:07", "15.03.2024 10:42:07", "2024-03-15T11:42:07.250+01:00", "1710499327", "1710499327000", "Mar 15, 2024 10:42:07 AM"} {
		for key, want := range map[string]int{
			"hour(t)": at("timestamp", "2024-03-15T10:00:00Z"), "minute(t)": at("timestamp", "2024-03-15T10:42:00Z"),
			"day(t)": at("date", "2024-03-15"), "month(t)": at("date", "2024-03-01"), "year(t)": at("date", "2024-01-01"),
		} {
			if got := slices.Index(of(Murmur3, key, text), 1); got != want {
				t.Errorf("%s of %s: partition %d, want %d", key, text, got, want)
			}
		}
		for key, want := range map[string]string{"hour(t)": "2024-03-15T10:00:00Z", "day(t)": "2024-03-15", "month(t)": "2024-03"} {
			if got := slices.Index(of(MD5Mod, key, text), 1); got != partitioner.MD5Mod([]byte(want), 97) {
				t.Errorf("%s of %s: partition %d, not that of %s", key, text, got, want)
			}
		}
	}
	s := simulation(t, options(t, Murmur3, 4, "hour(t)"))
	var bad *BadValue
	if err := s.Add([]string{"soon"}); !errors.As(err, &bad) || !strings.Contains(err.Error(), `column "t": "soon" is no time`) {
		t.Error(err)
	}
	var either *Ambiguous
	if err := s.Add([]string{"03/04/2024"}); !errors.As(err, &either) || either.Column != "t" {
		t.Error(err)
	}
	o := options(t, Murmur3, 97, "month(t)")
	for monthFirst, want := range map[bool]string{true: "2024-03-01", false: "2024-04-01"} {
		o.DateOrders = map[string]datetime.Order{"t": datetime.OrderOf(monthFirst)}
		if got := slices.Index(reportOf(t, o, []string{"03/04/2024"}).Keys[0].Sizes, 1); got != at("date", want) {
			t.Errorf("03/04/2024 is not in %s", want)
		}
	}
	o = options(t, Murmur3, 97, "t", "hour(t)")
	o.Types = map[string]*value.Type{"t": value.Named("timestamp")}
	r := reportOf(t, o, []string{"15.03.2024 10:00"})
	if !slices.Equal(r.Keys[0].Sizes, r.Keys[1].Sizes) || slices.Index(r.Keys[0].Sizes, 1) != at("timestamp", "2024-03-15T10:00:00Z") {
		t.Error("a timestamp on the hour is not its hour")
	}
}

// TestRandomAndRollover checks that draws are 1 to n, about equally often, and the same for the
// same seed. A rollover fills one partition after the other.
func TestRandomAndRollover(t *testing.T) {
	o := options(t, Murmur3, 4, "day,random(8)", "s,rollover(100)", "rollover(100)", "random(8)")
	var rows [][]string
	for i := range 1000 {
		rows = append(rows, []string{"2020-07-09", []string{"a", "a", "a", "b"}[i%4]})
	}
	r := reportOf(t, o, rows...)
	if v := r.Keys[0].Values; v.Count != exactly(8) || v.Rows.Max.Value > 180 || v.Rows.P50.Value < 90 {
		t.Errorf("8 draws: %+v", v)
	}
	if reflect.DeepEqual(r.Keys[0].Values, r.Keys[3].Values) {
		t.Error("two keys have the same draws")
	}
	if v := r.Keys[1].Values; v.Count != exactly(8+3) || v.Rows.Max != exactly(100) || v.Rows.P50 != exactly(100) || v.Bytes.Max != exactly(1000) {
		t.Errorf("rollover of 750 and 250 rows: %+v", v)
	}
	if v := r.Keys[2].Values; v.Count != exactly(10) || v.Rows.P50 != exactly(100) {
		t.Errorf("rollover of all: %+v", v)
	}
	if !reflect.DeepEqual(r, reportOf(t, o, rows...)) {
		t.Error("the same rows give another report")
	}
	o.Seed = 7
	if reflect.DeepEqual(r.Keys[0].Values, reportOf(t, o, rows...).Keys[0].Values) {
		t.Error("another seed draws the same")
	}
}

// TestIdentity checks that under identity a number is its own token: neighbours are in one range,
// and the newest hour is always in the last.
func TestIdentity(t *testing.T) {
	var rows [][]string
	for i := range 100 {
		rows = append(rows, []string{strconv.Itoa(i - 50), fmt.Sprintf("2024-03-1%d %02d:30", 1+i/24, i%24)})
	}
	o := options(t, Identity, 4, "n", "hour(t)", "day(t)", "t")
	o.Sweep = []int{10, 3}
	r := reportOf(t, o, rows...)
	for i, want := range [][][]int64{
		{{25, 25, 25, 25}, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {34, 33, 33}},
		{{25, 25, 25, 25}, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {34, 33, 33}},
		{{48, 24, 24, 4}, {24, 0, 24, 0, 24, 0, 24, 0, 4, 0}, {48, 48, 4}},
	} {
		k := r.Keys[i]
		if !slices.Equal(k.Sizes, want[0]) || !slices.Equal(k.Sweep[0].Sizes, want[1]) || !slices.Equal(k.Sweep[1].Sizes, want[2]) {
			t.Errorf("%s: %v, %v, %v", k.Key, k.Sizes, k.Sweep[0].Sizes, k.Sweep[1].Sizes)
		}
	}
	s := simulation(t, o)
	if err := s.Add([]string{"x", "2024-03-11"}); err == nil || !strings.Contains(err.Error(), "is no number and no time") {
		t.Error(err)
	}
}

// TestIdentityOfManyTokens checks that many tokens share few counts, and the ranges are almost
// exact.
func TestIdentityOfManyTokens(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	counted := newTokenRows()
	var all []int64
	for range mostTokens + 100_000 {
		n := rnd.Int64N(1<<60) - 1<<59
		all = append(all, n)
		counted.add(n)
	}
	if len(counted.rows) > mostTokens {
		t.Errorf("%d counts", len(counted.rows))
	}
	least, greatest := slices.Min(all), slices.Max(all)
	want := make([]int64, 7)
	for _, n := range all {
		want[min(6, int(float64(n-least)/(float64(greatest-least)+1)*7))]++
	}
	for i, n := range counted.sizes(7) {
		if math.Abs(float64(n-want[i])) > 10 {
			t.Errorf("range %d: %d rows, want %d", i, n, want[i])
		}
	}
	edge := newTokenRows()
	edge.add(math.MinInt64)
	edge.add(math.MaxInt64)
	edge.add(0)
	if got := edge.sizes(4); !slices.Equal(got, []int64{1, 0, 1, 1}) {
		t.Errorf("the whole range: %v", got)
	}
}

// TestByteOrdered checks that ByteOrderedPartitioner orders by the key's bytes: ASCII is in one
// half of the ring, digits in one of its 97 ranges, small ints at the start.
func TestByteOrdered(t *testing.T) {
	o := options(t, ByteOrdered, 256, "s", "n", "s,n")
	o.Types = map[string]*value.Type{"n": value.Named("int")}
	r := reportOf(t, o, []string{"2024", "7"}, []string{"2025", "-1"}, []string{"a", "70000"})
	for i, want := range []map[int]int64{{'2': 2, 'a': 1}, {0: 2, 255: 1}, {0: 3}} {
		for at, n := range r.Keys[i].Sizes {
			if n != want[at] {
				t.Errorf("%s: %d rows in range %d, want %d", r.Keys[i].Key, n, at, want[at])
			}
		}
	}
	o = options(t, ByteOrdered, 4, "s")
	o.Ring = &Ring{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}
	if r := reportOf(t, o, []string{"a"}, []string{"b"}); r.Keys[0].Nodes.Max != 2 {
		t.Errorf("texts on a ring: %v", r.Keys[0].Nodes.Sizes)
	}
}

// TestSweep checks that a sweep gives the same result as each number of partitions by itself.
func TestSweep(t *testing.T) {
	for _, p := range []Partitioner{Murmur3, MD5Mod} {
		o := options(t, p, 4, "code", "code,salt(user,8)")
		o.Sweep = []int{7, 16}
		r := run(t, o)
		for i, n := range o.Sweep {
			alone := run(t, options(t, p, n, "code", "code,salt(user,8)"))
			for j, k := range r.Keys {
				if s := k.Sweep[i]; s.Partitions != n || !slices.Equal(s.Sizes, alone.Keys[j].Sizes) || s.Spread != alone.Keys[j].Spread {
					t.Errorf("%s, %s over %d: %+v", p, k.Key, n, s)
				}
			}
		}
	}
}

// TestValues checks that a key's values are counted exactly if they are few. If they are a sample,
// the intervals contain the truth.
func TestValues(t *testing.T) {
	o := options(t, MD5Mod, 4, "code")
	o.Limit = Limit{Rows: 900}
	v := run(t, o).Keys[0].Values
	if v.Count != exactly(11) || v.Rows.P50 != exactly(510) || v.Rows.P99 != exactly(1010) || v.Rows.Max != exactly(1010) {
		t.Errorf("codes: %+v", v)
	}
	if v.Over.Values != exactly(2) || v.Over.Held != exactly(910+1010) {
		t.Errorf("above 900 rows: %+v", v.Over)
	}

	const n, size = 100_000, 1 << 14
	counted := newValues(0, size)
	var rows []float64
	total, over, held := int64(0), 0.0, 0.0
	limit := Limit{Bytes: 100_000}
	for i := range n {
		counted.hash = partitioner.Hash([]byte(strconv.Itoa(i)))
		many := 1 + n/(10*(i+1))
		rows = append(rows, float64(many))
		for range many {
			counted.add(100)
			total++
		}
		if many*100 > 100_000 {
			over, held = over+1, held+float64(many)
		}
	}
	slices.Sort(rows)
	v = counted.report(total, limit)
	for name, c := range map[string]struct {
		got  Figure
		want float64
	}{
		"count": {v.Count, n}, "p50": {v.Rows.P50, rows[n/2-1]}, "p99": {v.Rows.P99, rows[n*99/100-1]}, "max": {v.Rows.Max, rows[n-1]},
		"p99 bytes": {v.Bytes.P99, 100 * rows[n*99/100-1]}, "max bytes": {v.Bytes.Max, 100 * rows[n-1]}, "over": {v.Over.Values, over}, "held": {v.Over.Held, held},
	} {
		if c.got.Exact() && c.got.Value != c.want || c.want < c.got.Low || c.want > c.got.High || c.got.Value < c.got.Low || c.got.Value > c.got.High {
			t.Errorf("%s: %+v, in truth %v", name, c.got, c.want)
		}
	}
	if v.Count.Exact() {
		t.Error("a sample is taken for all")
	}
}

// TestOverIsCertainWhereItCanBe checks the report on values above a limit if a sample was counted.
// It must say that a limit is kept if no value can exceed it. It must count frequent values one by
// one. The interval of the rows of such values must allow for values that are not in the sample.
func TestOverIsCertainWhereItCanBe(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		hot, large := 1+rnd.IntN(40), 2000+rnd.IntN(3000)
		rare := 12 + rnd.IntN(5)
		counted := newValues(0, 1<<12)
		rows := make(map[int]int)
		var order []int
		for i := range 60_000 {
			rows[i] = 1
			switch {
			case i < hot:
				rows[i] = large
			case i%9_000 == 0:
				rows[i] = rare
			}
			for range rows[i] {
				order = append(order, i)
			}
		}
		rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			counted.hash = partitioner.Hash(fmt.Appendf(nil, "%d %d", seed, i))
			counted.add(50)
		}
		for _, c := range []struct {
			limit Limit
			exact bool
		}{{Limit{Rows: 1_000_000}, true}, {Limit{Rows: 1000}, true}, {Limit{Bytes: 50_000}, true}, {Limit{Rows: 10}, false}} {
			n, held := 0.0, 0.0
			for _, many := range rows {
				if c.limit.Rows > 0 && many > int(c.limit.Rows) || c.limit.Bytes > 0 && 50*many > int(c.limit.Bytes) {
					n, held = n+1, held+float64(many)
				}
			}
			o := counted.report(int64(len(order)), c.limit).Over
			if n < o.Values.Low || n > o.Values.High || held < o.Held.Low || held > o.Held.High || c.exact && o.Values != exactly(n) {
				t.Errorf("seed %d, %+v: %+v with %+v rows, in truth %v with %v", seed, c.limit, o.Values, o.Held, n, held)
			}
		}
	}
}

// TestUniformity checks the table of DynamoDB's documentation, with all its rows.
func TestUniformity(t *testing.T) {
	o := options(t, Murmur3, 4, "status,device", "day(created)", "status,hour(at)", "device,day(created)", "popular,rollover(50)", "created,status", "device,created", "hour(at),rollover(9)")
	o.Attributes = []string{"user", "status", "created", "at", "device", "popular", "none", "one"}
	s := simulation(t, o)
	rnd := rand.New(rand.NewPCG(1, 1))
	columns := o.Columns()
	for i := range 5000 {
		popular := rnd.IntN(500)
		if i%2 == 0 {
			popular = 7
		}
		row := &Row{Null: make([]bool, len(columns))}
		for c, name := range columns {
			row.Values = append(row.Values, map[string]string{
				"user": strconv.Itoa(rnd.IntN(2000)), "status": strconv.Itoa(200 + 100*rnd.IntN(4)), "created": fmt.Sprintf("2024-03-%02d", 1+i%28),
				"at": fmt.Sprintf("2024-03-15T10:%02d:%02d.%03dZ", i/60%60, i%60, i%1000), "device": strconv.Itoa(rnd.IntN(500)), "popular": strconv.Itoa(popular), "one": "x",
			}[name])
			row.Null[c] = name == "none"
		}
		if err := s.AddRow(row); err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string]UniformityReport)
	for _, u := range s.Report().Uniformity {
		got[u.Name] = u
	}
	for name, want := range map[string]string{
		"user": "Good: many values", "status": "Bad: only a few", "created": "Bad: a time rounded to the day", "at": "Good: many", "device": "Good: many", "popular": "Bad: one value is far more popular",
		"none": "unknown: no row", "one": "Bad: one value has all", "status,device": "Good: many", "day(created)": "Bad: a time rounded to the day",
		// What is written at a time has one period, and one rollover of a value.
		"status,hour(at)": "Bad: at any time, only a few", "device,day(created)": "Good: at any time, many", "popular,rollover(50)": "Bad: at any time, one value is far more popular",
		"created,status": "Bad: at any time, only a few", "device,created": "Good: at any time, many", "hour(at),rollover(9)": "Bad: ",
	} {
		if u := got[name]; !strings.HasPrefix(string(u.Verdict)+": "+u.Why, want) {
			t.Errorf("%s: %+v, want %s", name, u, want)
		}
	}
	if len(got) != 16 {
		t.Errorf("%d judged", len(got))
	}
	if u := got["popular"]; !u.Hottest.Exact() || u.Hottest.Value < 0.5 || u.Hottest.Value > 0.51 {
		t.Errorf("the share of the most popular: %+v", u.Hottest)
	}
}

// TestHottestHasAnInterval checks that the share of the most frequent value has an interval if a
// sample was counted, and that the interval contains the truth.
func TestHottestHasAnInterval(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, uint64(rand.Uint32())))
	a := newAttribute("a", 0, 1<<12)
	most, rows := 0, 0
	var p datetime.Parser
	for i := range 20_000 {
		many := 1 + rnd.IntN(9)
		most, rows = max(most, many), rows+many
		for range many {
			a.add(&Row{Values: []string{fmt.Sprint("v", i)}, Bytes: 10}, &p)
		}
	}
	u := judge("a", a.rows, a.values.report(a.rows, Limit{}), a.rounded())
	if f, truth := u.Hottest, float64(most)/float64(rows); f.Exact() || truth < f.Low || truth > f.High {
		t.Errorf("%+v, in truth %v", f, truth)
	}
}

// TestKeysShareTheMemory checks that many keys and attributes together count no more values than a
// few do.
func TestKeysShareTheMemory(t *testing.T) {
	for n := 1; n <= MaxCounted; n++ {
		if part(n) < 1 || n*part(n) > valuesInAll {
			t.Fatalf("%d keys count up to %d values each", n, part(n))
		}
	}
	o := options(t, Murmur3, 4, "a")
	for i := range MaxCounted {
		o.Attributes = append(o.Attributes, fmt.Sprint("c", i))
	}
	if _, err := New(o); err == nil {
		t.Error("there is no bound")
	}
}

// TestRolloverIsBounded checks that a rollover counts a bounded number of combinations, and reports
// when it reaches the bound.
func TestRolloverIsBounded(t *testing.T) {
	r := newRollover(options(t, Murmur3, 1, "rollover(2)").Keys[0].Expr.Parts[0])
	for i := range uint64(maxRollovers) {
		r.look(i)
		r.count()
	}
	if !r.look(5) || r.value != 1 || r.look(maxRollovers+5) {
		t.Error("a rollover without a bound")
	}
}
