// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// key returns a position as a store makes it.
func key(hash, sort string) Key {
	sum := md5.Sum([]byte(hash))
	p := append(sum[:4:4], hash...)
	p = append(p, 0, 1)
	return Key{Position: append(p, sort...), Collection: len(p)}
}

// load offers writes of one unit at a rate, evenly in time, and returns the number of writes that
// were admitted in each second.
func load(m *Model, from time.Time, seconds, rate int, next func(i int) Key) []int {
	taken := make([]int, seconds)
	for i := range seconds * rate {
		at := from.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if m.Take(Write, next(i), 1, at) == 0 {
			taken[i/rate]++
		}
	}
	return taken
}

func mean(taken []int) float64 {
	sum := 0
	for _, n := range taken {
		sum += n
	}
	return float64(sum) / float64(len(taken))
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > want*tolerance {
		t.Errorf("%s: %.1f, not %.1f ± %.0f%%", what, got, want, 100*tolerance)
	}
}

// shardKeys returns the n keys of a sharded partition, and the number of the
// partition that each is in.
func shardKeys(m *Model, invoice string, n int) (names []string, in []int) {
	for s := 1; s <= n; s++ {
		name := fmt.Sprintf("%s-%d", invoice, s)
		names = append(names, name)
		in = append(in, m.PartitionOf(key(name, "").Position))
	}
	return names, in
}

func distinct(in []int) int {
	seen := map[int]bool{}
	for _, p := range in {
		seen[p] = true
	}
	return len(seen)
}

// A table is pre-warmed so that each of N shard keys has its own partition. It then takes N times
// as much as one partition.
func TestPrewarmed(t *testing.T) {
	const n = 5
	var m *Model
	var names []string
	for warm := n; ; warm *= 2 {
		m = New(Limits{}, Settings{OnDemand: true, Warm: Rate{Write: float64(warm) * 1000}}, start)
		var in []int
		if names, in = shardKeys(m, "121212", n); distinct(in) == n {
			break
		}
	}
	draw := rand.New(rand.NewPCG(1, 2))
	taken := load(m, start, 40, 8000, func(i int) Key { return key(names[draw.IntN(n)], fmt.Sprint(i)) })
	near(t, "writes a second", mean(taken[2:]), n*1000, 0.02)
}

