// SPDX-License-Identifier: Apache-2.0

package inspection_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/prices"
)

func column(name, typ string, kind schema.ColumnKind, at int) *schema.Column {
	return &schema.Column{Name: name, Type: value.Named(typ), Kind: kind, Position: at}
}

// logs returns server_logs with a primary key of those columns; a - before a column is DESC.
func logs(partition, clustering []string) *schema.Table {
	types := map[string]string{"log_hour": "timestamp", "log_level": "text", "message": "text", "server": "text", "shard": "int", "id": "timeuuid"}
	var columns []*schema.Column
	used := map[string]bool{}
	for i, n := range partition {
		columns, used[n] = append(columns, column(n, types[n], schema.PartitionKey, i)), true
	}
	for i, n := range clustering {
		name, desc := strings.CutPrefix(n, "-")
		c := column(name, types[name], schema.Clustering, i)
		c.Desc = desc
		columns, used[name] = append(columns, c), true
	}
	for _, n := range []string{"log_hour", "log_level", "message", "server"} {
		if !used[n] {
			columns = append(columns, column(n, types[n], schema.Regular, -1))
		}
	}
	t := schema.NewTable("ks", "server_logs", columns)
	t.Options = map[string]any{}
	return t
}

// row returns cells in the order of the schema.
func row(t *schema.Table, values map[string]any) [][]byte {
	var cells [][]byte
	for _, c := range t.All() {
		switch v := values[c.Name].(type) {
		case string:
			cells = append(cells, []byte(v))
		case int:
			cells = append(cells, binary.BigEndian.AppendUint32(nil, uint32(v)))
		case int64:
			cells = append(cells, binary.BigEndian.AppendUint64(nil, uint64(v)))
		case []byte:
			cells = append(cells, v)
		default:
			cells = append(cells, nil)
		}
	}
	return cells
}

// stored holds a table's content: rows in the order of tokens.
type stored struct {
	token int64
	cells [][]byte
}

func store(t *schema.Table, rows []map[string]any) []stored {
	out := make([]stored, 0, len(rows))
	seen := map[string]int{}
	for _, r := range rows {
		cells := row(t, r)
		n := len(t.PartitionKey)
		var key []byte
		for _, c := range cells[:n+len(t.Clustering)] {
			key = append(append(key, c...), 0)
		}
		s := stored{partitioner.Murmur3(partitioner.AppendComposite(nil, cells[:n]...)), cells}
		if at, ok := seen[string(key)]; ok {
			out[at] = s // overwritten
			continue
		}
		seen[string(key)] = len(out)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b stored) int {
		switch {
		case a.token < b.token:
			return -1
		case a.token > b.token:
			return 1
		}
		return 0
	})
	return out
}

// read reads ranges of a plan.
func read(t *schema.Table, run *inspection.Run, data []stored, group *inspection.Grouping, ranges []int) {
	for _, i := range ranges {
		r := run.Plan.Ranges[i]
		c := inspection.NewCounter(t, inspection.NewSizer(t, nil), group)
		from, _ := slices.BinarySearchFunc(data, r.After, func(s stored, after int64) int {
			if s.token <= after {
				return -1
			}
			return 1
		})
		for _, s := range data[from:] {
			if s.token > r.UpTo {
				break
			}
			c.Row(s.token, s.cells)
		}
		c.End()
		run.Add(i, &c.Tally)
		run.Requests++
	}
}

func whole(t *schema.Table, data []stored, group *inspection.Grouping) *inspection.Run {
	run := &inspection.Run{Plan: inspection.NewPlan(nil, inspection.PlanOptions{Fraction: 1, Pieces: 32, Seed: 1})}
	read(t, run, data, group, run.Left())
	return run
}

