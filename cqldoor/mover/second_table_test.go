// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// newPlainWorld returns an engine with a plain table and the rows of that table.
func newPlainWorld(t *testing.T) (*world, map[string]string) {
	t.Helper()
	w := newWorld(t, &shard.Layout{N: 2, Column: "shard"}) // table k.t, which the test leaves alone
	w.exec("CREATE TABLE k.p (k int, c text, d int, a text, b int, PRIMARY KEY (k, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC) AND comment = 'it''s plain' AND gc_grace_seconds = 100000")
	for k := range 6 {
		key := i32(k)
		for i := range 30 {
			c, d := []byte(fmt.Sprint("row ", i)), i32(i%3)
			switch i % 5 {
			case 0:
				w.exec("INSERT INTO k.p (k, c, d, a, b) VALUES (?, ?, ?, 'x', 1) USING TIMESTAMP ?", key, c, d, bigint(int64(1000+i)))
			case 1:
				w.exec("INSERT INTO k.p (k, c, d, a) VALUES (?, ?, ?, 'y') USING TIMESTAMP ?", key, c, d, bigint(int64(1000+i)))
				w.exec("UPDATE k.p USING TIMESTAMP 7000 SET b = 7 WHERE k = ? AND c = ? AND d = ?", key, c, d)
			case 2:
				w.exec("INSERT INTO k.p (k, c, d, a) VALUES (?, ?, ?, 'z') USING TIMESTAMP 3000 AND TTL 5000", key, c, d)
				w.exec("UPDATE k.p USING TIMESTAMP 3500 SET b = 3 WHERE k = ? AND c = ? AND d = ?", key, c, d)
			case 3:
				w.exec("INSERT INTO k.p (k, c, d) VALUES (?, ?, ?) USING TIMESTAMP 900", key, c, d)
			case 4:
				w.exec("INSERT INTO k.p (k, c, d, a) VALUES (?, ?, ?, 'w') USING TIMESTAMP 100", key, c, d)
				w.exec("DELETE FROM k.p USING TIMESTAMP 200 WHERE k = ? AND c = ? AND d = ?", key, c, d)
			}
		}
	}
	return w, w.rows("p", nil)
}

// rows returns all rows of a physical table by their logical keys. If there is a layout, each row
// must be at its place in the layout.
func (w *world) rows(table string, l *shard.Layout) map[string]string {
	w.t.Helper()
	var in *plan.Table
	columns := "k, c, d, a, b, WRITETIME(a) AS wa, WRITETIME(b) AS wb, TTL(a) AS ta"
	if l != nil {
		columns += ", shard"
		logical, _ := catalog.Logical(w.table(table), l)
		var err error
		if in, err = plan.NewTable(logical, l); err != nil {
			w.t.Fatal(err)
		}
	}
	out := map[string]string{}
	for _, r := range w.exec("SELECT " + columns + " FROM k." + table) {
		name := fmt.Sprintf("%x %s %x", r["k"], r["c"], r["d"])
		if l != nil {
			at := int(int32(binary.BigEndian.Uint32(r["shard"])))
			if want := in.ShardOfRow([][]byte{r["k"]}, [][]byte{r["c"], r["d"]}); at != want {
				w.t.Errorf("row %s is in shard %d, and belongs to %d", name, at, want)
			}
		}
		if _, twice := out[name]; twice {
			w.t.Errorf("row %s is there twice", name)
		}
		out[name] = fmt.Sprintf("%s %x %x %x expires %v", r["a"], r["b"], r["wa"], r["wb"], r["ta"] != nil)
	}
	return out
}

func (w *world) keyspace() *schema.Keyspace {
	w.t.Helper()
	s, err := w.catalog.Schema(w.t.Context(), "k")
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Keyspaces["k"]
}

func (w *world) table(name string) *schema.Table { return w.keyspace().Tables[name] }

