// SPDX-License-Identifier: Apache-2.0

package run

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"pgregory.net/rapid"
)

// twins are a plain table and sharded ones of the same definition.
type twins struct {
	*scene
	layouts []string
	name    int
	binds   bool // statements are prepared, and their values of p and c are bound
}

var layouts = []string{
	"{'shards': '1'}", "{'shards': '3'}", "{'shards': '16'}",
	"{'shards': '1', 'strategy': 'random'}", "{'shards': '3', 'strategy': 'random'}", "{'shards': '16', 'strategy': 'random'}",
	"{'shards': '4', 'base': '7'}", "{'shards': '4', 'base': '7', 'strategy': 'random'}",
	"{'shards': '2', 'row_epochs': '7@1 from 0x00000002, 3@20 from 0x00000004'}",
}

// timedLayouts are those of strategy time, for tables whose clustering keys are half an
// hour apart.
var timedLayouts = []string{
	"{'strategy': 'time', 'by': 'c', 'bucket': '1h'}", "{'strategy': 'time', 'by': 'c', 'bucket': '30m', 'shards': '3'}",
	"{'strategy': 'time', 'by': 'c', 'bucket': '1d', 'shards': '2'}",
}

// create makes the tables of a definition, and of options where there are some.
func (w *twins) create(columns, options string) {
	w.t.Helper()
	w.name++
	w.must(w.v5, "CREATE TABLE "+w.table(-1)+" ("+columns+")"+options)
	join := " WITH "
	if options != "" {
		join = " AND "
	}
	for i, l := range w.layouts {
		w.must(w.v5, "CREATE TABLE "+w.table(i)+" ("+columns+")"+options+join+"write_sharding = "+l)
	}
}

func (w *twins) table(layout int) string {
	if layout < 0 {
		return fmt.Sprintf("%s.plain%d", w.keyspace, w.name)
	}
	return fmt.Sprintf("%s.t%d_%d", w.keyspace, w.name, layout)
}

func (w *twins) text(layout int, text string) string {
	return strings.ReplaceAll(text, "TABLE", w.table(layout))
}

// write executes a write on all and demands that it fares alike. refused says that
// sharded tables may refuse it, and then no table has it.
func (w *twins) write(text string) string {
	send := w.query
	if w.binds {
		send = func(c *difftest.Conn, text string) *difftest.Answer { return w.bound(c, text, 0) }
	}
	want := send(w.v5, w.text(-1, text))
	for i, l := range w.layouts {
		got := send(w.v5, w.text(i, text))
		if got.Kind != want.Kind || got.Code != want.Code {
			return fmt.Sprintf("%s\n%s\nwant %sgot  %s", text, l, show(want), show(got))
		}
	}
	return ""
}

// read compares what a read gives, in pages of several sizes.
func (w *twins) read(text string) string {
	unordered := !strings.Contains(text, "p =") && !strings.Contains(text, "p IN")
	send := w.paged
	if w.binds {
		send = w.bound
	}
	want := w.rows(send(w.v5, w.text(-1, text), 0), unordered)
	for i, l := range w.layouts {
		for _, size := range []int32{0, 1, 3} {
			a := send(w.v5, w.text(i, text), size)
			if got := w.rows(a, unordered); got != want {
				return fmt.Sprintf("%s\n%s, pages of %d\nwant %sgot  %s", text, l, size, want, got)
			}
		}
	}
	return ""
}

// literals are values of p and c in a statement.
var literals = regexp.MustCompile(`(VALUES \(|\b[pc] = )(\d+)(, (\d+))?`)

// withMarkers returns a statement with markers in place of its literals, and their values.
func withMarkers(text string) (string, []int) {
	var values []int
	text = literals.ReplaceAllStringFunc(text, func(s string) string {
		m := literals.FindStringSubmatch(s)
		of := []string{m[2]}
		if strings.HasPrefix(m[1], "VALUES") {
			of = append(of, m[4])
		}
		for _, v := range of {
			n, _ := strconv.Atoi(v) // the pattern has digits alone
			values = append(values, n)
		}
		return m[1] + strings.Join(slices.Repeat([]string{"?"}, len(of)), ", ")
	})
	return text, values
}

