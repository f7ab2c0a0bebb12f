// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// newShardedWorld returns an engine with a table that was sharded while in use, and its rows.
func newShardedWorld(t *testing.T) (*world, map[string]string) {
	t.Helper()
	w, want := newPlainWorld(t)
	m := w.mover(w.store, alone{})
	w.startPlain(m, 5)
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	return w, want
}

// startSecond starts a change of table k.p to a second physical table.
func (w *world) startSecond(m *Mover, to *shard.Layout) (*catalog.Entry, error) {
	w.t.Helper()
	e := w.plainEntry()
	return m.StartSecond(w.t.Context(), e, w.keyspace(), w.table(e.Physical), to, uuid())
}

// rowsNow returns all rows of table k.p, each of which must be at its place.
func (w *world) rowsNow() map[string]string {
	w.t.Helper()
	e := w.plainEntry()
	if e == nil { // it was never sharded
		return w.rows("p", nil)
	}
	switch {
	case e.Layout.Plain():
		return w.rows(e.Physical, nil)
	case e.Layout.Strategy == shard.Rollover:
		return w.rolledRows(e)
	}
	return w.rows(e.Physical, e.Layout)
}

// TestMoveToPlain makes a sharded table plain at rest, shards it again and makes it plain again: each
// row keeps the times of its cells, and each table that was left is gone.
func TestMoveToPlain(t *testing.T) {
	w, want := newShardedWorld(t)
	first := w.plainEntry()
	var last reshard.Status
	var steps []string
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change != nil {
			steps = append(steps, e.Change.Step.String())
			last, _ = w.mover(w.store, alone{}).Status(t.Context(), e)
		}
	}})
	names := map[string]bool{first.Physical: true}
	for _, to := range []*shard.Layout{shard.Plain(), {N: 3, Column: "shard"}, shard.Plain()} {
		steps = nil
		before := w.plainEntry()
		o, err := m.OutlookOfSecond(t.Context(), before, w.keyspace(), w.table(before.Physical), to)
		if err != nil || len(o.Refused) > 0 || o.Rows != int64(len(want)) || o.RowsMoved != float64(len(want)) || o.From != shards(before.Layout) || o.To != shards(to) {
			t.Errorf("the outlook of %v is %+v, %v", to, o, err)
		}
		if _, err := w.startSecond(m, to); err != nil {
			t.Fatal(err)
		}
		if err := m.Run(t.Context(), "k", "p"); err != nil {
			t.Fatal(err)
		}
		e := w.plainEntry()
		if e == nil || e.Change != nil || e.Second != nil || e.Layout.Plain() != to.Plain() || names[e.Physical] || e.ID != first.ID || e.Layout.Remains || e.Layout.Base > 0 {
			t.Fatalf("after the change to %v: %+v", to, e)
		}
		names[e.Physical] = true
		if got := strings.Join(slices.Compact(steps), " "); got != "announced switching switched settled cleaned" {
			t.Errorf("the steps are %s", got)
		}
		if got := w.rowsNow(); !reflect.DeepEqual(got, want) {
			t.Errorf("after the change to %v the rows are\n%v\nand were\n%v", to, got, want)
		}
		if n := len(w.keyspace().Tables); n != 2 {
			t.Errorf("after the change to %v, %d tables are there", to, n)
		}
		physical := w.table(e.Physical)
		if physical.ID != e.PhysicalID() || !physical.Clustering[0].Desc || physical.Options["comment"] != "it's plain" || physical.Options["gc_grace_seconds"] != 100000 || len(physical.All()) != 5 != !to.Plain() {
			t.Errorf("the second table: %+v", physical)
		}
		if last.RowsTotal != int64(len(want)) || last.RowsMoved != last.RowsTotal || last.RowsVerified < last.RowsTotal {
			t.Errorf("the last status is %+v, of %d rows", last, len(want))
		}
		s, err := m.Status(t.Context(), e)
		if err != nil || s.Phase != reshard.NoPhase || s.Result != reshard.ResultDone || s.To != shards(to) {
			t.Errorf("afterwards: %+v %v", s, err)
		}
	}
}

// TestMoveToPlainLeavesRemains makes a table plain that has rows in shards where no layout puts them.
// They do not come to life.
func TestMoveToPlainLeavesRemains(t *testing.T) {
	w, want := newShardedWorld(t)
	e := w.plainEntry()
	logical, _ := catalog.Logical(w.table(e.Physical), e.Layout)
	in, err := plan.NewTable(logical, e.Layout)
	if err != nil {
		t.Fatal(err)
	}
	key, c, d := i32(1), []byte("a ghost"), i32(0)
	at := in.ShardOfRow([][]byte{key}, [][]byte{c, d})
	w.exec("INSERT INTO k."+e.Physical+" (k, shard, c, d, a) VALUES (?, ?, ?, ?, 'ghost')", key, i32(at%5+1), c, d)
	w.exec("INSERT INTO k."+e.Physical+" (k, shard, c, d, a) VALUES (?, ?, ?, ?, 'ghost')", key, i32(77), c, d)
	remains := *e.Layout
	remains.Remains = true
	if _, err = w.catalog.Publish(t.Context(), e, e.With(&remains)); err != nil {
		t.Fatal(err)
	}
	m := w.mover(w.store, alone{})
	if _, err := w.startSecond(m, shard.Plain()); err != nil {
		t.Fatal(err)
	}
	if err := m.Give(t.Context(), "k", "p", Rollback); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	if e := w.plainEntry(); !e.Layout.Remains || e.Layout.N != 5 || e.Second != nil {
		t.Errorf("taken back: %+v", e)
	}
	if _, err := w.startSecond(m, shard.Plain()); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	if e := w.plainEntry(); e.Layout.Remains || !e.Layout.Plain() {
		t.Errorf("in the end: %+v", e)
	}
	if got := w.rowsNow(); !reflect.DeepEqual(got, want) {
		t.Errorf("the rows are\n%v\nand were\n%v", got, want)
	}
}

