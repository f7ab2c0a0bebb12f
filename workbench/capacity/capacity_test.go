// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/shard"
)

func plan(t *testing.T, r Request) *Plan {
	t.Helper()
	if r.Store == "" {
		r.Store = DynamoDB
	}
	p, err := For(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTheDocumentsExample checks the document's example: 5,000 writes per second of 1 KB fill five
// shards, without headroom; a sixth gives headroom.
func TestTheDocumentsExample(t *testing.T) {
	p := plan(t, Request{WritesPerSecond: 5000, ItemBytes: 1024})
	if p.Minimum != 5 || p.Recommended != 6 {
		t.Errorf("minimum %d, recommended %d; want 5 and 6", p.Minimum, p.Recommended)
	}
	if want := "ceil(5,000 writes/s × 1 WCU / 1,000 WCU) = 5"; p.Arithmetic != want {
		t.Errorf("arithmetic %q, want %q", p.Arithmetic, want)
	}
	five, six := p.Options[0], p.Options[1]
	if five.Shards != 5 || five.Load != 1 || five.ThrottledSecond < 0.9 || math.Abs(five.WritesRefused-0.0126) > 0.0002 {
		t.Errorf("five shards: %+v", five)
	}
	if six.Shards != 6 || six.ThrottledSecond > 1e-6 || six.WritesRefused > 1e-9 {
		t.Errorf("six shards: %+v", six)
	}
}

func TestMinimumIsTheFormula(t *testing.T) {
	for _, c := range []struct {
		writes float64
		bytes  int
		want   int
	}{
		{1, 1, 1}, {1000, 1024, 1}, {1001, 1024, 2}, {1000, 1025, 2}, {5000, 2048, 10}, {999.5, 1, 1}, {333, 3000, 1}, {0.1, 400 << 10, 1}, {334, 3072, 2},
	} {
		if p := plan(t, Request{WritesPerSecond: c.writes, ItemBytes: c.bytes}); p.Minimum != c.want || p.Recommended < p.Minimum {
			t.Errorf("%v writes of %d bytes: minimum %d, recommended %d, want %d", c.writes, c.bytes, p.Minimum, p.Recommended, c.want)
		}
	}
}

// TestRecommendedIsTheLeast checks that Recommended is the least number: one shard fewer exceeds
// the limit.
func TestRecommendedIsTheLeast(t *testing.T) {
	for _, r := range []Request{
		{WritesPerSecond: 5000, ItemBytes: 1024}, {WritesPerSecond: 1000, ItemBytes: 1024}, {WritesPerSecond: 905, ItemBytes: 10},
		{WritesPerSecond: 120_000, ItemBytes: 700}, {WritesPerSecond: 30, ItemBytes: 100_000}, {WritesPerSecond: 100, ItemBytes: 500, ReadsPerSecond: 40_000, StrongReads: true},
	} {
		p := plan(t, r)
		d := r.demand(r.ItemBytes)
		if got := d.throttled(p.Recommended); got > ThrottledSeconds {
			t.Errorf("%+v: %d shards throttle %g of the seconds", r, p.Recommended, got)
		}
		if p.Recommended > p.Minimum {
			if got := d.throttled(p.Recommended - 1); got <= ThrottledSeconds {
				t.Errorf("%+v: %d shards would do, %g", r, p.Recommended-1, got)
			}
		}
	}
}

// TestModelAgainstSimulation compares the model with a simulation: seconds of requests that are
// placed on shards one by one.
func TestModelAgainstSimulation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5000, 1024))
	for _, c := range []struct {
		r       Request
		n       int
		seconds int
	}{
		{Request{WritesPerSecond: 5000, ItemBytes: 1024}, 5, 2000},
		{Request{WritesPerSecond: 5600, ItemBytes: 1024}, 6, 3000},
		{Request{WritesPerSecond: 300, ItemBytes: 20_000}, 9, 20_000},
		{Request{WritesPerSecond: 40, ItemBytes: 200_000}, 30, 20_000},
		{Request{WritesPerSecond: 500, ItemBytes: 3000, ReadsPerSecond: 5550, StrongReads: true}, 2, 3000},
	} {
		d := c.r.demand(c.r.ItemBytes)
		throttled, writes, refused := 0, 0, 0
		count, reads := make([]int, c.n), make([]int, c.n)
		for range c.seconds {
			clear(count)
			clear(reads)
			w := poisson(rnd, d.writes)
			writes += w
			for range w {
				count[rnd.IntN(c.n)]++
			}
			for range poisson(rnd, d.reads) {
				reads[rnd.IntN(c.n)]++
			}
			bad := false
			for s := range c.n {
				if over := count[s] - PartitionWriteUnits/d.writeUnits; over > 0 {
					bad = true
					refused += over
				}
				bad = bad || float64(reads[s])*d.readUnits > PartitionReadUnits
			}
			if bad {
				throttled++
			}
		}
		want := d.throttled(c.n)
		got := float64(throttled) / float64(c.seconds)
		if dev := math.Sqrt(want*(1-want)/float64(c.seconds)) * 4; math.Abs(got-want) > dev+1e-9 {
			t.Errorf("%+v over %d: %.4f of the seconds throttled, the model says %.4f ± %.4f", c.r, c.n, got, want, dev)
		}
		wantRefused := d.at(c.n).WritesRefused
		if gotRefused := float64(refused) / float64(writes); math.Abs(gotRefused-wantRefused) > 0.1*wantRefused+1e-5 {
			t.Errorf("%+v over %d: %.5f of the writes refused, the model says %.5f", c.r, c.n, gotRefused, wantRefused)
		}
	}
}