func findings(r *inspection.Report) string {
	var names []string
	for _, f := range r.Key.Findings {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

const hour = int64(3_600_000)

// hourly returns log lines of some hours, levels and servers; one server has far more than the
// others.
func hourly() []map[string]any {
	var rows []map[string]any
	for h := range 40 {
		for i := range 60 {
			server := "server-1"
			if i%3 == 0 {
				server = fmt.Sprintf("server-%d", i%9)
			}
			rows = append(rows, map[string]any{
				"log_hour": (473_000 + int64(h)) * hour, "log_level": []string{"INFO", "WARN", "ERROR"}[i%3], "message": fmt.Sprintf("message %d of hour %d", i, h), "server": server,
			})
		}
	}
	return rows
}

// TestFourShapes checks that the four forms of a primary key are recognized on server_logs, and
// that each report says that no column identifies a line.
func TestFourShapes(t *testing.T) {
	for _, c := range []struct {
		partition, clustering []string
		shape                 inspection.Shape
		cql                   string
		rows                  int64
	}{
		{[]string{"log_hour"}, nil, inspection.SingleKey, "PRIMARY KEY (log_hour)", 40},
		{[]string{"log_hour"}, []string{"log_level"}, inspection.KeyAndClustering, "PRIMARY KEY (log_hour, log_level)", 120},
		{[]string{"log_hour", "server"}, nil, inspection.CompositeKey, "PRIMARY KEY ((log_hour, server))", 160},
		{[]string{"log_hour", "log_level"}, []string{"-server"}, inspection.CompositeClustering, "PRIMARY KEY ((log_hour, log_level), server) WITH CLUSTERING ORDER BY (server DESC)", 200},
	} {
		table := logs(c.partition, c.clustering)
		run := whole(table, store(table, hourly()), nil)
		r := inspection.Summarize(run, inspection.Summary{Schema: table, Top: 5})
		if r.Key.Shape != c.shape || r.Key.CQL != c.cql {
			t.Errorf("%s: %s, want %s: %s", r.Key.Shape, r.Key.CQL, c.shape, c.cql)
		}
		if !strings.Contains(r.Key.Means, "log_hour") {
			t.Errorf("%s is explained without its columns: %s", c.cql, r.Key.Means)
		}
		if !strings.Contains(findings(r), "no column identifies a row") || !strings.Contains(r.Key.Means, "overwrites it") {
			t.Errorf("%s: %s: %s", c.cql, findings(r), r.Key.Means)
		}
		if r.Rows.Value != float64(c.rows) {
			t.Errorf("%s: %v rows are left of 2400, want %d", c.cql, r.Rows.Value, c.rows)
		}
	}
}

func TestIdentifiedRows(t *testing.T) {
	table := logs([]string{"log_hour"}, []string{"id"})
	rows := hourly()
	for i := range rows {
		rows[i]["id"] = append(binary.BigEndian.AppendUint64(nil, uint64(i)), 0x80, 0, 0, 0, 0, 0, 0, 1)
	}
	r := inspection.Summarize(whole(table, store(table, rows), nil), inspection.Summary{Schema: table})
	if got := findings(r); got != "time bucket" {
		t.Errorf("findings %s", got)
	}
}

func TestUnbounded(t *testing.T) {
	table := logs([]string{"server"}, []string{"-id"})
	rows := hourly()
	for i := range rows {
		rows[i]["id"] = append(binary.BigEndian.AppendUint64(nil, uint64(i)), 0x80, 0, 0, 0, 0, 0, 0, 1)
	}
	data := store(table, rows)
	r := inspection.Summarize(whole(table, data, nil), inspection.Summary{Schema: table})
	if got := findings(r); got != "unbounded partition" {
		t.Errorf("findings %s", got)
	}
	if a := r.Key.Findings[0].Advice; !strings.Contains(a, "{'strategy': 'time', 'by': 'id', 'bucket'") {
		t.Errorf("no word of strategy time: %s", a)
	}
	r = inspection.Summarize(whole(table, data, nil), inspection.Summary{Schema: table, Bucket: "1h"})
	if f := r.Key.Findings[0]; f.Name != "time bucket" || f.Warning || !strings.Contains(f.Evidence, "buckets of 1h") {
		t.Errorf("%+v", f)
	}
	table.Options["default_time_to_live"] = 86400
	r = inspection.Summarize(whole(table, data, nil), inspection.Summary{Schema: table})
	if f := r.Key.Findings[0]; f.Warning || !strings.Contains(f.Evidence, "86400") {
		t.Errorf("%+v", f)
	}
}

// TestShardAndDummy checks that a hand-written shard is distinguished from a column that counts up
// when partitions are full, and that logical partitions are added up.
func TestShardAndDummy(t *testing.T) {
	table := logs([]string{"server", "shard"}, []string{"id"})
	id := 0
	add := func(rows []map[string]any, server string, shard, n int) []map[string]any {
		for range n {
			id++
			rows = append(rows, map[string]any{"server": server, "shard": shard, "id": append(binary.BigEndian.AppendUint64(nil, uint64(id)), 0x80, 0, 0, 0, 0, 0, 0, 1), "message": "m"})
		}
		return rows
	}
	var spread, rollover, skewed []map[string]any
	for s := range 30 {
		for shard := 1; shard <= 8; shard++ {
			spread = add(spread, fmt.Sprintf("server-%d", s), shard, 10)
			n := 1
			if shard == 1 {
				n = 200
			}
			skewed = add(skewed, fmt.Sprintf("server-%d", s), shard, n)
		}
		for shard := 1; shard <= 1+s/6; shard++ {
			rollover = add(rollover, fmt.Sprintf("server-%d", s), shard, 20)
		}
	}
	at := inspection.ShardColumn(table)
	if at != 1 {
		t.Fatalf("shard column at %d", at)
	}
	group := &inspection.Grouping{Logical: []int{0}, Shard: 1}
	for _, c := range []struct {
		rows     []map[string]any
		want     string
		warning  bool
		physical float64
	}{{spread, "shard column", false, 8}, {skewed, "shard column", true, 8}, {rollover, "dummy column (rollover)", false, 3}} {
		r := inspection.Summarize(whole(table, store(table, c.rows), group), inspection.Summary{Schema: table, Top: 3})
		i := slices.IndexFunc(r.Key.Findings, func(f inspection.Finding) bool { return f.Name == c.want })
		if i < 0 || r.Key.Findings[i].Warning != c.warning {
			t.Errorf("want %s, warning %v: %+v", c.want, c.warning, r.Key.Findings)
		}
		l := r.Logical
		if l != nil && (len(l.Largest) != 3 || len(l.Largest[0].Key) != 1 || l.Largest[0].Key[0].Column != "server") {
			t.Errorf("%s: a logical partition's key is %+v", c.want, l.Largest)
		}
		if l == nil || l.Partitions.Value != 30 || l.PhysicalMean != c.physical || l.Rows.Mean != float64(len(c.rows))/30 {
			t.Errorf("%s: logical partitions %+v", c.want, l)
		}
	}
}

// TestNoShard checks that a column is not taken for a shard if it has one value, if its values do
// not distinguish a key's partitions, or if they are words.
func TestNoShard(t *testing.T) {
	for name, shard := range map[string]func(server, i int) string{
		"one value":    func(int, int) string { return "1" },
		"one for each": func(server, _ int) string { return fmt.Sprint(server % 5) },
		"words":        func(_, i int) string { return []string{"left", "right"}[i/150] },
	} {
		table := logs([]string{"server", "shard"}, []string{"id"})
		table.PartitionKey[1].Type = value.Native(value.Text)
		var rows []map[string]any
		for i := range 300 {
			rows = append(rows, map[string]any{"server": fmt.Sprint(i % 30), "shard": shard(i%30, i), "message": "m",
				"id": append(binary.BigEndian.AppendUint64(nil, uint64(i)), 0x80, 0, 0, 0, 0, 0, 0, 1)})
		}
		r := inspection.Summarize(whole(table, store(table, rows), &inspection.Grouping{Logical: []int{0}, Shard: 1}), inspection.Summary{Schema: table, Top: 3})
		if strings.Contains(findings(r), "shard") || strings.Contains(findings(r), "dummy") || r.Logical != nil {
			t.Errorf("%s: %s, %+v", name, findings(r), r.Logical)
		}
	}
}

// TestUnread places one partition with nearly all rows where a sample does not read. The sample
// must say that the largest partition may be larger, and what it cannot know. Its percentiles must
// hold all the same.
func TestUnread(t *testing.T) {
	table := logs([]string{"server"}, []string{"id"})
	var rows []map[string]any
	add := func(server string, n int) {
		for range n {
			rows = append(rows, map[string]any{"server": server, "message": "m", "id": append(binary.BigEndian.AppendUint64(nil, uint64(len(rows))), 0x80, 0, 0, 0, 0, 0, 0, 1)})
		}
	}
	for s := range 1500 {
		add(fmt.Sprintf("server-%d", s), 1+s%7)
	}
	add("huge", 60_000)
	data := store(table, rows)
	truth := inspection.Summarize(whole(table, data, nil), inspection.Summary{Schema: table, Top: 1})
	if m := truth.Sizes.Rows.Most; m.Low != 60_000 || m.High != 60_000 || truth.Coverage.Unseen != "" {
		t.Errorf("whole: %+v, %s", m, truth.Coverage.Unseen)
	}
	missed := 0
	for seed := range uint64(12) {
		run := &inspection.Run{Plan: inspection.NewPlan(nil, inspection.PlanOptions{Fraction: 0.1, Pieces: 64, Seed: seed})}
		read(table, run, data, nil, run.Left())
		r := inspection.Summarize(run, inspection.Summary{Schema: table, Top: 1})
		if r.Largest[0].Rows == 60_000 {
			continue
		}
		missed++
		for name, s := range map[string][2]inspection.Sizes{"rows": {r.Sizes.Rows, truth.Sizes.Rows}, "bytes": {r.Sizes.Bytes, truth.Sizes.Bytes}} {
			got, want := s[0], s[1]
			if m := got.Most; m.Low != got.Max || !math.IsInf(m.High, 1) || want.Max < m.Low {
				t.Errorf("seed %d: %s: the largest is said to have %+v", seed, name, m)
			}
			for q, i := range map[string][2]inspection.Interval{"p50": {got.P50, want.P50}, "p90": {got.P90, want.P90}, "p99": {got.P99, want.P99}, "p999": {got.P999, want.P999}} {
				if i[1].Value < 0.98*i[0].Low || i[1].Value > 1.02*i[0].High {
					t.Errorf("seed %d: %s %s: %+v does not have %v", seed, name, q, i[0], i[1].Value)
				}
			}
		}
		if u := r.Coverage.Unseen; !strings.Contains(u, "90%") || !strings.Contains(u, "sums") {
			t.Errorf("it does not say what a sample cannot see: %q", u)
		}
	}
	if missed < 6 {
		t.Errorf("%d samples of 12 have missed it", missed)
	}
}

// TestPlan checks that a plan covers what it says, each token at most once, that its ranges end
// where a node's ranges do, and that the same arguments give the same plan.
func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []inspection.Node
		for i := range rapid.IntRange(0, 5).Draw(t, "nodes") {
			n := inspection.Node{Address: fmt.Sprint(i)}
			for range rapid.IntRange(1, 4).Draw(t, "tokens") {
				n.Tokens = append(n.Tokens, rapid.Int64Range(math.MinInt64+1, math.MaxInt64).Draw(t, "token"))
			}
			nodes = append(nodes, n)
		}
		o := inspection.PlanOptions{Pieces: rapid.IntRange(1, 200).Draw(t, "pieces"), Seed: rapid.Uint64().Draw(t, "seed"), Fraction: rapid.SampledFrom([]float64{1, 0.5, 0.01}).Draw(t, "fraction")}
		p := inspection.NewPlan(nodes, o)
		if diff := cmp.Diff(p, inspection.NewPlan(nodes, o)); diff != "" {
			t.Fatal(diff)
		}
		ranges := slices.Clone(p.Ranges)
		slices.SortFunc(ranges, func(a, b inspection.Range) int {
			if a.After < b.After {
				return -1
			}
			return 1
		})
		share, at := 0.0, int64(math.MinInt64)
		for _, r := range ranges {
			if r.After < at || r.UpTo <= r.After {
				t.Fatalf("%+v begins before %d ends", r, at)
			}
			if o.Fraction == 1 && r.After != at {
				t.Fatalf("between %d and %d nothing is read", at, r.After)
			}
			at = r.UpTo
			share += float64(uint64(r.UpTo)-uint64(r.After)) / (1 << 64)
			for _, n := range nodes {
				for _, token := range n.Tokens {
					if token > r.After && token < r.UpTo {
						t.Fatalf("%+v goes over the end of a node's range, %d", r, token)
					}
				}
			}
		}
		if o.Fraction == 1 && at != math.MaxInt64 {
			t.Fatalf("ends at %d", at)
		}
		if math.Abs(share-o.Fraction) > 1e-6 {
			t.Fatalf("%v of the ring, want %v", share, o.Fraction)
		}
	})
}

