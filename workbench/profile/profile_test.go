// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// open makes an input from a text.
func open(t testing.TB, text string) *rows.Source {
	t.Helper()
	src, err := rows.Open("-", rows.Options{Stdin: strings.NewReader(text), Again: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(src.Close)
	return src
}

func of(t testing.TB, text string, o Options) *Profile {
	t.Helper()
	p, err := Of(t.Context(), open(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lines joins a header and rows.
func lines(header string, n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

func TestTypesAreGuessed(t *testing.T) {
	for _, c := range []struct{ values, want, note string }{
		{"1 2 3", "int", ""},
		{"1 -2 3000000000", "bigint", ""},
		{"1 12345678901234567890", "varint", ""},
		{"1 2.5", "decimal", ""},
		{"1 2.5 1e9", "double", ""},
		{"true False", "boolean", ""},
		{"2020-07-09 2020-07-10", "date", ""},
		{"2020-07-09 2020-07-10T10:00:00Z", "timestamp", ""},
		{"2020-07-09T10 2020-07-09T11", "text", ""},
		{"9927a129-abed-4903-85b4-01e3129814d5", "uuid", ""},
		{"d2177dd0-eaa2-11de-a572-001b779c76e3", "timeuuid", ""},
		{"d2177dd0-eaa2-11de-a572-001b779c76e3 9927a129-abed-4903-85b4-01e3129814d5", "uuid", ""},
		{"10.0.0.1 ::1", "inet", ""},
		{"0xca 0xcafe", "blob", ""},
		{"10:00:00 11:00:00.5", "time", ""},
		{"a b", "text", ""},
		{"90210 10001 02139", "text", `line 4 has "02139", whose leading zero a number would lose`},
		{"1 2 3 N/A", "text", `3 of 4 values are integers: line 5 has "N/A"`},
	} {
		p := of(t, lines("c,x", len(strings.Fields(c.values)), func(i int) string { return strings.Fields(c.values)[i] + ",x" }), Options{})
		col := p.Column("c")
		if col.Type.String() != c.want || !strings.Contains(col.Note, c.note) || c.note == "" && col.Note != "" {
			t.Errorf("%s: %s (%s), want %s (%s)", c.values, col.Type, col.Note, c.want, c.note)
		}
	}
}

func TestColumns(t *testing.T) {
	p := of(t, "id,day,code,note\n10,2020-07-09,a,\n11,2020-07-09,b,x\n12,2020-07-10,a,\"\"\n13,2020-07-10,a,\n", Options{})
	if p.Rows != 4 || p.Repeated != exactly(0) || len(p.Columns) != 4 {
		t.Fatalf("%+v", p)
	}
	id := p.Column("id")
	if !id.Order.Sequential || !id.Order.Monotonic || id.Order.Gaps != 0 || id.Min != "10" || id.Max != "13" || id.Distinct != exactly(4) || id.MeanBytes != 4 {
		t.Errorf("%+v", id)
	}
	d := p.Column("day")
	if d.Time == nil || d.Time.Granularity != Day || d.Order.Sequential || !d.Order.Monotonic || d.Time.Hot[0].Rows != exactly(2) || d.Time.Hot[0].Busy != 2 || d.Min != "2020-07-09" {
		t.Errorf("%+v %+v", d, d.Time)
	}
	code := p.Column("code")
	if code.Top[0].Text != "a" || code.Top[0].Rows != exactly(3) || code.Top[0].Share != 0.75 || code.Order.Ascending != 1.0/3 || code.Order.Same != 1.0/3 {
		t.Errorf("%+v", code)
	}
	if n := p.Column("note"); n.Nulls != 2 || n.Values != 2 || n.Empty != 1 {
		t.Errorf("%+v", n)
	}
}

func TestGranularity(t *testing.T) {
	for _, c := range []struct {
		values string
		want   Granularity
	}{
		{"2020-01-01 2021-01-01", Year}, {"2020-01-01 2020-02-01", Month}, {"2020-07 2020-08", Month}, {"2020-01-01 2020-02-02", Day},
		{"2020-01-01T10 2020-01-01T11", Hour}, {"2020-01-01T10:00:00Z 2020-01-01T11:30:00Z", Minute}, {"2020-01-01T10:00:01Z 2020-01-01T11:00:00Z", Second},
		{"2020-01-01T10:00:01.5Z 2020-01-01T11:00:00Z", Second},
	} {
		p := of(t, lines("c,x", 2, func(i int) string { return strings.Fields(c.values)[i] + ",x" }), Options{})
		if got := p.Column("c").Time; got == nil || got.Granularity != c.want {
			t.Errorf("%s: %+v, want %s", c.values, got, c.want)
		}
	}
	p := of(t, lines("created_at,n", 100, func(i int) string { return fmt.Sprint(1_600_000_000_000+int64(i)*1000, ",", 1_600_000_000+i) }), Options{})
	if tm := p.Column("created_at").Time; tm == nil || tm.First.Unix() != 1_600_000_000 {
		t.Errorf("%+v", tm)
	}
	if tm := p.Column("n").Time; tm != nil {
		t.Errorf("a number is a time: %+v", tm)
	}
}

func TestGivenTypes(t *testing.T) {
	text := "a,b\n1,x\nq,y\n3,z\n"
	if _, err := Of(t.Context(), open(t, text), Options{Types: map[string]*value.Type{"a": value.Native(value.Int)}}); err == nil || !strings.Contains(err.Error(), `:3: column "a": "q" is no int`) {
		t.Errorf("%v", err)
	}
	p := of(t, text, Options{Types: map[string]*value.Type{"a": value.Native(value.Int)}, MaxBadRows: 1})
	if p.Rows != 2 || p.Bad != 1 || p.Bads[0].Line != 3 || p.Column("a").Type.Kind != value.Int || !p.Column("a").Given || p.Column("b").Values != 2 {
		t.Errorf("%+v", p)
	}
	if _, err := Of(t.Context(), open(t, text), Options{Types: map[string]*value.Type{"aa": value.Native(value.Int)}}); err == nil || rows.Hint(err) == "" {
		t.Errorf("%v", err)
	}
}

// exact computes by maps what a candidate does.
type exact struct {
	sizes map[string]int
	pks   map[string]int
	lost  int
	peak  map[string]int
}

// TestMeasureIsExactWhereItFits checks that candidates of small data are measured exactly, whatever
// the number of goroutines is.
func TestMeasureIsExactWhereItFits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	type record struct {
		day, user, code string
		at              string
	}
	var data []record
	for range 5000 {
		d, s := rnd.IntN(20)+1, rnd.IntN(86400)
		data = append(data, record{
			day: fmt.Sprintf("2020-07-%02d", d), user: fmt.Sprint(rnd.IntN(50)), code: fmt.Sprintf("code%d", rnd.IntN(7)*rnd.IntN(7)),
			at: fmt.Sprintf("2020-07-%02dT%02d:%02d:%02dZ", d, s/3600, s/60%60, s%60),
		})
	}
	src := open(t, lines("day,user,code,at", len(data), func(i int) string {
		return strings.Join([]string{data[i].day, data[i].user, data[i].code, data[i].at}, ",")
	}))
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	candidates := []Candidate{
		{Partition: []Part{{Column: "code"}}, Clustering: []string{"user"}, Time: "at"},
		{Partition: []Part{{Column: "day"}, {Column: "user"}}, Clustering: []string{"code"}},
		{Partition: []Part{{Column: "at", Bucket: Hour}, {Column: "code"}}, Clustering: []string{"user", "at"}, Time: "at"},
		{Partition: []Part{{Column: "code"}}, Clustering: []string{"user"}, Shards: 4},
		{Partition: []Part{{Column: "code"}}, Clustering: []string{"user", "at"}, Shards: 4, By: []string{"at"}},
	}
	for _, workers := range []int{1, 3} {
		got, partial, err := Measure(t.Context(), src, p, candidates, Options{Workers: workers})
		if err != nil || partial {
			t.Fatal(err)
		}
		keys := []func(r record) (key, pk string){
			func(r record) (string, string) { return r.code, r.code + "/" + r.user },
			func(r record) (string, string) { return r.day + "/" + r.user, r.day + "/" + r.user + "/" + r.code },
			func(r record) (string, string) {
				return r.at[:13] + "/" + r.code, r.at[:13] + "/" + r.code + "/" + r.user + r.at
			},
		}
		for i, key := range keys {
			m := got[i]
			want := exact{sizes: map[string]int{}, pks: map[string]int{}, peak: map[string]int{}}
			for _, r := range data {
				k, pk := key(r)
				want.sizes[k]++
				want.pks[pk]++
				want.peak[k+" "+r.at]++
			}
			var sizes []int
			largest, peak := 0, 0
			for _, n := range want.sizes {
				sizes = append(sizes, n)
				largest = max(largest, n)
			}
			for _, n := range want.peak {
				peak = max(peak, n)
			}
			for _, n := range want.pks {
				want.lost += n - 1
			}
			slices.Sort(sizes)
			if m.Rows != int64(len(data)) || m.Unkeyed != 0 || m.Partitions != exactly(float64(len(sizes))) || m.Lost != exactly(float64(want.lost)) {
				t.Errorf("candidate %d: %d rows, %v partitions, %v lost; want %d, %d", i, m.Rows, m.Partitions, m.Lost, len(sizes), want.lost)
			}
			if q := float64(sizes[int(math.Ceil(0.99*float64(len(sizes))))-1]); m.RowSizes.P99 != exactly(q) || m.RowSizes.Max != exactly(float64(largest)) {
				t.Errorf("candidate %d: p99 %v, max %v; want %v, %d", i, m.RowSizes.P99, m.RowSizes.Max, q, largest)
			}
			if n := want.sizes[strings.TrimSuffix(strings.Join(m.Largest[0].Values, "/"), "")]; i < 2 && (n != largest || m.Largest[0].Rows.Value < float64(largest)) {
				t.Errorf("candidate %d: the largest is %v", i, m.Largest[0])
			}
			sum := 0.0
			for _, n := range m.Tokens {
				sum += n
			}
			if math.Abs(sum-float64(len(data))) > 1e-6 {
				t.Errorf("candidate %d: tokens have %v rows", i, sum)
			}
			if candidates[i].Time != "" {
				if m.Peak.Rows.Low > float64(peak) || m.Peak.Rows.High < float64(peak) || m.Peak.Granularity != Second {
					t.Errorf("candidate %d: peak %+v, want %d", i, m.Peak, peak)
				}
			} else if m.Peak != nil {
				t.Errorf("candidate %d: a peak without a time", i)
			}
		}
		// Each code has four shards, by all clustering columns or by one.
		if n := got[3].Partitions.Value; n <= got[0].Partitions.Value || n > 4*got[0].Partitions.Value || got[3].Lost != got[0].Lost {
			t.Errorf("sharded: %v partitions of %v", n, got[0].Partitions.Value)
		}
		for _, l := range got[4].Largest {
			if l.Shard < 1 || l.Shard > 4 {
				t.Errorf("shard %d", l.Shard)
			}
		}
		// Tokens are Cassandra's: of a text, and of a composite with the shard behind the text.
		for _, l := range got[0].Largest {
			if want := partitioner.Murmur3([]byte(l.Values[0])); l.Token != want {
				t.Errorf("token of %s is %d, want %d", l.Values[0], l.Token, want)
			}
		}
		l := got[3].Largest[0]
		if want := partitioner.Murmur3(partitioner.AppendComposite(nil, []byte(l.Values[0]), []byte{0, 0, 0, byte(l.Shard)})); l.Token != want {
			t.Errorf("token of %v is %d, want %d", l, l.Token, want)
		}
	}
}

// TestMeasureHolds checks that for large data, the intervals contain what maps count.
func TestMeasureHolds(t *testing.T) {
	const n = 300_000
	for _, s := range []float64{1.01, 1.2, 1.4} {
		rnd := rand.New(rand.NewPCG(uint64(s*100), 3))
		zipf := rand.NewZipf(rnd, s, 3, 80_000)
		keys := make([]int, n)
		sizes := make(map[int]int)
		pks := make(map[[2]int]int)
		second := make([]int, n)
		for i := range keys {
			keys[i], second[i] = int(zipf.Uint64()), rnd.IntN(40_000)
			sizes[keys[i]]++
			pks[[2]int{keys[i], second[i]}]++
		}
		src := open(t, lines("k,c,text", n, func(i int) string {
			return fmt.Sprintf("user-%d,%d,%s", keys[i], second[i], strings.Repeat("x", keys[i]%30+1))
		}))
		p, err := Of(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		hold := func(name string, e Estimate, truth float64) {
			t.Helper()
			if truth < e.Low-1e-9 || truth > e.High+1e-9 || e.Value < e.Low || e.Value > e.High {
				t.Errorf("zipf %.2f, %s: %v to %v (%v), in truth %v", s, name, e.Low, e.High, e.Value, truth)
			}
		}
		hold("distinct", p.Column("k").Distinct, float64(len(sizes)))
		m, _, err := Measure(t.Context(), src, p, []Candidate{{Partition: []Part{{Column: "k"}}, Clustering: []string{"c"}}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var sorted []float64
		most, lost := 0.0, 0.0
		for _, n := range sizes {
			sorted = append(sorted, float64(n))
			most = max(most, float64(n))
		}
		for _, n := range pks {
			lost += float64(n - 1)
		}
		slices.Sort(sorted)
		at := func(q float64) float64 { return sorted[int(math.Ceil(q*float64(len(sorted))))-1] }
		hold("partitions", m[0].Partitions, float64(len(sizes)))
		hold("p50", m[0].RowSizes.P50, at(0.5))
		hold("p90", m[0].RowSizes.P90, at(0.9))
		hold("p99", m[0].RowSizes.P99, at(0.99))
		hold("max", m[0].RowSizes.Max, most)
		hold("lost", m[0].Lost, lost)
		for i, l := range m[0].Largest {
			var k int
			if _, err := fmt.Sscanf(l.Values[0], "user-%d", &k); err != nil {
				t.Fatal(err)
			}
			hold(fmt.Sprint("largest ", i), l.Rows, float64(sizes[k]))
			over := int64(0)
			for _, n := range l.Over {
				over += n
			}
			if float64(over) > l.Rows.High {
				t.Errorf("%d rows over time of %v", over, l.Rows)
			}
		}
	}
}

func TestBadCandidates(t *testing.T) {
	src := open(t, "a,b\n1,x\n2,y\n")
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		c    Candidate
		want string
	}{
		{Candidate{}, "at least one column"},
		{Candidate{Partition: []Part{{Column: "c"}}}, `there is no column "c"`},
		{Candidate{Partition: []Part{{Column: "a", Bucket: Day}}}, `has no times to make days of`},
		{Candidate{Partition: []Part{{Column: "a"}}, Clustering: []string{"a"}}, "twice"},
		{Candidate{Partition: []Part{{Column: "a"}}, Time: "b"}, "has no times"},
	} {
		if _, _, err := Measure(t.Context(), src, p, []Candidate{c.c}, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.c, err, c.want)
		}
	}
}

func TestNullKeysAreRefused(t *testing.T) {
	src := open(t, "a,b,c\n1,x,5\n,y,5\n2,,5\n3,z,\n")
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Measure(t.Context(), src, p, []Candidate{{Partition: []Part{{Column: "a"}}, Clustering: []string{"b"}}}, Options{})
	if err != nil || m[0].Unkeyed != 2 || m[0].Rows != 2 {
		t.Errorf("%+v, %v", m[0], err)
	}
}

// TestPartial checks that the result is about the rows read before the context ended, and says so.
func TestPartial(t *testing.T) {
	src := open(t, lines("a", 500_000, func(i int) string { return fmt.Sprint(i) }))
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Of(ctx, src, Options{Workers: 1, Progress: func(bytes, rows int64) { cancel() }})
	if err != nil || !p.Partial || p.Rows == 0 || p.Rows == 500_000 {
		t.Fatalf("%+v, %v", p, err)
	}
	// Candidates are measured on the same rows, although the context has ended.
	m, partial, err := Measure(ctx, src, p, []Candidate{{Partition: []Part{{Column: "a"}}}}, Options{Workers: 2})
	if err != nil || partial || m[0].Rows != p.Rows {
		t.Errorf("%d rows measured of %d, partial %v, %v", m[0].Rows, p.Rows, partial, err)
	}
	p.Partial = false
	if m, partial, err = Measure(ctx, src, p, []Candidate{{Partition: []Part{{Column: "a"}}}}, Options{}); err != nil || !partial || m[0].Rows != 0 {
		t.Errorf("%d rows measured after the end, partial %v, %v", m[0].Rows, partial, err)
	}
	if c := p.Column("a"); c.Min != "0" || c.Max != fmt.Sprint(p.Rows-1) {
		t.Errorf("%s to %s of %d", c.Min, c.Max, p.Rows)
	}
}

// TestNodes checks that a ring's nodes have all rows, each row as often as it has replicas.
func TestNodes(t *testing.T) {
	src := open(t, lines("a,b", 1000, func(i int) string { return fmt.Sprint(i%10, ",", i) }))
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Measure(t.Context(), src, p, []Candidate{{Partition: []Part{{Column: "a"}}, Clustering: []string{"b"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	load := m[0].Nodes(2, []int64{-1 << 62, 0, 1 << 62}, [][]int{{0}, {1}, {0, 1}})
	want := make([]float64, 2)
	for k := range 10 {
		token := partitioner.Murmur3([]byte{0, 0, 0, byte(k)})
		switch {
		case token <= -1<<62 || token > 1<<62:
			want[0] += 100
		case token <= 0:
			want[1] += 100
		default:
			want[0] += 100
			want[1] += 100
		}
	}
	if !slices.Equal(load, want) {
		t.Errorf("%v, want %v", load, want)
	}
}

// TestColumnsThatComeLater checks that JSON Lines may have new columns in later lines, with one
// goroutine or with several.
func TestColumnsThatComeLater(t *testing.T) {
	text := lines(`{"a":0}`, 200_000, func(i int) string {
		if i < 100_000 {
			return fmt.Sprintf(`{"a":%d,"pad":"%020d"}`, i, i)
		}
		return fmt.Sprintf(`{"a":%d,"late":"%d"}`, i, i%3)
	})
	src := open(t, text)
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	late := p.Column("late")
	if late == nil || late.Values != 100_000 || late.Nulls != 100_001 || late.Distinct != exactly(3) || late.Type.Kind != value.Text {
		t.Fatalf("%+v", late)
	}
	m, _, err := Measure(t.Context(), src, p, []Candidate{{Partition: []Part{{Column: "late"}}, Clustering: []string{"a"}}}, Options{})
	if err != nil || m[0].Rows != 100_000 || m[0].Unkeyed != 100_001 {
		t.Errorf("%+v, %v", m[0], err)
	}
}