func (w *world) plainEntry() *catalog.Entry {
	w.t.Helper()
	e, err := w.catalog.Entry(w.t.Context(), "k", "p")
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) startPlain(m *Mover, n int) *catalog.Entry {
	w.t.Helper()
	e, err := m.StartPlain(w.t.Context(), w.keyspace(), w.table("p"), &shard.Layout{N: n, Column: "shard"}, uuid())
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// TestRefuseDataCentres refuses to change a table of a keyspace in several data centres.
func TestRefuseDataCentres(t *testing.T) {
	w, _ := newShardedWorld(t)
	e := w.plainEntry()
	ks := *w.keyspace()
	for n, replication := range []map[string]string{{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "a": "3"}, {"class": "NetworkTopologyStrategy", "a": "3", "b": "1"}} {
		ks.Replication = replication
		for _, to := range []*shard.Layout{shard.Plain(), toRollover} {
			if why := RefuseSecond(&ks, w.table(e.Physical), e.Layout, to); len(why) != n || n > 0 && !strings.Contains(why[0], "is in 2 data centres") {
				t.Errorf("%v: %q", replication, why)
			}
		}
	}
}

// TestMoveFromPlain shards a plain table at rest: each row is in the second table, with the times
// that its cells had, and the first table is gone.
func TestMoveFromPlain(t *testing.T) {
	w, want := newPlainWorld(t)
	id := w.table("p").ID
	var last reshard.Status
	var steps []string
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change != nil {
			steps = append(steps, e.Change.Step.String())
			last, _ = w.mover(w.store, alone{}).Status(t.Context(), e)
		}
	}})
	w.startPlain(m, 5)
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	e := w.plainEntry()
	if e == nil || e.Change != nil || e.Second != nil || e.Layout.N != 5 || e.Layout.Base != 0 || e.Physical == "p" || e.ID != id || e.Layout.Remains {
		t.Fatalf("after the change: %+v", e)
	}
	if got := strings.Join(slices.Compact(steps), " "); got != "announced switching switched settled cleaned" {
		t.Errorf("the steps are %s", got)
	}
	if got := w.rows(e.Physical, e.Layout); !reflect.DeepEqual(got, want) {
		t.Errorf("the rows are\n%v\nand were\n%v", got, want)
	}
	if w.table("p") != nil {
		t.Error("the plain table is still there")
	}
	physical := w.table(e.Physical)
	if physical.ID != e.PhysicalID() || !physical.Clustering[0].Desc || physical.Options["comment"] != "it's plain" || physical.Options["gc_grace_seconds"] != 100000 {
		t.Errorf("the second table: %+v", physical.Options)
	}
	if last.RowsTotal != int64(len(want)) || last.RowsMoved != last.RowsTotal || last.RowsVerified < last.RowsTotal {
		t.Errorf("the last status is %+v, of %d rows", last, len(want))
	}
	// From here on, the table behaves like any sharded table.
	if _, err := m.Start(t.Context(), e, w.keyspace(), physical, &shard.Layout{N: 8, Column: "shard"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	e = w.plainEntry()
	if got := w.rows(e.Physical, e.Layout); !reflect.DeepEqual(got, want) || e.Layout.N != 8 {
		t.Errorf("after the next change to %v the rows are\n%v\nand were\n%v", e.Layout, got, want)
	}
}

// TestPlainTakenBack takes the sharding of a plain table back in every step in which that is
// possible. The table is unchanged, and nothing is left over.
func TestPlainTakenBack(t *testing.T) {
	for _, step := range []reshard.Step{reshard.Announced, reshard.Switching, reshard.Switched} {
		w, want := newPlainWorld(t)
		m := w.mover(w.store, nil)
		given := false
		m.opts.Doors = alone{at: func(e *catalog.Entry) {
			if e.Change != nil && e.Change.Step == step && !given {
				given = true
				if err := m.Give(t.Context(), "k", "p", Rollback); err != nil {
					t.Error(err)
				}
			}
		}}
		w.startPlain(m, 3)
		for range 2 { // the order looked to the mover as if another one had taken over
			if err := m.Run(t.Context(), "k", "p"); err != nil {
				t.Fatal(step, err)
			}
		}
		if e := w.plainEntry(); e != nil || !given {
			t.Fatalf("taken back in %v: %+v", step, e)
		}
		if got := w.rows("p", nil); !reflect.DeepEqual(got, want) {
			t.Errorf("taken back in %v the rows are\n%v\nand were\n%v", step, got, want)
		}
		if n := len(w.keyspace().Tables); n != 2 {
			t.Errorf("taken back in %v, %d tables are there", step, n)
		}
		w.startPlain(m, 3)
		if err := m.Run(t.Context(), "k", "p"); err != nil {
			t.Fatal(err)
		}
		e := w.plainEntry()
		if got := w.rows(e.Physical, e.Layout); !reflect.DeepEqual(got, want) {
			t.Errorf("the next one after %v: the rows are\n%v\nand were\n%v", step, got, want)
		}
	}
}

// TestPlainAltered alters the table before all doors know of the change, which is then taken back.
func TestPlainAltered(t *testing.T) {
	w, want := newPlainWorld(t)
	altered := false
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change != nil && e.Change.Step == reshard.Announced && !altered {
			altered = true
			w.exec("ALTER TABLE k.p WITH comment = 'late'")
		}
	}})
	w.startPlain(m, 3)
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	if e := w.plainEntry(); e != nil || !altered {
		t.Fatalf("the change of an altered table is not taken back: %+v", e)
	}
	if got := w.rows("p", nil); !reflect.DeepEqual(got, want) || w.table("p").Options["comment"] != "late" {
		t.Errorf("the rows are\n%v\nand were\n%v", got, want)
	}
}