// TestGoesOn interrupts a run at any place, writes it and reads it back. The report must be that of
// an uninterrupted run.
func TestGoesOn(t *testing.T) {
	table := logs([]string{"server", "shard"}, []string{"id"})
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var rows []map[string]any
		for i := range rapid.IntRange(0, 400).Draw(t, "rows") {
			rows = append(rows, map[string]any{"server": fmt.Sprint(rnd.ExpFloat64()), "shard": rnd.IntN(4), "message": strings.Repeat("x", rnd.IntN(50)),
				"id": append(binary.BigEndian.AppendUint64(nil, uint64(i)), 0x80, 0, 0, 0, 0, 0, 0, 1)})
			if i%3 == 0 {
				rows[i]["server"] = "one"
			}
		}
		data := store(table, rows)
		group := &inspection.Grouping{Logical: []int{0}, Shard: 1}
		nodes := []inspection.Node{{Address: "a", Tokens: []int64{-1 << 60, 1 << 61}}, {Address: "b", Tokens: []int64{0}}}
		o := inspection.PlanOptions{Fraction: rapid.SampledFrom([]float64{1, 0.5}).Draw(t, "fraction"), Pieces: 20, Seed: 3}
		begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		once := &inspection.Run{Plan: inspection.NewPlan(nodes, o), Began: begun}
		read(table, once, data, group, once.Left())

		run := &inspection.Run{Plan: inspection.NewPlan(nodes, o), Began: begun}
		for !run.Complete() {
			left := run.Left()
			read(table, run, data, group, left[:rapid.IntRange(1, len(left)).Draw(t, "read")])
			state := inspection.NewState("ks.server_logs", "id")
			state.Run, state.Last = run, run.Last(begun)
			text, err := json.Marshal(state)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"one"`) {
				t.Fatalf("the state has a key's value: %s", text)
			}
			if state, err = inspection.ReadState(text); err != nil {
				t.Fatal(err)
			}
			if run = state.Run; !run.Complete() && !run.Goes(nodes, o.Fraction) {
				t.Fatal("the run does not go on")
			}
		}
		s := inspection.Summary{Schema: table, Top: 50, At: begun.Add(time.Hour), Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}}
		want, got := inspection.Summarize(once, s), inspection.Summarize(run, s)
		for _, r := range []*inspection.Report{want, got} { // a stored run has no keys
			for _, list := range [][]inspection.Large{r.Largest, r.Longest} {
				for i := range list {
					list[i].Key = nil
				}
			}
			if r.Logical != nil {
				for i := range r.Logical.Largest {
					r.Logical.Largest[i].Key = nil
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("interrupted: (- not, +)\n%s", diff)
		}
	})
}

func FuzzReadState(f *testing.F) {
	run := &inspection.Run{Plan: inspection.NewPlan(nil, inspection.PlanOptions{Fraction: 1, Pieces: 4})}
	table := logs([]string{"server"}, nil)
	read(table, run, store(table, hourly()), nil, run.Left()[:2])
	state := inspection.NewState("a.b", "id")
	state.Run = run
	text, err := json.Marshal(state)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"run":{"plan":{"fraction":1,"pieces":3},"total":{"logical":{"halved":1,"keys":{"1":null}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := inspection.ReadState(text)
		if err != nil || s.Run == nil {
			return
		}
		for _, i := range s.Run.Left()[:min(1, len(s.Run.Left()))] {
			s.Run.Add(i, &inspection.Tally{})
		}
		inspection.Summarize(s.Run, inspection.Summary{Schema: table, At: time.Unix(0, 0)})
	})
}

// TestIntervals draws samples of a table whose partitions are known, and checks that the intervals
// contain the truth in 99% of cases.
func TestIntervals(t *testing.T) {
	table := logs([]string{"server"}, []string{"id"})
	rnd := rand.New(rand.NewPCG(5, 5))
	var rows []map[string]any
	var sizes []float64
	for p := range 4000 {
		n := 1 + int(math.Min(60, math.Pow(rnd.Float64(), -0.8)))
		sizes = append(sizes, float64(n))
		for i := range n {
			rows = append(rows, map[string]any{"server": fmt.Sprint("server ", p), "message": "m", "id": append(binary.BigEndian.AppendUint64(nil, uint64(i)), 0x80, 0, 0, 0, 0, 0, 0, 1)})
		}
	}
	slices.Sort(sizes)
	data := store(table, rows)
	all := inspection.Summarize(whole(table, data, nil), inspection.Summary{Schema: table})
	if all.Partitions.Value != 4000 || all.Rows.Value != float64(len(rows)) || all.Sizes.Rows.P99.Value != sizes[3959] {
		t.Fatalf("whole: %+v", all.Totals)
	}
	const draws = 300
	missed := map[string]int{}
	for seed := range uint64(draws) {
		run := &inspection.Run{Plan: inspection.NewPlan(nil, inspection.PlanOptions{Fraction: 0.1, Pieces: 64, Seed: seed})}
		read(table, run, data, nil, run.Left())
		r := inspection.Summarize(run, inspection.Summary{Schema: table})
		for _, c := range []struct {
			name string
			i    inspection.Interval
			want float64
		}{
			{"partitions", r.Partitions, 4000}, {"rows", r.Rows, all.Rows.Value}, {"bytes", r.Bytes, all.Bytes.Value},
			{"p50", r.Sizes.Rows.P50, sizes[1999]}, {"p90", r.Sizes.Rows.P90, sizes[3599]}, {"p99", r.Sizes.Rows.P99, sizes[3959]},
		} {
			if c.want < c.i.Low || c.want > c.i.High {
				missed[c.name]++
			}
			// Of 400 partitions, four are above the p99: nothing bounds it.
			if c.name != "p99" && c.i.High-c.i.Low > 3*c.want {
				t.Fatalf("%s: %+v says nothing of %v", c.name, c.i, c.want)
			}
		}
	}
	for name, n := range missed {
		if n > draws*3/100 { // 1% is expected; more than 3% happens by chance in 1 of 500 runs
			t.Errorf("%s: %d of %d intervals miss", name, n, draws)
		}
	}
}

// TestHistogram checks that percentiles of a whole are within 1%.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 300).Draw(t, "sizes")
		var h inspection.Histogram
		for _, s := range sizes {
			h.Add(s)
		}
		slices.Sort(sizes)
		for _, q := range []float64{0.01, 0.5, 0.99, 1} {
			want := float64(sizes[max(0, int(math.Ceil(q*float64(len(sizes))))-1)])
			got := h.Quantile(q, 1, sizes[len(sizes)-1])
			if math.Abs(got.Value-want) > 0.01*want || got.Low != got.High || q == 1 && got.Value != want {
				t.Fatalf("%v: %+v, want %v", q, got, want)
			}
		}
	})
}

// TestLoads checks that a ring's load is on its owners and replicas. The tokens are those of a
// Cassandra ring of three nodes in two racks.
func TestLoads(t *testing.T) {
	nodes := []inspection.Node{
		{Address: "a", DataCenter: "dc", Rack: "r1", Tokens: []int64{-1 << 62}},
		{Address: "b", DataCenter: "dc", Rack: "r1", Tokens: []int64{0}},
		{Address: "c", DataCenter: "dc", Rack: "r2", Tokens: []int64{1 << 62}},
	}
	table := logs([]string{"server"}, nil)
	var rows []map[string]any
	for i := range 8000 {
		rows = append(rows, map[string]any{"server": fmt.Sprint(i)})
	}
	run := &inspection.Run{Plan: inspection.NewPlan(nodes, inspection.PlanOptions{Fraction: 1, Pieces: 16})}
	read(table, run, store(table, rows), nil, run.Left())
	for _, c := range []struct {
		replication map[string]string
		want        []float64 // of the rows: a owns half, b and c a quarter each
	}{
		{map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "1"}, []float64{0.5, 0.25, 0.25}},
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "2"}, []float64{0.75, 0.75, 0.5}},
		// Two replicas are in two racks: c, alone in its rack, has everything.
		{map[string]string{"class": "NetworkTopologyStrategy", "dc": "2"}, []float64{0.75, 0.25, 1}},
		{map[string]string{"class": "NetworkTopologyStrategy", "dc": "3/1", "other": "3"}, []float64{0.75, 0.25, 1}},
	} {
		for i, l := range run.Loads(c.replication) {
			if math.Abs(l.Rows/8000-c.want[i]) > 0.02 || math.Abs(l.Replica-c.want[i]) > 1e-9 {
				t.Errorf("%v: node %s has %v of the rows, %v of the ring, want %v", c.replication, l.Address, l.Rows/8000, l.Replica, c.want[i])
			}
		}
	}
}

func TestGrowth(t *testing.T) {
	table := logs([]string{"server"}, []string{"id"})
	rows := func(n int) (out []map[string]any) {
		for i := range n {
			out = append(out, map[string]any{"server": "s", "message": strings.Repeat("m", 1000), "id": append(binary.BigEndian.AppendUint64(nil, uint64(i)), 0x80, 0, 0, 0, 0, 0, 0, 1)})
		}
		return out
	}
	then := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	before := whole(table, store(table, rows(1000)), nil)
	now := whole(table, store(table, rows(3000)), nil)
	r := inspection.Summarize(now, inspection.Summary{Schema: table, At: then.AddDate(0, 0, 10), Last: before.Last(then), Top: 3})
	g := r.Growth
	if g == nil || g.RowsPerDay.Value != 200 || g.RowsPerDay.Low != 200 || len(g.Largest) != 1 || g.Largest[0].Name != "server=s" {
		t.Fatalf("%+v", g)
	}
	// At about 201 KB a day, it passes 10 MB after 36 days, and 100 MB after 494.
	if p := g.Largest[0]; math.Abs(p.BytesPerDay-206_500) > 3000 || p.Good == nil || math.Abs(p.Good.Sub(r.At).Hours()/24-35.9) > 1 || p.Most == nil || math.Abs(p.Most.Sub(r.At).Hours()/24-493.5) > 10 {
		t.Errorf("%+v", p)
	}
	if r = inspection.Summarize(now, inspection.Summary{Schema: table, At: then}); r.Growth != nil || r.GrowthNote == "" {
		t.Errorf("growth without an inspection before: %+v", r.Growth)
	}
}

func TestPredict(t *testing.T) {
	list, err := prices.Builtin().Of("keyspaces", "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	size := inspection.Size{Rows: 100e6, Partitions: 1e6, RowBytes: 400}
	p := inspection.Predict(size, 1, 1000, 2500, 20000, list)
	// 40 GB are 9,765,625 units of 4 KB, half of that at LOCAL_ONE, and half a unit for each of
	// 41,000 requests.
	if p.Requests != 41000 || p.Bytes != 40e9 || p.Seconds != 5000 || math.Abs(p.ReadUnits-(9765625/2+20500)) > 1 || math.Abs(p.Money-p.ReadUnits*0.125e-6) > 1e-9 {
		t.Errorf("%+v", p)
	}
	if above := p.Above(); !strings.Contains(above, "rows") || !strings.Contains(above, "GB") || strings.Contains(above, "USD") {
		t.Errorf("above: %s", above)
	}
	f := inspection.Fraction(size, list)
	if p := inspection.Predict(size, f, 1000, 2500, 20000, list); p.Above() != "" || f < 0.005 {
		t.Errorf("fraction %v: %s", f, p.Above())
	}
	if f := inspection.Fraction(inspection.Size{Rows: 1000, RowBytes: 100}, nil); f != 1 {
		t.Errorf("of a small table %v is read", f)
	}
	if p := inspection.Predict(size, 1, 1000, 2500, 0, nil); p.Money != 0 || p.Seconds != 0 {
		t.Errorf("%+v", p)
	}
}

// TestEmpty checks that an empty table gives an empty report.
func TestEmpty(t *testing.T) {
	table := logs([]string{"server"}, []string{"id"})
	r := inspection.Summarize(whole(table, nil, nil), inspection.Summary{Schema: table, Top: 5})
	if r.Partitions.Value != 0 || r.Rows.High != 0 || len(r.Largest) != 0 || len(r.Key.Findings) != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	// In a sample without rows, no upper bound is known.
	run := &inspection.Run{Plan: inspection.NewPlan(nil, inspection.PlanOptions{Fraction: 0.1, Pieces: 8})}
	read(table, run, nil, nil, run.Left())
	r = inspection.Summarize(run, inspection.Summary{Schema: table})
	if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"partitions":{"value":0,"low":0,"high":null}`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestRowAllocates(t *testing.T) {
	table := logs([]string{"server"}, []string{"id"})
	c := inspection.NewCounter(table, inspection.NewSizer(table, nil), nil)
	cells := row(table, map[string]any{"server": "s", "id": make([]byte, 16), "message": "m"})
	c.Row(1, cells)
	if n := testing.AllocsPerRun(1000, func() { c.Row(1, cells) }); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}