// bound prepares a statement with markers in place of its literals, and executes it.
func (w *twins) bound(c *difftest.Conn, text string, size int32) *difftest.Answer {
	w.t.Helper()
	text, ints := withMarkers(text)
	var values []*primitive.Value
	for _, n := range ints {
		values = append(values, primitive.NewValue(plan.IntValue(n)))
	}
	p, err := c.Prepare(text)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	if p.Kind == difftest.Error {
		return p
	}
	return w.scene.pages(func(state []byte) (*difftest.Answer, error) {
		return c.Execute(p, difftest.Request{Values: values, PageSize: size, State: state})
	})
}

func (w *twins) rows(a *difftest.Answer, unordered bool) string {
	if a.Kind == difftest.Error {
		return show(a)
	}
	if unordered {
		slices.SortFunc(a.Rows, func(x, y [][]byte) int {
			return slices.CompareFunc(x, y, func(a, b []byte) int {
				if (a == nil) != (b == nil) {
					return map[bool]int{true: -1, false: 1}[a == nil]
				}
				return strings.Compare(string(a), string(b))
			})
		})
	}
	b := *a
	// A table of several shards may have more tombstones to read.
	b.Warnings = slices.DeleteFunc(slices.Clone(a.Warnings), func(text string) bool { return strings.HasSuffix(text, "(see tombstone_warn_threshold)") })
	b.Columns = slices.Clone(a.Columns)
	for i := range b.Columns {
		b.Columns[i].Table = ""
	}
	return show(&b)
}

// history draws writes and reads of a table
//
//	(p int, c int, v text, n int, l list<int>, m map<int, int>, s text static, PRIMARY KEY (p, c))
type history struct {
	r        *rapid.T
	p        []int
	statics  bool
	scale    int // what a clustering key is multiplied by, 0 being 1
	expiring int // writes that expire
}

func (h *history) one(of ...string) string { return rapid.SampledFrom(of).Draw(h.r, "choice") }

func (h *history) key() string { return fmt.Sprint(rapid.SampledFrom(h.p).Draw(h.r, "p")) }

func (h *history) using(ttl bool) string {
	ts := fmt.Sprintf("USING TIMESTAMP %d", rapid.IntRange(1, 5).Draw(h.r, "timestamp"))
	if ttl && rapid.IntRange(0, 4).Draw(h.r, "expiring") == 0 {
		// Of two cells of one time the one that expires later wins. No two expire at about
		// the same time: there the second decides in which a table happens to be written.
		h.expiring++
		ts += fmt.Sprintf(" AND TTL %d", 10_000*(1+h.expiring*7%31))
	}
	return ts
}

func (h *history) c() string { return h.at(rapid.IntRange(0, 5).Draw(h.r, "c")) }

// at are clustering keys, with commas between.
func (h *history) at(keys ...int) string {
	var out []string
	for _, n := range keys {
		out = append(out, fmt.Sprint(n*max(1, h.scale)))
	}
	return strings.Join(out, ", ")
}