// A fresh on-demand table has four partitions. It takes 1,000 for each one that has a key, and the
// map shows which keys share a partition.
func TestFresh(t *testing.T) {
	m := New(Limits{}, Settings{OnDemand: true}, start)
	if m.Partitions() != 4 {
		t.Fatalf("%d partitions", m.Partitions())
	}
	const n = 5
	names, in := shardKeys(m, "121212", n)
	occupied := distinct(in)
	if occupied == n || occupied == 1 {
		t.Fatalf("keys that say nothing: %v", in)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	taken := load(m, start, 30, 8000, func(i int) Key { return key(names[draw.IntN(n)], fmt.Sprint(i)) })
	near(t, "writes a second", mean(taken[2:]), float64(occupied)*1000, 0.02)
	at := start.Add(30 * time.Second)
	for i, p := range m.Map(at) {
		var want []string
		for k, name := range names {
			if in[k] == i {
				want = append(want, name)
			}
		}
		if len(p.Keys) != len(want) {
			t.Errorf("partition %d has %d keys, not %v", i, len(p.Keys), want)
		}
		for _, name := range want {
			found := false
			for _, k := range p.Keys {
				found = found || string(k.Key) == string(key(name, "").collection()) && k.Units > 0
			}
			if !found {
				t.Errorf("partition %d does not know key %s", i, name)
			}
		}
		switch {
		case len(want) > 0 && (p.Write.Units < 990 || p.Write.Units > 1010):
			t.Errorf("partition %d took %v units in a second", i, p.Write.Units)
		case len(want) > 1 && p.Write.RefusedTotal == 0:
			t.Errorf("partition %d refused nothing", i)
		}
	}
}

// A partition is split for heat after the delay, if that helps.
func TestSplitForHeat(t *testing.T) {
	const after = 5 * time.Second
	draw := rand.New(rand.NewPCG(1, 2))
	scattered := func(int) Key { return key("121212", fmt.Sprintf("%08x", draw.Uint32())) }
	increasing := func(i int) Key { return key("121212", fmt.Sprintf("%08d", i)) }
	decreasing := func(i int) Key { return key("121212", fmt.Sprintf("%08d", 1e7-i)) }
	around := func(i int) Key { return key("121212", fmt.Sprintf("%08d", i*7919%20_000_003)) } // a key returns about every second
	onItem := func(int) Key { return key("121212", "one") }
	for _, c := range []struct {
		name  string
		whole bool
		next  func(i int) Key
		want  float64
	}{
		{"scattered sort keys", false, scattered, 2000},
		{"sort keys that increase and begin again", false, around, 2000},
		{"increasing sort keys", false, increasing, 1000},
		{"decreasing sort keys", false, decreasing, 1000},
		{"one item", false, onItem, 1000},
		{"scattered, local index", true, scattered, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(Limits{SplitAfter: after}, Settings{OnDemand: true, Whole: c.whole}, start)
			taken := load(m, start, 10, 3000, c.next)
			near(t, "before", mean(taken[2:5]), 1000, 0.02)
			near(t, "after", mean(taken[7:10]), c.want, 0.02)
			if split := m.Partitions() > 4; split != (c.want > 1000) {
				t.Errorf("%d partitions", m.Partitions())
			}
		})
	}
	t.Run("goes on", func(t *testing.T) {
		m := New(Limits{SplitAfter: after}, Settings{OnDemand: true}, start)
		taken := load(m, start, 14, 6000, scattered)
		near(t, "after two rounds", mean(taken[12:]), 4000, 0.03)
	})
	t.Run("two keys of one partition, local index", func(t *testing.T) {
		m := New(Limits{SplitAfter: after}, Settings{OnDemand: true, Whole: true, Provisioned: Rate{}}, start)
		a, b := colliding(m)
		taken := load(m, start, 10, 3000, func(i int) Key { return key([]string{a, b}[i%2], fmt.Sprint(i)) })
		near(t, "before", mean(taken[2:5]), 1000, 0.02)
		near(t, "after", mean(taken[7:]), 2000, 0.02)
	})
	t.Run("never", func(t *testing.T) {
		m := New(Limits{SplitAfter: -1}, Settings{OnDemand: true}, start)
		near(t, "all the time", mean(load(m, start, 20, 3000, scattered)[1:]), 1000, 0.02)
	})
	t.Run("cold in between", func(t *testing.T) {
		m := New(Limits{SplitAfter: after}, Settings{OnDemand: true}, start)
		for i := range 4 { // each time, for less than the delay
			load(m, start.Add(time.Duration(i)*time.Minute), 4, 3000, scattered)
		}
		if m.Partitions() != 4 {
			t.Errorf("%d partitions", m.Partitions())
		}
	})
}

func colliding(m *Model) (a, b string) {
	in := map[int]string{}
	for i := 0; ; i++ {
		name := fmt.Sprint("k", i)
		p := m.PartitionOf(key(name, "").Position)
		if was, ok := in[p]; ok {
			return was, name
		}
		in[p] = name
	}
}

// The keys of ten writers, each of which only increase, are divided between partitions.
func TestIncreasingKeysOfManyDevices(t *testing.T) {
	m := New(Limits{SplitAfter: 5 * time.Second, Fresh: Rate{Read: 1, Write: 1}}, Settings{OnDemand: true}, start)
	taken := load(m, start, 10, 3000, func(i int) Key { return key(fmt.Sprint("device", i%10), fmt.Sprintf("%08d", i)) })
	if got := mean(taken[7:]); got < 1500 {
		t.Errorf("%v writes a second after the split", got)
	}
}