// poisson draws by counting arrivals of unit exponentials.
func poisson(rnd *rand.Rand, mean float64) int {
	n := 0
	for at := rnd.ExpFloat64(); at < mean; at += rnd.ExpFloat64() {
		n++
	}
	return n
}

func TestHiddenKey(t *testing.T) {
	// 1,024 bytes are full: any key lifts such an item.
	p := plan(t, Request{WritesPerSecond: 5000, ItemBytes: 1024})
	if h := p.Hidden; !h.Lifts || h.KeyBytesFit != -1 || h.With == nil || h.With.WriteUnits != 2 || h.With.Minimum != 10 || h.With.Recommended < 11 {
		t.Errorf("1,024 bytes: %+v %+v", h, h.With)
	}
	if len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], "evenkeel.pk") {
		t.Errorf("warnings %q", p.Warnings)
	}
	// The length is len(key) + len(name) + 2 with one digit of shard: 6 + 11 + 2.
	for bytes, lifts := range map[int]bool{1024 - 19: false, 1024 - 18: true} {
		p := plan(t, Request{WritesPerSecond: 5000, ItemBytes: bytes, KeyBytes: 6})
		if h := p.Hidden; h.Bytes != 19 || h.Lifts != lifts {
			t.Errorf("%d bytes: %+v", bytes, h)
		}
	}
	if h := plan(t, Request{WritesPerSecond: 5000, ItemBytes: 1000}).Hidden; h.KeyBytesFit != 11 || !h.Lifts {
		t.Errorf("1,000 bytes: %+v", h)
	}
	if h := plan(t, Request{WritesPerSecond: 5000, ItemBytes: 500}).Hidden; h.Lifts || h.With != nil || h.KeyBytesFit != 511 {
		t.Errorf("500 bytes: %+v", h)
	}
	for bytes, lifts := range map[int]bool{1024 - 7: false, 1024 - 6: true} {
		if h := plan(t, Request{Store: Keyspaces, WritesPerSecond: 5000, ItemBytes: bytes}).Hidden; h.Lifts != lifts || h.Bytes != 7 {
			t.Errorf("keyspaces, %d bytes: %+v", bytes, h)
		}
	}
}

// TestHiddenKeyBeyondTheLimit checks that an item of the greatest size has no room for the hidden
// key.
func TestHiddenKeyBeyondTheLimit(t *testing.T) {
	for bytes, large := range map[int]bool{400 << 10: true, 400<<10 - 20: false} {
		p := plan(t, Request{WritesPerSecond: 1, ItemBytes: bytes, KeyBytes: 6})
		if p.Hidden.TooLarge != large || strings.Contains(strings.Join(p.Warnings, "\n"), "too large for DynamoDB") != large {
			t.Errorf("%d bytes: %+v, %q", bytes, p.Hidden, p.Warnings)
		}
	}
}