func (h *history) write() string {
	p, c := h.key(), h.c()
	text, number := h.one("'a'", "'b'", "'c'", "null"), h.one("1", "2", "3", "null")
	static := func() string { return h.one("'x'", "'y'", "null") }
	kinds := []string{"insert", "insert", "insert", "marker", "update", "update", "collection", "delete row", "delete cell", "delete range", "delete partition", "batch", "in"}
	if h.statics {
		kinds = append(kinds, "static", "both", "delete static", "both in")
	}
	switch h.one(kinds...) {
	case "insert":
		return fmt.Sprintf("INSERT INTO TABLE (p, c, v, n) VALUES (%s, %s, %s, %s) %s", p, c, text, number, h.using(true))
	case "marker":
		return fmt.Sprintf("INSERT INTO TABLE (p, c) VALUES (%s, %s) %s", p, c, h.using(true))
	case "update":
		return fmt.Sprintf("UPDATE TABLE %s SET v = %s WHERE p = %s AND c = %s", h.using(true), text, p, c)
	case "collection":
		return fmt.Sprintf("UPDATE TABLE %s SET %s WHERE p = %s AND c = %s", h.using(true),
			h.one("l = [1, 2]", "l = null", "m = m + {1: 2}", "m[2] = 3", "m = {}", "m = m - {1}"), p, c)
	case "delete row":
		return fmt.Sprintf("DELETE FROM TABLE %s WHERE p = %s AND c = %s", h.using(false), p, c)
	case "delete cell":
		return fmt.Sprintf("DELETE %s FROM TABLE %s WHERE p = %s AND c = %s", h.one("v", "n", "l", "m", "m[1]", "v, n"), h.using(false), p, c)
	case "delete range":
		return fmt.Sprintf("DELETE FROM TABLE %s WHERE p = %s AND c %s %s", h.using(false), p, h.one("<", ">", ">=", "<="), c)
	case "delete partition":
		return fmt.Sprintf("DELETE FROM TABLE %s WHERE p = %s", h.using(false), p)
	case "batch":
		return fmt.Sprintf("BEGIN %s BATCH %s; %s; APPLY BATCH", h.one("", "UNLOGGED"), h.simple(), h.simple())
	case "in":
		return fmt.Sprintf("UPDATE TABLE %s SET n = %s WHERE p = %s AND c IN (%s)", h.using(true), number, p, h.at(0, 2, 4))
	case "static":
		return fmt.Sprintf("UPDATE TABLE %s SET s = %s WHERE p = %s", h.using(true), static(), p)
	case "both":
		return fmt.Sprintf("INSERT INTO TABLE (p, c, v, s) VALUES (%s, %s, %s, %s) %s", p, c, text, static(), h.using(true))
	case "both in":
		return fmt.Sprintf("UPDATE TABLE %s SET n = %s, s = %s WHERE p = %s AND c IN (%s)", h.using(true), number, static(), p, h.at(1, 3))
	}
	return fmt.Sprintf("DELETE s FROM TABLE %s WHERE p = %s", h.using(false), p)
}

func (h *history) simple() string {
	return fmt.Sprintf("INSERT INTO TABLE (p, c, v) VALUES (%s, %s, %s) %s", h.key(), h.c(), h.one("'a'", "'b'", "null"), h.using(false))
}

func (h *history) read() string {
	p, c := h.key(), h.c()
	reads := []string{
		"SELECT * FROM TABLE WHERE p = " + p,
		"SELECT * FROM TABLE WHERE p = " + p + " ORDER BY c DESC",
		"SELECT c, v FROM TABLE WHERE p = " + p + " LIMIT 2",
		"SELECT v, writetime(v), writetime(n) FROM TABLE WHERE p = " + p,
		"SELECT writetime(m), maxwritetime(m), m FROM TABLE WHERE p = " + p,
		"SELECT v, n FROM TABLE WHERE p = " + p + " AND c = " + c,
		"SELECT c, m FROM TABLE WHERE p = " + p + " AND c > " + c,
		"SELECT c, v FROM TABLE WHERE p = " + p + " AND v = 'b' ALLOW FILTERING",
		"SELECT c, n FROM TABLE WHERE p = " + p + " AND n > 1 AND c < " + h.at(4) + " ALLOW FILTERING",
		"SELECT c, v FROM TABLE WHERE p = " + p + " AND c >= " + c + " AND c < " + h.at(4),
		"SELECT c, v FROM TABLE WHERE p = " + p + " AND c IN (" + h.at(4, 1, 3) + ")",
		"SELECT c, v FROM TABLE WHERE p = " + p + " AND c <= " + c + " ORDER BY c DESC LIMIT 2",
		"SELECT count(*), min(v), max(n), sum(n), avg(n) FROM TABLE WHERE p = " + p,
		"SELECT c, count(n) FROM TABLE WHERE p = " + p + " GROUP BY c",
		"SELECT JSON c, v FROM TABLE WHERE p = " + p,
		fmt.Sprintf("SELECT p, c, v FROM TABLE WHERE p IN (%d, %d) PER PARTITION LIMIT 2", h.p[0], h.p[1]),
		fmt.Sprintf("SELECT p, count(*) FROM TABLE WHERE p IN (%d, %d) GROUP BY p", h.p[0], h.p[1]),
		fmt.Sprintf("SELECT DISTINCT p FROM TABLE WHERE p IN (%d, %d)", h.p[0], h.p[1]),
	}
	if h.statics {
		reads = append(reads,
			"SELECT s, c, writetime(s) FROM TABLE WHERE p = "+p,
			"SELECT DISTINCT p, s FROM TABLE WHERE p = "+p,
			"SELECT c FROM TABLE WHERE p = "+p+" AND s = 'x' ALLOW FILTERING",
			"SELECT s, v FROM TABLE WHERE p = "+p+" AND c = "+c,
			"SELECT s FROM TABLE WHERE p = "+p+" AND c >= "+c+" LIMIT 1",
			"SELECT count(s), count(v) FROM TABLE WHERE p = "+p,
		)
	}
	return h.one(reads...)
}