// An even load on a fresh table gets 4,000 at once, and twice the peak after a while.
func TestOnDemandGrowth(t *testing.T) {
	m := New(Limits{SplitAfter: 30 * time.Second}, Settings{OnDemand: true}, start)
	draw := rand.New(rand.NewPCG(1, 2))
	even := func(int) Key { return key(fmt.Sprint(draw.Uint32()), "") }
	near(t, "fresh", mean(load(m, start, 25, 6000, even)[2:]), 4000, 0.01)
	load(m, start.Add(25*time.Second), 30, 3600, even)
	if n := m.Partitions(); n < 8 {
		t.Errorf("%d partitions", n)
	}
	if p := m.Peak(); p.Write < 3900 || p.Write > 4500 {
		t.Errorf("peak %v", p)
	}
	near(t, "grown", mean(load(m, start.Add(2*time.Minute), 8, 7000, even)[2:]), 7000, 0.03)
}

func TestTableLimits(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	even := func(int) Key { return key(fmt.Sprint(draw.Uint32()), "") }
	warm := Rate{Write: 100_000}
	for _, c := range []struct {
		name   string
		limits Limits
		s      Settings
		rate   int
		want   float64
		why    Refusal
	}{
		{"provisioned", Limits{Burst: -1}, Settings{Provisioned: Rate{Read: 5, Write: 200}}, 1000, 200, ProvisionedThroughput},
		{"maximum", Limits{}, Settings{OnDemand: true, Maximum: Rate{Write: 300}}, 1000, 300, MaxOnDemand},
		{"account", Limits{Account: Rate{Write: 2500}}, Settings{OnDemand: true, Warm: warm}, 5000, 2500, AccountLimit},
		{"no account", Limits{Account: Rate{Read: -1, Write: -1}}, Settings{OnDemand: true, Warm: warm}, 5000, 5000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(c.limits, c.s, start)
			near(t, "writes a second", mean(load(m, start, 10, c.rate, even)[2:]), c.want, 0.02)
			if got := m.Admit(Write, even(0), start.Add(10*time.Second-time.Nanosecond)); got != c.why {
				t.Errorf("refused for %v", got)
			}
		})
	}
}

// Unused provisioned units of 300 seconds can be taken later. One partition can take them up to its
// own limit.
func TestBurst(t *testing.T) {
	m := New(Limits{}, Settings{Provisioned: Rate{Read: 1, Write: 100}}, start)
	one := func(i int) Key { return key("121212", fmt.Sprint(i)) }
	taken := load(m, start.Add(time.Hour), 60, 2000, one)
	near(t, "burst", mean(taken[1:20]), 1000, 0.02)
	near(t, "afterwards", mean(taken[40:]), 100, 0.02)
	sum := mean(taken) * 60
	near(t, "in all", sum, 300*100+60*100, 0.03)
}

func TestConfigure(t *testing.T) {
	m := New(Limits{}, Settings{Provisioned: Rate{Read: 1, Write: 1}}, start)
	if m.Partitions() != 1 {
		t.Errorf("%d partitions", m.Partitions())
	}
	for _, c := range []struct {
		s    Settings
		want int
	}{
		{Settings{Provisioned: Rate{Read: 3001, Write: 10}}, 2},
		{Settings{Provisioned: Rate{Read: 1, Write: 1}}, 2}, // never merged
		{Settings{OnDemand: true}, 4},
		{Settings{OnDemand: true, Warm: Rate{Read: 30_000}}, 10},
		{Settings{OnDemand: true, Warm: Rate{Write: 1e12}}, MaxPartitions},
	} {
		m.Configure(c.s, start)
		if m.Partitions() != c.want || m.Settings() != c.s {
			t.Errorf("%+v: %d partitions, not %d", c.s, m.Partitions(), c.want)
		}
	}
}