// TestPlainDies lets the mover die while it begins a change of a plain table or carries it out.
func TestPlainDies(t *testing.T) {
	dies(t, newPlainWorld, func(w *world, m *Mover) error {
		_, err := m.StartPlain(t.Context(), w.keyspace(), w.table("p"), &shard.Layout{N: 3, Column: "shard"}, uuid())
		return err
	})
}

// dies lets the mover die after each number of requests, while it begins a change or carries it out.
// Another mover continues, or removes what is left.
func dies(t *testing.T, made func(*testing.T) (*world, map[string]string), start func(*world, *Mover) error) {
	t.Helper()
	begun, finished := 0, false
	for n := int64(0); !finished; n += 9 {
		w, want := made(t)
		before := w.plainEntry()
		d := &dying{Store: w.store, after: n%2 == 0}
		d.left.Store(1 << 40)
		m := w.mover(d, alone{})
		if err := m.moves.ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.left.Store(n)
		err := start(w, m)
		if err == nil {
			begun++
			err = m.Run(t.Context(), "k", "p")
			finished = err == nil
		}
		if err != nil && !strings.Contains(err.Error(), "died") {
			t.Fatal(n, err)
		}
		next := w.mover(w.store, alone{})
		if err := next.Run(t.Context(), "k", "p"); err != nil {
			t.Fatal(n, err)
		}
		if err := next.Tidy(t.Context(), "k", "p"); err != nil {
			t.Fatal(n, err)
		}
		switch e := w.plainEntry(); {
		case e == nil && before != nil, e != nil && (e.Change != nil || e.Second != nil), e != nil && before == nil && e.Layout.Plain():
			t.Fatalf("death after %d requests: %+v", n, e)
		}
		if got := w.rowsNow(); !reflect.DeepEqual(got, want) || len(w.keyspace().Tables) != 2 {
			t.Fatalf("death after %d requests: of %d rows there are %d, in %d tables", n, len(want), len(got), len(w.keyspace().Tables))
		}
		n += n / 2 // only the beginning differs from other changes
	}
	if begun < 3 {
		t.Errorf("only %d changes began", begun)
	}
}

// TestVerifyBetweenTables makes the places of rows differ, as a half-done write or deletion does,
// and checks that verify gives the new place what the rows must be.
func TestVerifyBetweenTables(t *testing.T) {
	w, _ := newPlainWorld(t)
	key, d := i32(77), i32(0)
	row := func(n int) []byte { return []byte(fmt.Sprint("row ", n)) }
	for n := range 4 {
		if n > 1 {
			w.exec("INSERT INTO k.p (k, c, d, a, b) VALUES (?, ?, ?, 'old', 1) USING TIMESTAMP 4000", key, row(n), d)
		}
	}
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change == nil || e.Change.Step != reshard.Switching || e.Change.Done {
			return
		}
		logical, _ := catalog.Logical(w.table(e.Second.Physical), e.Next)
		next, err := plan.NewTable(logical, e.Next)
		if err != nil {
			t.Fatal(err)
		}
		at := func(n int) []byte { return i32(next.ShardOfRow([][]byte{key}, [][]byte{row(n), d})) }
		second := "k." + e.Second.Physical
		w.exec("INSERT INTO "+second+" (k, shard, c, d, a, b) VALUES (?, ?, ?, ?, 'only new', 1) USING TIMESTAMP 5000", key, at(0), row(0), d)
		w.exec("INSERT INTO k.p (k, c, d, a, b) VALUES (?, ?, ?, 'only old', 1) USING TIMESTAMP 5000", key, row(1), d)
		w.exec("DELETE FROM "+second+" USING TIMESTAMP 6000 WHERE k = ? AND shard = ? AND c = ? AND d = ?", key, at(2), row(2), d)
		w.exec("UPDATE "+second+" USING TIMESTAMP 6000 SET a = null WHERE k = ? AND shard = ? AND c = ? AND d = ?", key, at(3), row(3), d)
	}})
	w.startPlain(m, 4)
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	e := w.plainEntry()
	got := w.rows(e.Physical, e.Layout)
	for i, want := range []string{"only new", "only old", "", " 00000001"} {
		v, ok := got[fmt.Sprintf("%x %s %x", key, row(i), d)]
		if ok != (want != "") || !strings.HasPrefix(v, want) {
			t.Errorf("row %d is %q, %v; it should be %q", i, v, ok, want)
		}
	}
}