// scans are reads over all partitions.
func (h *history) scans() []string {
	reads := []string{
		"SELECT * FROM TABLE", "SELECT DISTINCT p FROM TABLE", "SELECT p, count(*), sum(n) FROM TABLE GROUP BY p",
		"SELECT p, c, v FROM TABLE PER PARTITION LIMIT 2", "SELECT count(*), max(v) FROM TABLE",
		"SELECT p, c FROM TABLE WHERE n > 1 ALLOW FILTERING", "SELECT p, c, count(v) FROM TABLE WHERE c > " + h.at(2) + " GROUP BY p, c ALLOW FILTERING",
		"SELECT p, c, count(*) FROM TABLE GROUP BY p, c",
	}
	if h.statics {
		reads = append(reads, "SELECT DISTINCT p, s FROM TABLE", "SELECT p, s, v FROM TABLE WHERE s = 'x' ALLOW FILTERING")
	}
	return reads
}

// drawn is how many histories a test draws, unless -rapid.checks says so: each
// costs many reads of several tables, which a real Cassandra takes its time for.
func drawn(t *testing.T, n int) {
	f := flag.Lookup("rapid.checks")
	if before := f.Value.String(); before == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(n))
		t.Cleanup(func() { _ = f.Value.Set(before) })
	}
}

// TestHistories gives one random history to a plain table and to sharded ones of
// both strategies, and compares what they answer.
func TestHistories(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		type variation struct {
			statics bool
			held    int
			order   string // of strategy time: that of the clustering keys
		}
		variations := []variation{{false, read.MaxHeld, ""}, {true, read.MaxHeld, ""}, {false, read.MaxHeld, "ASC"}, {false, read.MaxHeld, "DESC"}}
		if !strings.Contains(t.Name(), "cassandra") { // which takes its time
			variations = append(variations, variation{true, 300, ""}, variation{false, 300, "DESC"})
		}
		for _, c := range variations {
			statics := c.statics
			name, options, clustering, scale := fmt.Sprintf("statics %v, %d bytes held", statics, c.held), "", "int", 1
			of := layouts
			if c.order != "" {
				name, options, clustering, scale, of = fmt.Sprintf("time %s, %d bytes held", c.order, c.held), " WITH CLUSTERING ORDER BY (c "+c.order+")", "timestamp", 1_800_000, timedLayouts
			}
			t.Run(name, func(t *testing.T) {
				w := &twins{scene: newScene(t, st), layouts: of}
				w.router.reads.Held = c.held
				column := ""
				if statics {
					column = "s text static, "
				}
				w.create("p int, c "+clustering+", v text, n int, l list<int>, m map<int, int>, "+column+"PRIMARY KEY (p, c)", options)
				next := 0
				histories := 40
				switch {
				case strings.Contains(t.Name(), "cassandra"):
					histories = 5
				case c.held < read.MaxHeld:
					histories = 10
				}
				drawn(t, histories)
				rapid.Check(t, func(r *rapid.T) {
					next += 10
					h := &history{r: r, p: []int{next, next + 1}, statics: statics, scale: scale}
					var done []string
					fail := func(fault string) {
						if fault != "" {
							r.Fatalf("%s\nafter\n%s", fault, strings.Join(done, ";\n"))
						}
					}
					for range rapid.IntRange(3, 12).Draw(r, "writes") {
						text := h.write()
						done = append(done, text)
						fail(w.write(text))
						if rapid.Bool().Draw(r, "read") {
							fail(w.read(h.read()))
						}
					}
					for range 3 {
						fail(w.read(h.read()))
					}
				})
				if t.Failed() {
					return
				}
				w.scan(t, &history{statics: statics, scale: scale})
			})
		}
	})
}