func TestDebt(t *testing.T) {
	m := New(Limits{}, Settings{OnDemand: true}, start)
	k := key("a", "")
	if r := m.Take(Write, k, 5000, start); r != 0 {
		t.Errorf("a large request is refused: %v", r)
	}
	for _, c := range []struct {
		at   time.Duration
		want Refusal
	}{{0, KeyRange}, {3900 * time.Millisecond, KeyRange}, {4100 * time.Millisecond, 0}} {
		if got := m.Admit(Write, k, start.Add(c.at)); got != c.want {
			t.Errorf("after %s: %v", c.at, got)
		}
	}
	if r := m.Admit(Read, k, start); r != 0 {
		t.Errorf("reads are refused for writes: %v", r)
	}
}

func TestSplitForSize(t *testing.T) {
	m := New(Limits{PartitionBytes: 1 << 20}, Settings{Provisioned: Rate{Read: 1, Write: 1}}, start)
	for i := range 4000 {
		m.Place(key("121212", fmt.Sprintf("%08d", i)), 1024, start)
	}
	var all int64
	for _, p := range m.Map(start) {
		all += p.Bytes
		if p.Bytes > 1<<20 {
			t.Errorf("a partition of %d bytes", p.Bytes)
		}
	}
	if n := m.Partitions(); n < 4 || n > 12 || all < 3900<<10 || all > 4100<<10 {
		t.Errorf("%d partitions, %d bytes", n, all)
	}
	m = New(Limits{PartitionBytes: 1 << 20}, Settings{Provisioned: Rate{Read: 1, Write: 1}, Whole: true}, start)
	for i := range 4000 {
		m.Place(key("121212", fmt.Sprintf("%08d", i)), 1024, start)
	}
	if n := m.Partitions(); n != 1 {
		t.Errorf("a whole partition key is in %d partitions", n)
	}
}

func TestSpendRange(t *testing.T) {
	m := New(Limits{}, Settings{OnDemand: true}, start)
	first, last := Key{Position: []byte{0, 0, 0, 0}, Collection: 4}, Key{Position: []byte{0xff, 0xff, 0xff, 0xff}, Collection: 4}
	m.SpendRange(Read, last, first, 4000, start)
	for i, p := range m.Map(start.Add(time.Second)) {
		if p.Read.UnitsTotal != 1000 || p.Read.Units != 1000 || p.Share != 0.25 {
			t.Errorf("partition %d: %+v", i, p)
		}
	}
}

// Totals counts the units of all partitions, including split ones, and each limit separately.
func TestTotals(t *testing.T) {
	m := New(Limits{SplitAfter: time.Second}, Settings{OnDemand: true, Maximum: Rate{Write: 1500}}, start)
	at, refused := start, 0
	for i := range 30_000 {
		at = at.Add(100 * time.Microsecond)
		if m.Take(Write, key("121212", fmt.Sprint(i*7919%30_000)), 1, at) != 0 {
			refused++
		}
	}
	m.Take(Read, key("121212", ""), 2.5, at)
	got := m.Totals()
	var units float64
	var requests, own int64
	for _, p := range m.Map(at) {
		units += p.Write.UnitsTotal
		requests += p.Write.RefusedTotal
		own += p.Write.RefusedOwnTotal
	}
	if own == requests || own != got.Write.Throttled[0].Requests {
		t.Errorf("partitions have refused %d for themselves, of %d", own, requests)
	}
	if m.Partitions() < 5 || got.Write.Units != units || got.Write.Units != float64(30_000-refused) || requests != int64(refused) || got.Read.Units != 2.5 {
		t.Errorf("%d partitions, %+v, %v units, %d refused", m.Partitions(), got, units, refused)
	}
	text := func(all []Throttled) (s string) {
		for _, r := range all {
			if s += r.Reason() + " "; (r.Requests > 0) != (len(all) == 3 && r.Limit != AccountLimit) {
				t.Errorf("%s: %d requests", r.Reason(), r.Requests)
			}
		}
		return s
	}
	if s := text(got.Write.Throttled); s != "KeyRangeThroughputExceeded MaxOnDemandThroughputExceeded AccountLimitExceeded " {
		t.Error(s)
	}
	if s := text(got.Read.Throttled); s != "KeyRangeThroughputExceeded AccountLimitExceeded " {
		t.Error(s)
	}
}