// TestPlansAreFinite checks that every plan can be printed, however odd the request is.
func TestPlansAreFinite(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	plans := 0
	for range 300 {
		r := Request{Store: []Store{DynamoDB, Keyspaces}[rnd.IntN(2)], WritesPerSecond: math.Exp(rnd.Float64()*34 - 13), ReadsPerSecond: math.Exp(rnd.Float64()*34-13) - 1e-6, StrongReads: rnd.IntN(2) == 0, ItemBytes: 1 + int(math.Exp(rnd.Float64()*13.8))}
		p, err := For(r)
		var bad *Invalid
		if err != nil {
			if !errors.As(err, &bad) {
				t.Errorf("%+v: %v", r, err)
			}
			continue
		}
		plans++
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
		if p.Recommended < p.Minimum || p.Minimum < 1 || p.Recommended > 10_000 {
			t.Errorf("%+v: %d, %d", r, p.Minimum, p.Recommended)
		}
		for i, o := range p.Options {
			if o.ThrottledSecond < 0 || o.ThrottledSecond > 1 || o.WritesRefused < 0 || o.WritesRefused > 1 || i > 0 && o.ThrottledSecond > p.Options[i-1].ThrottledSecond+1e-12 {
				t.Errorf("%+v: %+v", r, p.Options)
			}
		}
		for _, s := range p.Prewarm.Starts {
			if !(s.Served > 0 && s.Served <= 1) || s.Occupied < 0.99 || s.Occupied > float64(p.Recommended)+1e-6 {
				t.Errorf("%+v: %+v", r, s)
			}
		}
	}
	if plans < 100 {
		t.Errorf("only %d plans", plans)
	}
}

func TestReads(t *testing.T) {
	p := plan(t, Request{WritesPerSecond: 50_000, ItemBytes: 1024})
	if p.Reads.WholeKey != float64(p.Recommended)/2 || p.Reads.Point != 0.5 || p.Reads.Unsharded != 0.5 {
		t.Errorf("%+v", p.Reads)
	}
	// 3,000 strongly consistent reads of 4 KB fill a partition; of the others, 6,000 do.
	if p := plan(t, Request{WritesPerSecond: 1, ItemBytes: 4096, ReadsPerSecond: 3001, StrongReads: true}); p.Minimum != 2 {
		t.Errorf("strong: %d", p.Minimum)
	}
	if p := plan(t, Request{WritesPerSecond: 1, ItemBytes: 4096, ReadsPerSecond: 6000}); p.Minimum != 1 || p.Recommended != 2 {
		t.Errorf("eventual: %d, %d", p.Minimum, p.Recommended)
	}
}

// TestFreshTable checks that five keys on four partitions occupy 3.05 of them.
func TestFreshTable(t *testing.T) {
	s := start(5, FreshPartitions, PartitionWriteUnits, 5000)
	if s.Units != 4000 || math.Abs(s.Occupied-3.05) > 0.005 || math.Abs(s.Served-0.61) > 0.005 {
		t.Errorf("%+v", s)
	}
	p := plan(t, Request{WritesPerSecond: 5000, ItemBytes: 1024}).Prewarm
	for i := 1; i < len(p.Starts); i++ {
		if p.Starts[i].Served <= p.Starts[i-1].Served {
			t.Errorf("more partitions serve less: %+v", p.Starts)
		}
	}
	if p.Bound != "write" || p.WriteUnits != 6000 || p.ReadUnits != 0 {
		t.Errorf("%+v", p)
	}
	p = plan(t, Request{WritesPerSecond: 50, ItemBytes: 1024, ReadsPerSecond: 60_000}).Prewarm
	if p.Bound != "read" || p.WriteUnits != 50 || p.ReadUnits%PartitionReadUnits != 0 || p.ReadUnits < 33_000 {
		t.Errorf("%+v", p)
	}
}

