// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/keys"
	"github.com/evenkeel/evenkeel/workbench/orders"
)

var big5 = big.NewInt(5)

func options(t testing.TB, p Partitioner, n int, texts ...string) Options {
	t.Helper()
	o := Options{Partitioner: p, Partitions: n, Within: -1}
	for _, text := range texts {
		e, err := keys.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = append(o.Keys, Key{Text: text, Expr: e})
	}
	return o
}

func simulation(t testing.TB, o Options) *Simulation {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// order returns the columns of an order that the options need.
func order(o *Options, r orders.Order) []string {
	var row []string
	for _, c := range o.Columns() {
		row = append(row, map[string]string{"code": strconv.Itoa(r.Code), "user": strconv.Itoa(r.User), "uuid": r.UUID}[c])
	}
	return row
}

func run(t testing.TB, o Options) *Report {
	t.Helper()
	s := simulation(t, o)
	for r := range orders.Orders(1) {
		if err := s.Add(order(&o, r)); err != nil {
			t.Fatal(err)
		}
	}
	return s.Report()
}

// TestTheExperimentToTheRow checks that the published experiment is reproduced to the row.
func TestTheExperimentToTheRow(t *testing.T) {
	o := options(t, MD5Mod, 4, "code", "code,user", "code,salt(user,200)", "uuid")
	o.Within = 150
	r := run(t, o)
	for i, want := range [][]int64{{2240, 1320, 920, 1130}, {1411, 1427, 1420, 1352}, {1384, 1325, 1397, 1504}} {
		if !slices.Equal(r.Keys[i].Sizes, want) {
			t.Errorf("%s: %v, want %v", r.Keys[i].Key, r.Keys[i].Sizes, want)
		}
	}
	if got := r.Keys[0].MaxOverMean; math.Abs(got-2240/1402.5) > 1e-12 {
		t.Errorf("max over mean %v", got)
	}
	if w := r.Keys[3].Within; w.Chance < 0.97 || w.Chance > 0.985 || w.Difference > 150 {
		t.Errorf("UUIDs: %+v", w)
	}
	if r.Keys[0].PValue > 1e-100 || r.Keys[1].PValue < 0.05 || r.Keys[3].PValue < 0.05 {
		t.Errorf("p: %v, %v, %v", r.Keys[0].PValue, r.Keys[1].PValue, r.Keys[3].PValue)
	}
}

// TestPlacementIsTheServers checks that placement under each partitioner equals a second
// computation with the packages that the server uses.
func TestPlacementIsTheServers(t *testing.T) {
	const n = 7
	for _, p := range []Partitioner{Murmur3, Random, MD5Mod, JavaMod} {
		o := options(t, p, n, "code,user", "user", "user,salt(code,5)", "user,shard(user,code,200)")
		if p.Tokens() {
			o.Types = map[string]*value.Type{"code": value.Named("int"), "user": value.Named("bigint")}
		}
		got := run(t, o)
		want := make([][]int64, 4)
		for i := range want {
			want[i] = make([]int64, n)
		}
		for r := range orders.Orders(1) {
			code, user := strconv.Itoa(r.Code), strconv.Itoa(r.User)
			if !p.Tokens() {
				mod := func(s string, n int) int {
					if p == JavaMod {
						return partitioner.JavaMod(s, n)
					}
					return partitioner.MD5Mod([]byte(s), n)
				}
				l := shard.Layout{N: 200}
				s := l.ShardOf(nil, []byte(user), []byte(code))
				want[0][mod(code+"#"+user, n)]++
				want[1][mod(user, n)]++
				want[2][mod(fmt.Sprintf("%s#%d", user, mod(code, 5)), n)]++
				want[3][mod(fmt.Sprintf("%s#%d", user, s), n)]++
				continue
			}
			c, _ := value.Named("int").FromString(code)
			u, _ := value.Named("bigint").FromString(user)
			place := func(values ...[]byte) int {
				key := partitioner.AppendComposite(nil, values...)
				if p == Random {
					f, _ := partitioner.Random(key).Float64()
					return int(f / math.Pow(2, 127) * n)
				}
				return int((float64(partitioner.Murmur3(key)) + math.Pow(2, 63)) / math.Pow(2, 64) * n)
			}
			salt := int(uint64(partitioner.Murmur3(c)) % 5)
			if p == Random {
				x := partitioner.Random(c)
				salt = int(x.Mod(x, big5).Int64())
			}
			l := shard.Layout{N: 200}
			want[0][place(c, u)]++
			want[1][place(u)]++
			want[2][place(u, []byte{0, 0, 0, byte(salt)})]++
			want[3][place(u, []byte{0, 0, 0, byte(l.ShardOf(nil, u, c))})]++
		}
		for i := range want {
			if !slices.Equal(got.Keys[i].Sizes, want[i]) {
				t.Errorf("%s, %s: %v, want %v", p, got.Keys[i].Key, got.Keys[i].Sizes, want[i])
			}
		}
	}
}

func TestPositions(t *testing.T) {
	if Random.position(nil) != 0 || Murmur3.position(nil) != 0 {
		t.Error("the empty key is not the first")
	}
	for _, n := range []int{1, 2, 3, 1000} {
		if rangeOf(0, n) != 0 || rangeOf(^uint64(0), n) != n-1 {
			t.Errorf("the ends of %d ranges", n)
		}
	}
	if rangeOf(1<<63, 2) != 1 || rangeOf(1<<63-1, 2) != 0 {
		t.Error("the middle is not the middle")
	}
}

// TestRing compares the ring with its definition: walk all tokens for each row.
func TestRing(t *testing.T) {
	for _, spec := range []Ring{{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}, {Nodes: 1, VNodes: 1, RF: 1}, {Nodes: 3, VNodes: 2, RF: 3, Seed: 9}, {Nodes: 5, VNodes: 1, RF: 2, Seed: 4}} {
		g := newRing(spec)
		primary, replica := g.ownership()
		sum, all := 0.0, 0.0
		for i := range replica {
			sum += primary[i]
			all += replica[i]
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(all-float64(spec.RF)) > 1e-9 {
			t.Errorf("%+v: ownership adds up to %v and %v", spec, sum, all)
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			at := rnd.Uint64()
			if rnd.IntN(10) == 0 { // a token itself belongs to its owner
				at = g.tokens[rnd.IntN(len(g.tokens))]
			}
			best, least := -1, uint64(0)
			for i, token := range g.tokens {
				if d := token - at; best < 0 || d < least { // clockwise distance, over the end
					best, least = i, d
				}
			}
			if got := g.find(at); got != best {
				t.Fatalf("%+v: position %d is token %d's, not %d's", spec, at, best, got)
			}
			nodes := g.replicas(nil, best)
			if len(nodes) != spec.RF || nodes[0] != g.owners[best] {
				t.Fatalf("%+v: replicas %v", spec, nodes)
			}
			var want []int // the next distinct owners
			for i := best; len(want) < spec.RF; i = (i + 1) % len(g.owners) {
				if !slices.Contains(want, g.owners[i]) {
					want = append(want, g.owners[i])
				}
			}
			if !slices.Equal(nodes, want) {
				t.Fatalf("%+v: replicas %v, want %v", spec, nodes, want)
			}
			slices.Sort(nodes)
			if len(slices.Compact(nodes)) != spec.RF {
				t.Fatalf("%+v: a node twice in %v", spec, nodes)
			}
		}
	}
	if !reflect.DeepEqual(newRing(Ring{6, 16, 3, 5}), newRing(Ring{6, 16, 3, 5})) || reflect.DeepEqual(newRing(Ring{6, 16, 3, 5}).tokens, newRing(Ring{6, 16, 3, 6}).tokens) {
		t.Error("the seed does not decide the tokens")
	}
}

func TestNodesHoldEveryReplica(t *testing.T) {
	o := options(t, Murmur3, 4, "code,user", "code")
	o.Ring = &Ring{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}
	r := run(t, o)
	for _, k := range r.Keys {
		var all, primary int64
		for i := range k.Nodes.Sizes {
			all += k.Nodes.Sizes[i]
			primary += k.Nodes.Primary[i]
		}
		if all != 3*5610 || primary != 5610 {
			t.Errorf("%s: %d rows on nodes, %d first replicas", k.Key, all, primary)
		}
	}
	// A key unique to each row is as even as the ring; a key of eleven values is not.
	if even, uneven := r.Keys[0].Nodes, r.Keys[1].Nodes; even.PValue < 0.01 || uneven.PValue > 1e-50 {
		t.Errorf("p of nodes: %v, %v", even.PValue, uneven.PValue)
	}
}

// TestCompareSalts compares the moved rows with known shares: from n to m, jump hash moves 1 - n/m;
// modulo moves 1 - 1/3 from 200 to 300, and nearly all from 200 to 201.
func TestCompareSalts(t *testing.T) {
	for _, p := range []Partitioner{MD5Mod, Murmur3} {
		o := options(t, p, 4, "code,salt(uuid,200)", "shard(uuid,200)")
		o.CompareSalts = []int{200, 300, 200, 201}
		r := run(t, o)
		if len(r.Moves) != 6 {
			t.Fatalf("%d moves", len(r.Moves))
		}
		for _, m := range r.Moves {
			near := func(what string, got int64, want float64) {
				if share := float64(got) / float64(r.Rows); math.Abs(share-want) > 0.03 {
					t.Errorf("%s %s %d→%d: %s moves %.3f, want %.3f", p, m.Part, m.From, m.To, what, share, want)
				}
			}
			near("jump", m.Jump, 1-float64(min(m.From, m.To))/float64(max(m.From, m.To)))
			if m.To == 201 {
				near("modulo", m.Modulo, 1-1/201.)
			} else {
				near("modulo", m.Modulo, 2/3.)
			}
		}
	}
}

// TestCodePoints checks that code_points is what the server computes, and the report shows its skew
// beside the alternatives.
func TestCodePoints(t *testing.T) {
	r := run(t, options(t, Murmur3, 4, "code_points(uuid,200)"))
	c := r.Keys[0].Computed[0]
	if c.Share < 0.99 || c.Fullest != 1 || c.Used > 20 {
		t.Errorf("at 200: %+v", c)
	}
	if len(c.Variants) != 2 || c.Variants[0].Part != "code_points(uuid,211)" || c.Variants[1].Part != "shard(uuid,200)" {
		t.Fatalf("variants %+v", c.Variants)
	}
	for _, v := range c.Variants {
		if v.Used < 199 || v.MaxOverMean > 2 {
			t.Errorf("%+v", v)
		}
	}
}

func TestNextPrime(t *testing.T) {
	for n, want := range map[int]int{0: 2, 1: 2, 2: 3, 3: 5, 199: 211, 200: 211, 210: 211, 211: 223, 10_000: 10_007} {
		if got := nextPrime(n); got != want {
			t.Errorf("nextPrime(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestBadRowsCountForNone checks that a bad row counts for no key, even if only the last key
// refuses it.
func TestBadRowsCountForNone(t *testing.T) {
	o := options(t, Murmur3, 4, "a", "salt(a,3)", "b", "a,b")
	o.Types = map[string]*value.Type{"b": value.Named("int")}
	s := simulation(t, o)
	for _, c := range []struct{ a, b, want string }{
		{"x", "1", ""}, {"x", "one", `column "b": "one" is no int`}, {"x", "", `column "b": is empty`},
		{strings.Repeat("x", 65536), "1", `column "a": has 65536 bytes`}, {strings.Repeat("x", 65530), "1", "the key a,b has"}, {"y", "99999999999", "is no int"},
	} {
		err := s.Add([]string{c.a, c.b})
		var bad *BadValue
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v", err)
		case c.want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.20s, %s: %v, want %s", c.a, c.b, err, c.want)
		}
	}
	r := s.Report()
	for _, k := range r.Keys {
		if k.Mean*4 != 1 {
			t.Errorf("%s counts %v rows", k.Key, k.Mean*4)
		}
	}
	if r.Rows != 1 {
		t.Errorf("%d rows", r.Rows)
	}
}

func TestOptions(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"no key is given":                         func(o *Options) { o.Keys = nil },
		"0 partitions":                            func(o *Options) { o.Partitions = 0 },
		"1000001 partitions":                      func(o *Options) { o.Partitions = 1_000_001 },
		"md5-mod takes text":                      func(o *Options) { o.Types = map[string]*value.Type{"a": value.Named("int")}; o.Partitioner = MD5Mod },
		"no key uses it":                          func(o *Options) { o.Types = map[string]*value.Type{"z": value.Named("int")} },
		"a duration is not read from text here":   func(o *Options) { o.Types = map[string]*value.Type{"a": value.Named("duration")} },
		"md5-mod has none of a ring: choose":      func(o *Options) { o.Ring = &Ring{3, 1, 1, 1}; o.Partitioner = MD5Mod },
		"0 nodes":                                 func(o *Options) { o.Ring = &Ring{0, 1, 1, 1} },
		"-3 nodes":                                func(o *Options) { o.Ring = &Ring{-3, 1, 1, 1} },
		"10000 nodes of 1000000 vnodes":           func(o *Options) { o.Ring = &Ring{10_000, 1_000_000, 1, 1} },
		"a replication factor of 4 on 3 nodes":    func(o *Options) { o.Ring = &Ring{3, 1, 4, 1} },
		"1000001 partitions: there must":          func(o *Options) { o.Sweep = []int{7, 1_000_001} },
		"2 numbers of partitions, 1000004 in all": func(o *Options) { o.Sweep = []int{1_000_000} },
		"a limit is negative":                     func(o *Options) { o.Limit.Rows = -1 },
		"has 2 components, and identity":          func(o *Options) { *o = options(t, Identity, 4, "a,b") },
		"identity has none of a ring":             func(o *Options) { o.Partitioner, o.Ring = Identity, &Ring{3, 1, 1, 1} },
		"takes two numbers":                       func(o *Options) { o.CompareSalts = []int{200} },
		"10001 is not from 1":                     func(o *Options) { o.CompareSalts = []int{200, 10_001} },
		"no key has a salt(…), shard(…) or code":  func(o *Options) { o.CompareSalts = []int{200, 300} },
	} {
		o := options(t, Murmur3, 4, "a")
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestRowsDoNotAllocate checks that memory does not grow with the rows, and a row costs little.
func TestRowsDoNotAllocate(t *testing.T) {
	o := options(t, Murmur3, 4, "a", "a,b", "a,shard(b,200)")
	o.Ring = &Ring{6, 16, 3, 1}
	s := simulation(t, o)
	row := []string{"2020-07-09", "some title"}
	if n := testing.AllocsPerRun(200, func() {
		if err := s.Add(row); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations a row", n)
	}
}

// TestSpread checks the experiment's first key, computed by hand: mean 1,402.5.
func TestSpread(t *testing.T) {
	s := spreadOf([]int64{2240, 1320, 920, 1130}, nil)
	chi, squares := 0.0, 0.0
	for _, n := range []float64{2240, 1320, 920, 1130} {
		squares += (n - 1402.5) * (n - 1402.5)
	}
	chi = squares / 1402.5
	if s.Min != 920 || s.Max != 2240 || s.Mean != 1402.5 || s.Freedom != 3 || math.Abs(s.ChiSquare-chi) > 1e-9 || math.Abs(s.CV-math.Sqrt(squares/4)/1402.5) > 1e-12 {
		t.Errorf("%+v", s)
	}
	// With sizes that match the shares, chi-square is 0. Each row counts once.
	if s := spreadOf([]int64{100, 300}, []float64{1, 3}); s.ChiSquare != 0 || s.PValue != 1 {
		t.Errorf("as the shares: %+v", s)
	}
	if s := spreadOf([]int64{110, 290}, []float64{0.5, 1.5}); math.Abs(s.ChiSquare-(1+1/3.)) > 1e-9 || math.Abs(s.PValue-0.2482) > 1e-3 {
		t.Errorf("beside the shares: %+v", s)
	}
}

func TestReading(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		want  string
	}{
		{[]int64{0, 0}, "no row has a place under this key"}, {[]int64{1, 0, 0, 0}, "too few rows to tell: 0.2 to a partition"}, {[]int64{5}, "one partition has all"}, {[]int64{9, 0, 0}, "the others stand idle"},
		{[]int64{3, 4}, "too few rows to tell: 3.5"}, {[]int64{100, 100}, "as even as chance"}, {[]int64{100_000, 102_000}, "nearly even"}, {[]int64{1000, 1400}, "uneven: the fullest partition has 17%"},
		{[]int64{1000, 10, 10}, "very uneven: the fullest partition has 2.9 times"},
	} {
		k := KeyReport{Sizes: c.sizes, Spread: spreadOf(c.sizes, nil)}
		for _, n := range c.sizes {
			k.Rows += n
		}
		if got := k.Reading(); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	o := options(b, Murmur3, 4, "a", "a,b", "a,salt(b,200)")
	s := simulation(b, o)
	row := []string{"2020-07-09", "some title or other"}
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Add(row)
	}
}

// TestDeal checks that the tokens of Deal are the ring's: they are ascending, each range has RF
// nodes, and the shares of the ring add up to RF.
func TestDeal(t *testing.T) {
	tokens, owners, replica := Ring{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}.Deal()
	if len(tokens) != 96 || len(owners) != 96 || !slices.IsSorted(tokens) {
		t.Fatalf("%d tokens, %d owners", len(tokens), len(owners))
	}
	total := 0.0
	for _, part := range replica {
		total += part
	}
	if math.Abs(total-3) > 1e-9 {
		t.Errorf("the parts add up to %v", total)
	}
	for i, nodes := range owners {
		if len(nodes) != 3 || nodes[0] == nodes[1] || nodes[1] == nodes[2] || nodes[0] == nodes[2] {
			t.Fatalf("range %d: nodes %v", i, nodes)
		}
	}
	again, _, _ := Ring{Nodes: 6, VNodes: 16, RF: 3, Seed: 1}.Deal()
	if !slices.Equal(tokens, again) {
		t.Error("another ring of the same seed")
	}
}
