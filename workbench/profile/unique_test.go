// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/rows"
)

// TestUniqueIsProven checks that values that always go up are different, and so are primary keys
// that contain them: the profile knows this exactly for any number of rows. It notices one value
// that comes twice.
func TestUniqueIsProven(t *testing.T) {
	const n = 200_000
	for _, twice := range []bool{false, true} {
		src := open(t, lines("id,day,code,random", n, func(i int) string {
			id := i * 3
			if twice && i == 150_001 {
				id -= 3
			}
			return fmt.Sprintf("%d,2020-07-%02d,c%d,%x", id, i*28/n+1, i%9, mixed(uint64(i)))
		}))
		p, err := Of(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := exactly(n)
		if d := p.Column("id").Distinct; (d == want) == twice {
			t.Errorf("one twice %v: %+v", twice, d)
		}
		if d := p.Column("random").Distinct; d.Low > n || d.High < n {
			t.Errorf("in no order: %+v", d)
		}
		m, _, err := Measure(t.Context(), src, p, []Candidate{
			{Partition: []Part{{Column: "day"}}, Clustering: []string{"id"}},
			{Partition: []Part{{Column: "day"}}, Clustering: []string{"code"}},
			{Partition: []Part{{Column: "random"}}},
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]float64{true: 1}[twice]; m[0].Lost.Low > want || m[0].Lost.High < want || !twice && !m[0].Lost.Exact {
			t.Errorf("one twice %v: %+v lost", twice, m[0].Lost)
		}
		if m[1].Lost != exactly(n-28*9) {
			t.Errorf("%+v lost", m[1].Lost)
		}
		if m[2].Lost.Low > 0 || m[2].Lost.Value > 0 {
			t.Errorf("%+v lost", m[2].Lost)
		}
	}
}

// TestSupersetsAreUnique checks that if some columns tell all rows apart, more columns do so, too,
// and need not be counted.
func TestSupersetsAreUnique(t *testing.T) {
	src := open(t, lines("random,code", 50_000, func(i int) string { return fmt.Sprintf("%x,c%d", mixed(uint64(i)), i%9) }))
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Measure(t.Context(), src, p, []Candidate{
		{Partition: []Part{{Column: "code"}}, Clustering: []string{"random"}},
		{Partition: []Part{{Column: "random"}}},
	}, Options{})
	if err != nil || m[0].Lost != exactly(0) || m[1].Lost != exactly(0) {
		t.Errorf("%+v, %+v, %v", m[0].Lost, m[1].Lost, err)
	}
}

// TestAddDoesNotAllocate checks that neither profiling nor measuring allocates for each row.
func TestAddDoesNotAllocate(t *testing.T) {
	text := lines("id,at,customer,amount,device,note", 20_000, func(i int) string {
		return fmt.Sprintf("%d,2024-01-%02dT10:%02d:%02dZ,c%d,%d.%02d,%08x-0000-4000-8000-000000000000,%s", i, i/1000+1, i/60%60, i%60, mixed(uint64(i))%5000, i%500, i%100, mixed(uint64(i))>>32, strings.Repeat("x", i%20))
	})
	src := open(t, text)
	p, err := Of(t.Context(), src, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayout(p, src, []Candidate{
		{Partition: []Part{{Column: "customer"}, {Column: "at", Bucket: Day}}, Clustering: []string{"id"}, Time: "at"},
		{Partition: []Part{{Column: "device"}}, Clustering: []string{"at"}, Time: "at"},
		{Partition: []Part{{Column: "customer"}}, Clustering: []string{"at"}, Shards: 8},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Workers: 1}.withDefaults()
	for _, c := range []struct {
		name    string
		columns []string
		add     func(*rows.Batch)
	}{
		{"profile", nil, func() func(*rows.Batch) {
			w := newProfiler()
			w.meet(src.Columns(), len(src.Columns()), o, nil)
			return w.add
		}()},
		{"measure", l.columns, newMeasurer(l, o).add},
	} {
		if _, err := src.Scan(t.Context(), rows.ScanOptions{Workers: 1, Columns: c.columns}, func(_ int, b *rows.Batch) error {
			for range 30 { // until there is room for all
				c.add(b)
			}
			if n := testing.AllocsPerRun(5, func() { c.add(b) }) / float64(b.N); n > 0.002 {
				t.Errorf("%s: %v allocations a row", c.name, n)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, add func(p *Profile, src *rows.Source) (func(*rows.Batch), []string)) {
	src := open(b, lines("id,at,customer,amount,device,note", 40_000, func(i int) string {
		return fmt.Sprintf("%d,2024-01-%02dT10:%02d:%02dZ,c%d,%d.%02d,%08x-0000-4000-8000-000000000000,%s", i, i/2000+1, i/60%60, i%60, mixed(uint64(i))%5000, i%500, i%100, mixed(uint64(i))>>32, strings.Repeat("x", i%20))
	}))
	p, err := Of(b.Context(), src, Options{})
	if err != nil {
		b.Fatal(err)
	}
	f, columns := add(p, src)
	b.ReportAllocs()
	total := int64(0)
	for b.Loop() {
		s, err := src.Scan(b.Context(), rows.ScanOptions{Workers: 1, Columns: columns}, func(_ int, batch *rows.Batch) error {
			f(batch)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		total += s.Rows
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/row")
}

func BenchmarkProfile(b *testing.B) {
	benchmark(b, func(p *Profile, src *rows.Source) (func(*rows.Batch), []string) {
		w := newProfiler()
		w.meet(src.Columns(), len(src.Columns()), Options{Workers: 1}.withDefaults(), nil)
		return w.add, nil
	})
}

func BenchmarkMeasure(b *testing.B) {
	benchmark(b, func(p *Profile, src *rows.Source) (func(*rows.Batch), []string) {
		var cs []Candidate
		for _, c := range []string{"customer", "device", "note"} {
			for _, g := range []Granularity{Hour, Day} {
				cs = append(cs, Candidate{Partition: []Part{{Column: c}, {Column: "at", Bucket: g}}, Clustering: []string{"id"}, Time: "at"})
			}
		}
		l, err := newLayout(p, src, cs, nil)
		if err != nil {
			b.Fatal(err)
		}
		return newMeasurer(l, Options{Workers: 1}.withDefaults()).add, l.columns
	})
}

// TestManyKeysAreCounted checks that keys are counted one by one while there is room. The sizes of
// tens of thousands of skewed keys are exact, even beside keys that are different in each row.
func TestManyKeysAreCounted(t *testing.T) {
	const n, keys = 150_000, 20_000
	counts := make(map[int]int)
	key := func(i int) int {
		h := mixed(uint64(i))
		if h%2 == 0 {
			return int(mixed(h) % keys)
		}
		return int(mixed(h) % (1 + mixed(h+1)%keys))
	}
	src := open(t, lines("id,key", n, func(i int) string {
		counts[key(i)]++
		return fmt.Sprintf("%x,k%d", mixed(uint64(i)^99), key(i))
	}))
	p, err := Of(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Column("key").Distinct; d != exactly(float64(len(counts))) {
		t.Errorf("%+v values, not %d", d, len(counts))
	}
	m, _, err := Measure(t.Context(), src, p, []Candidate{
		{Partition: []Part{{Column: "id"}}, Clustering: []string{"key"}},
		{Partition: []Part{{Column: "key"}}, Clustering: []string{"id"}},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, c := range counts {
		sizes = append(sizes, c)
	}
	slices.Sort(sizes)
	if want := exactly(float64(sizes[(len(sizes)*99+99)/100-1])); m[1].RowSizes.P99 != want || m[1].Partitions != exactly(float64(len(counts))) {
		t.Errorf("p99 %+v, not %+v; %+v partitions", m[1].RowSizes.P99, want, m[1].Partitions)
	}
}