// scan compares the answers to all scans.
func (w *twins) scan(t *testing.T, h *history) {
	for _, text := range h.scans() {
		if fault := w.read(text); fault != "" {
			t.Error(fault)
		}
	}
}

// TestConditionsOnStatics compares conditions on static columns, of which the answer
// depends on rows in other shards.
func TestConditionsOnStatics(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: layouts[:3]}
		w.create("p int, c int, s text static, v int, PRIMARY KEY (p, c)", "")
		for _, text := range []string{
			"UPDATE TABLE SET s = 'x' WHERE p = 1 IF s = 'y'",
			"INSERT INTO TABLE (p, c, v) VALUES (1, 1, 1)",
			"INSERT INTO TABLE (p, c, v) VALUES (1, 2, 2)",
			"UPDATE TABLE SET s = 'x' WHERE p = 1 IF s = 'y'",
			"UPDATE TABLE SET s = 'x' WHERE p = 1 IF s = null",
			"UPDATE TABLE SET s = 'z' WHERE p = 1 IF s = 'y'",
			"UPDATE TABLE SET s = 'z' WHERE p = 1 IF s = 'x'",
			"INSERT INTO TABLE (p, c, v) VALUES (1, 1, 5) IF NOT EXISTS",
			"UPDATE TABLE SET v = 7 WHERE p = 1 AND c = 2 IF v = 3",
			"UPDATE TABLE SET v = 7 WHERE p = 1 AND c = 2 IF EXISTS",
			"UPDATE TABLE SET v = 7 WHERE p = 1 AND c = 9 IF EXISTS",
			"DELETE s FROM TABLE WHERE p = 1 IF s = 'a'",
			"DELETE s FROM TABLE WHERE p = 1 IF s = 'z'",
			`INSERT INTO TABLE JSON '{"p": 3, "c": 1, "v": 5}' DEFAULT UNSET IF NOT EXISTS`,
			`INSERT INTO TABLE JSON '{"p": 3, "c": 1, "v": 6}' DEFAULT UNSET IF NOT EXISTS`,
		} {
			want := w.query(w.v5, w.text(-1, text))
			for i, l := range w.layouts {
				got := w.query(w.v5, w.text(i, text))
				if w.rows(got, false) != w.rows(want, false) {
					t.Errorf("%s\n%s\nwant %sgot  %s", text, l, show(want), show(got))
				}
			}
		}
		if fault := w.read("SELECT * FROM TABLE WHERE p = 1"); fault != "" {
			t.Error(fault)
		}
	})
}