// TestToPlainTakenBack takes the change to a plain table back in every step in which that is possible.
// The table is unchanged, and nothing is left over.
func TestToPlainTakenBack(t *testing.T) {
	for _, step := range []reshard.Step{reshard.Announced, reshard.Switching, reshard.Switched} {
		w, want := newShardedWorld(t)
		before := w.plainEntry()
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
		if _, err := w.startSecond(m, shard.Plain()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the order looked to the mover as if another one had taken over
			if err := m.Run(t.Context(), "k", "p"); err != nil {
				t.Fatal(step, err)
			}
		}
		e := w.plainEntry()
		if e == nil || !given || e.Change != nil || e.Second != nil || e.Physical != before.Physical || !e.Layout.Equal(before.Layout) {
			t.Fatalf("taken back in %v: %+v", step, e)
		}
		if got := w.rowsNow(); !reflect.DeepEqual(got, want) || len(w.keyspace().Tables) != 2 {
			t.Errorf("taken back in %v the rows are\n%v\nand were\n%v", step, got, want)
		}
		if s, err := m.Status(t.Context(), e); err != nil || s.Result != reshard.ResultTakenBack {
			t.Errorf("taken back in %v: %+v %v", step, s, err)
		}
	}
}

// TestToPlainDies lets the mover die while it begins a change to a plain table or carries it out.
func TestToPlainDies(t *testing.T) {
	dies(t, newShardedWorld, func(w *world, m *Mover) error {
		_, err := w.startSecond(m, shard.Plain())
		return err
	})
}

// TestVerifyToPlain makes the places of rows differ, as a half-done write or deletion does, and checks
// that verify gives the plain table what the rows must be.
func TestVerifyToPlain(t *testing.T) {
	w, _ := newShardedWorld(t)
	from := w.plainEntry()
	logical, _ := catalog.Logical(w.table(from.Physical), from.Layout)
	in, err := plan.NewTable(logical, from.Layout)
	if err != nil {
		t.Fatal(err)
	}
	key, d := i32(77), i32(0)
	row := func(n int) []byte { return []byte{'r', byte('0' + n)} }
	at := func(n int) []byte { return i32(in.ShardOfRow([][]byte{key}, [][]byte{row(n), d})) }
	for n := 2; n < 4; n++ {
		w.exec("INSERT INTO k."+from.Physical+" (k, shard, c, d, a, b) VALUES (?, ?, ?, ?, 'old', 1) USING TIMESTAMP 4000", key, at(n), row(n), d)
	}
	m := w.mover(w.store, alone{at: func(e *catalog.Entry) {
		if e.Change == nil || e.Change.Step != reshard.Switching || e.Change.Done {
			return
		}
		second := "k." + e.Second.Physical
		w.exec("INSERT INTO "+second+" (k, c, d, a, b) VALUES (?, ?, ?, 'only new', 1) USING TIMESTAMP 5000", key, row(0), d)
		w.exec("INSERT INTO k."+from.Physical+" (k, shard, c, d, a, b) VALUES (?, ?, ?, ?, 'only old', 1) USING TIMESTAMP 5000", key, at(1), row(1), d)
		w.exec("DELETE FROM "+second+" USING TIMESTAMP 6000 WHERE k = ? AND c = ? AND d = ?", key, row(2), d)
		w.exec("UPDATE "+second+" USING TIMESTAMP 6000 SET a = null WHERE k = ? AND c = ? AND d = ?", key, row(3), d)
	}})
	if _, err := w.startSecond(m, shard.Plain()); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, v := range w.rowsNow() {
		if at := strings.Index(name, " r"); at >= 0 && strings.HasPrefix(name, "0000004d") {
			got[name[at+1:at+3]] = strings.Join(strings.Fields(v)[:2], " ")
		}
	}
	if want := (map[string]string{"r0": "only new", "r1": "only old", "r3": "00000001 0000000000000fa0"}); len(got) != 3 || got["r0"] != want["r0"] || got["r1"] != want["r1"] || !strings.HasPrefix(got["r3"], "00000001") {
		t.Errorf("the rows are %v; they should be %v", got, want)
	}
}

// TestSecondThatIsRefused asks for changes to a second table that cannot begin.
func TestSecondThatIsRefused(t *testing.T) {
	w, want := newShardedWorld(t)
	m := w.mover(w.store, alone{})
	if _, err := w.startSecond(m, &shard.Layout{N: 5, Column: "shard"}); err == nil || !strings.Contains(err.Error(), "has this layout already") {
		t.Errorf("to the same layout: %v", err)
	}
	if _, err := w.startSecond(m, shard.Plain()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.startSecond(m, shard.Plain()); err == nil || !strings.Contains(err.Error(), "being changed already") {
		t.Errorf("twice: %v", err)
	}
	e := w.plainEntry()
	if o, err := m.OutlookOfSecond(t.Context(), e, w.keyspace(), w.table(e.Physical), shard.Plain(), "for a reason"); err != nil || len(o.Refused) != 2 {
		t.Errorf("the outlook during a change: %+v %v", o, err)
	}
	if err := m.Run(t.Context(), "k", "p"); err != nil {
		t.Fatal(err)
	}
	if got := w.rowsNow(); !reflect.DeepEqual(got, want) {
		t.Errorf("the rows are\n%v\nand were\n%v", got, want)
	}
}