func TestWrongRequests(t *testing.T) {
	good := Request{Store: DynamoDB, WritesPerSecond: 10, ItemBytes: 100}
	for field, change := range map[string][]func(*Request){
		"Store":           {func(r *Request) { r.Store = "mongodb" }},
		"WritesPerSecond": {func(r *Request) { r.WritesPerSecond = -1 }, func(r *Request) { r.WritesPerSecond = 0 }, func(r *Request) { r.WritesPerSecond = 1e-300 }, func(r *Request) { r.WritesPerSecond = math.NaN() }, func(r *Request) { r.WritesPerSecond = math.Inf(1) }, func(r *Request) { r.WritesPerSecond = 1e10 }, func(r *Request) { r.WritesPerSecond = 2e7 }, func(r *Request) { r.WritesPerSecond, r.ItemBytes = 9.999e6, 1024 }},
		"ReadsPerSecond":  {func(r *Request) { r.ReadsPerSecond = -1 }, func(r *Request) { r.ReadsPerSecond = math.NaN() }},
		"ItemBytes":       {func(r *Request) { r.ItemBytes = 0 }, func(r *Request) { r.ItemBytes = -7 }, func(r *Request) { r.ItemBytes = 400<<10 + 1 }, func(r *Request) { r.Store, r.ItemBytes = Keyspaces, 1<<20 }},
		"KeyBytes":        {func(r *Request) { r.KeyBytes = -1 }, func(r *Request) { r.KeyBytes = 2049 }, func(r *Request) { r.KeyBytes = 101 }},
	} {
		for i, f := range change {
			r := good
			f(&r)
			p, err := For(r)
			var bad *Invalid
			if !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s %d: %+v, %v", field, i, p, err)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 5: "5", 999: "999", 1000: "1,000", 1234567: "1,234,567", 0.5: "0.5", 12.345: "12.35", -1234.5: "-1,234.5", 0.0001: "0.0001"} {
		if got := Number(x); got != want {
			t.Errorf("Number(%v) = %s, want %s", x, got, want)
		}
	}
}

// TestMixed checks that writes of one size throttle as a plan says.
func TestMixed(t *testing.T) {
	for _, bytes := range []int{1024, 3000} {
		p, err := For(Request{Store: DynamoDB, WritesPerSecond: 5000, ItemBytes: bytes})
		if err != nil {
			t.Fatal(err)
		}
		m := Same(p.WriteUnits)
		for _, o := range p.Options {
			if got := m.Throttled(5000/float64(o.Shards), o.Shards); math.Abs(got-o.ThrottledSecond) > 1e-12 {
				t.Errorf("%d shards: %v, the plan says %v", o.Shards, got, o.ThrottledSecond)
			}
		}
		if n, ok := m.Shards(5000); n != p.Recommended || !ok {
			t.Errorf("%d bytes: %d shards, the plan says %d", bytes, n, p.Recommended)
		}
	}
	if Same(PartitionWriteUnits+1).Throttled(1, 1) != 1 {
		t.Error("a write that no partition takes is not throttled")
	}
	if n, ok := Same(1).Shards(1e12); ok || n != shard.MaxShards {
		t.Errorf("%d shards bear a million million writes a second", n)
	}
}

// TestMixedAgainstSimulation draws writes of several sizes one by one.
func TestMixedAgainstSimulation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 24))
	for _, c := range []struct {
		units  []int // equally frequent
		writes float64
		n      int
	}{
		{[]int{1, 2}, 1860, 3},
		{[]int{1, 1, 1, 9}, 560, 2},
		{[]int{2, 3, 4, 5, 6, 7}, 200, 1},
	} {
		var m Mixed
		for _, u := range c.units {
			m.Mean += float64(u) / float64(len(c.units))
			m.Square += float64(u*u) / float64(len(c.units))
		}
		const seconds = 4000
		throttled := 0
		count := make([]int, c.n)
		for range seconds {
			clear(count)
			for range poisson(rnd, c.writes) {
				count[rnd.IntN(c.n)] += c.units[rnd.IntN(len(c.units))]
			}
			if slices.Max(count) > PartitionWriteUnits {
				throttled++
			}
		}
		want, got := m.Throttled(c.writes/float64(c.n), c.n), float64(throttled)/seconds
		if dev := 4 * math.Sqrt(got*(1-got)/seconds); got == 0 || math.Abs(got-want) > dev+0.1*got {
			t.Errorf("%v: %.4f of the seconds are throttled, predicted are %.4f", c, got, want)
		}
	}
}