func TestReasons(t *testing.T) {
	got := fmt.Sprint((KeyRange|ProvisionedThroughput).Reasons("Table", Write), AccountLimit.Reasons("Index", Read), MaxOnDemand.Reasons("Table", Read), Refusal(0).Reasons("Table", Read))
	if want := "[TableWriteKeyRangeThroughputExceeded TableWriteProvisionedThroughputExceeded] [IndexReadAccountLimitExceeded] [TableReadMaxOnDemandThroughputExceeded] []"; got != want {
		t.Error(got)
	}
}

// The hottest keys are found among many, and memory stays bounded.
func TestHotKeys(t *testing.T) {
	m := New(Limits{}, Settings{Provisioned: Rate{Read: 1, Write: 1000}}, start)
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		name := fmt.Sprint("cold", draw.IntN(5000))
		if i%4 == 0 {
			name = "hot"
		}
		m.Spend(Write, key(name, fmt.Sprint(i)), 1, start.Add(time.Duration(i)*time.Microsecond))
	}
	p := m.Map(start.Add(time.Second))[0]
	if len(p.Keys) != ListedKeys || string(p.Keys[0].Key) != string(key("hot", "").collection()) || p.Keys[0].Units < 4500 || p.Keys[0].Units > 5500 {
		t.Errorf("%d keys, the first %q with %v", len(p.Keys), p.Keys[0].Key, p.Keys[0].Units)
	}
	if p := m.Map(start.Add(time.Minute))[0]; len(p.Keys) != 0 || p.Write.Units != 0 {
		t.Errorf("a minute later: %+v", p)
	}
}

// In every case, the partitions cover the whole range of positions, in order, and no partition
// takes more than its limit over time.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Limits{SplitAfter: time.Second, PartitionBytes: 1 << 16}, Settings{OnDemand: rapid.Bool().Draw(t, "on demand"), Provisioned: Rate{Read: 100, Write: 5000}, Whole: rapid.Bool().Draw(t, "whole")}, start)
		at := start
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "ms")) * time.Millisecond)
			k := key(fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "hash")), fmt.Sprint(rapid.IntRange(0, 1000).Draw(t, "sort")))
			op := Op(rapid.IntRange(0, 1).Draw(t, "op"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				m.Place(k, int64(rapid.IntRange(-100, 20_000).Draw(t, "bytes")), at)
			case 1:
				m.SpendRange(op, k, Key{Position: binary.BigEndian.AppendUint32(nil, rapid.Uint32().Draw(t, "to")), Collection: 4}, 100, at)
			default:
				for range 50 {
					m.Take(op, k, float64(rapid.IntRange(1, 400).Draw(t, "units")), at)
				}
			}
		}
		var last []byte
		share := 0.0
		for i, p := range m.Map(at) {
			if string(p.From) != string(last) || i > 0 && p.From == nil {
				t.Fatalf("partition %d begins at %x, not %x", i, p.From, last)
			}
			if p.Bytes < 0 {
				t.Fatalf("partition %d has %d bytes", i, p.Bytes)
			}
			last = p.To
			share += p.Share
		}
		if last != nil || math.Abs(share-1) > 1e-9 {
			t.Fatalf("the partitions end at %x and have %v of the hashes", last, share)
		}
	})
}

func TestAllocations(t *testing.T) {
	m := New(Limits{}, Settings{OnDemand: true}, start)
	k := key("121212", "Client1")
	at := start
	if n := testing.AllocsPerRun(5000, func() {
		at = at.Add(100 * time.Microsecond)
		m.Admit(Write, k, at)
		m.Spend(Write, k, 1, at)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTake(b *testing.B) {
	m := New(Limits{}, Settings{OnDemand: true, Warm: Rate{Write: 50_000}}, start)
	all := make([]Key, 100)
	for i := range all {
		all[i] = key(fmt.Sprint(i), "x")
	}
	at := start
	for i := 0; b.Loop(); i++ {
		at = at.Add(10 * time.Microsecond)
		m.Take(Write, all[i%len(all)], 1, at)
	}
}