// TestTidyWhileItBegins lets another door drop a table that a change is about to fill: the change
// does not begin.
func TestTidyWhileItBegins(t *testing.T) {
	w, want := newPlainWorld(t)
	m := w.mover(w.store, alone{})
	e := &catalog.Entry{Keyspace: "k", Table: "p", Physical: "p", ID: w.table("p").ID, Layout: shard.Plain(), Second: &catalog.Second{Physical: "p_evenkeel_1"}}
	if err := w.catalog.Adopt(t.Context(), e, w.like); err != nil {
		t.Fatal(err)
	}
	e = w.plainEntry()
	if err := w.mover(w.store, alone{}).Tidy(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.fill(t.Context(), e, w.table("p"), &shard.Layout{N: 3, Column: "shard"}); err == nil {
		t.Error("a change began whose table had been taken away")
	}
	if got := w.plainEntry(); got != nil || !reflect.DeepEqual(w.rows("p", nil), want) {
		t.Errorf("%+v", got)
	}
}

// TestPositions checks that positions of passes over two tables are in order, and that each
// position leads back to its own token or an earlier one.
func TestPositions(t *testing.T) {
	before := int64(math.MinInt64)
	for _, second := range []bool{false, true} {
		for _, token := range []int64{math.MinInt64, math.MinInt64 + 1, -5, -1, 0, 1, 7, math.MaxInt64} {
			at := position(token, second)
			if at < before {
				t.Errorf("token %d, %v is at %d, before %d", token, second, at, before)
			}
			before = at
			if got, of := tokenAt(at); (got > token || token-got > 1) && got != math.MaxInt64 || of != second {
				t.Errorf("token %d, %v is read as %d, %v", token, second, got, of)
			}
		}
	}
	if token, second := tokenAt(math.MinInt64); token != math.MinInt64 || second {
		t.Error("the first position is not the beginning")
	}
}

// TestRefusePlain refuses tables that cannot be copied.
func TestRefusePlain(t *testing.T) {
	w, _ := newPlainWorld(t)
	m := w.mover(w.store, alone{})
	for name, c := range map[string]struct{ columns, options, why string }{
		"counters":    {"k int, c int, n counter, PRIMARY KEY (k, c)", "", "counters are never copied"},
		"collections": {"k int, c int, m map<text, int>, PRIMARY KEY (k, c)", "", "collections or user-defined types"},
		"statics":     {"k int, c int, v int, s int static, PRIMARY KEY (k, c)", "", "static columns"},
		"grace":       {"k int, c int, v int, PRIMARY KEY (k, c)", " WITH gc_grace_seconds = 10", "gc_grace_seconds is 10"},
		"single":      {"k int PRIMARY KEY, v int", "", "no clustering column"},
		"keys":        {"k int, c int, PRIMARY KEY (k, c)", "", "no columns beside its key"},
		"taken":       {"k int, c int, shard int, PRIMARY KEY (k, c)", "", "it has a column shard"},
	} {
		w.exec("CREATE TABLE k." + name + " (" + c.columns + ")" + c.options)
		_, err := m.StartPlain(t.Context(), w.keyspace(), w.table(name), &shard.Layout{N: 3, Column: "shard"}, uuid())
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ks := w.keyspace()
	p := *ks.Tables["p"]
	p.Options = map[string]any{"cdc": true, "extensions": map[string][]byte{"x": {1}}}
	p.Indexes = []schema.Index{{Name: "on_a"}}
	ks.Tables["v"] = &schema.Table{Keyspace: "k", Name: "v", View: &schema.View{Base: "p"}}
	why := strings.Join(RefusePlain(ks, &p, &shard.Layout{N: 3, Column: "shard"}), "; ")
	for _, want := range []string{"cdc is on", "extensions", "index on_a", "view v"} {
		if !strings.Contains(why, want) {
			t.Errorf("%s is not among %s", want, why)
		}
	}
	for flags, is := range map[string]bool{"compound": false, "compound counter": false, "": true, "dense": true, "compound super": true} {
		if compact([]byte(flags)) != is {
			t.Errorf("flags %q: %v", flags, !is)
		}
	}
	if e := w.plainEntry(); e != nil {
		t.Errorf("a change that was refused has left %+v", e)
	}
}