// TestTokenRanges covers the ring by ranges of tokens, and demands each partition
// once, with a token that is in its range, and whole.
func TestTokenRanges(t *testing.T) {
	s := newScene(t, embedded(t))
	w := &twins{scene: s, layouts: layouts}
	w.create("p int, q text, c int, d int, v int, s int static, PRIMARY KEY ((p, q), c, d)", " WITH CLUSTERING ORDER BY (c DESC, d ASC)")
	const partitions, rows = 20, 12
	for p := range partitions {
		for c := range rows {
			if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, q, c, d, v) VALUES (%d, 'q', %d, %d, %d)", p, c%4, c, c)); fault != "" {
				t.Fatal(fault)
			}
		}
		if fault := w.write(fmt.Sprintf("UPDATE TABLE SET s = %d WHERE p = %d AND q = 'q'", p, p)); fault != "" {
			t.Fatal(fault)
		}
	}
	if fault := w.write("DELETE FROM TABLE WHERE p = 3 AND q = 'q' AND c <= 9"); fault != "" { // its static column stays
		t.Fatal(fault)
	}
	for i, l := range w.layouts {
		found, all := map[string]int{}, 0
		const ranges = 7
		for n := range ranges {
			start := int64(-1<<63) + int64(n)*(1<<63/ranges*2)
			where := fmt.Sprintf("token(p, q) > %d AND token(p, q) <= %d", start, start+1<<63/ranges*2)
			if n == ranges-1 {
				where = fmt.Sprintf("token(p, q) > %d", start)
			}
			for _, size := range []int32{0, 2} {
				a := w.paged(w.v5, w.text(i, "SELECT DISTINCT token(p, q), p, q, s FROM TABLE WHERE "+where), size)
				for _, r := range a.Rows {
					found[fmt.Sprintf("%d %x", size, r[1])]++
					token := int64(be(r[0]))
					if token <= start {
						t.Errorf("%s: token %d is not in the range from %d", l, token, start)
					}
					if string(r[1]) != string(r[3]) {
						t.Errorf("%s: partition %x has static column %x", l, r[1], r[3])
					}
				}
			}
			all += len(w.paged(w.v5, w.text(i, "SELECT p, c, d FROM TABLE WHERE "+where), 5).Rows)
		}
		if len(found) != 2*partitions {
			t.Errorf("%s: %d partitions", l, len(found)/2)
		}
		for key, n := range found {
			if n != 1 {
				t.Errorf("%s: partition %s came %d times", l, key, n)
			}
		}
		if want := (partitions-1)*rows + 1; all != want {
			t.Errorf("%s: %d rows, want %d", l, all, want)
		}
	}
	for _, text := range []string{
		"SELECT * FROM TABLE", "SELECT p, q, c, max(v) FROM TABLE GROUP BY p, q, c", "SELECT p, c, d FROM TABLE PER PARTITION LIMIT 3",
		"SELECT p, v FROM TABLE WHERE c = 2 ALLOW FILTERING", "SELECT count(*), avg(v) FROM TABLE",
		"SELECT * FROM TABLE WHERE p = 4 AND q = 'q' AND (c, d) < (3, 7)", "SELECT * FROM TABLE WHERE p = 4 AND q = 'q' AND (c, d) >= (1, 5) ORDER BY c ASC",
		"SELECT p, s, v FROM TABLE WHERE p IN (5, 3, 4) AND q = 'q'", "SELECT p, c, d, v FROM TABLE WHERE p IN (5, 4) AND q = 'q' AND c IN (3, 1) LIMIT 7",
	} {
		if fault := w.read(text); fault != "" {
			t.Error(fault)
		}
	}
}

func be(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

// TestIncrements executes increments of one counter, prepared: they add up, and go
// to all shards evenly.
func TestIncrements(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int PRIMARY KEY, n counter) WITH write_sharding = {'strategy': 'random', 'shards': '8'}")
		p, err := s.v5.Prepare("UPDATE " + s.keyspace + ".t SET n = n + 3 WHERE p = 1")
		if err != nil {
			t.Fatal(err)
		}
		const rounds = 5
		for range rounds * 8 {
			if a, err := s.v5.Execute(p, difftest.Request{}); err != nil || a.Kind != difftest.Void {
				t.Fatal(a, err)
			}
		}
		if a := s.must(s.v5, "SELECT n FROM "+s.keyspace+".t WHERE p = 1"); len(a.Rows) != 1 || be(a.Rows[0][0]) != 3*8*rounds {
			t.Errorf("the sum is %v", a)
		}
		a := s.must(s.direct, "SELECT n FROM "+s.keyspace+".t")
		if len(a.Rows) != 8 {
			t.Errorf("%d shards are used", len(a.Rows))
		}
		for _, r := range a.Rows {
			if be(r[0]) != 3*rounds {
				t.Errorf("a shard has %d", be(r[0]))
			}
		}
	})
}
