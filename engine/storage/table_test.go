// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/value"
)

// rowsOf counts the live rows of a table.
func rowsOf(t *testing.T, table *Table, q *Query) (n int) {
	t.Helper()
	it := table.Scan(AllTokens, nil, q)
	for it.NextPartition() {
		for it.Next() {
			n++
		}
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTruncateAndDrop(t *testing.T) {
	fs := vfs.NewMem()
	db, err := Open("d", Options{FS: fs, SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	var tables []*Table
	for _, id := range [][16]byte{{1}, {1, 15: 1}, {1, 15: 2}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
		spec := concurrentTable
		spec.ID = id
		tables = append(tables, mustTable(t, db, spec))
	}
	b := db.NewBatch()
	fill := func() {
		for _, table := range tables {
			for _, token := range []int64{math.MinInt64, 0, math.MaxInt64} {
				b.Partition(table, token, i32(1))
				b.DeletePartition(Deletion{Timestamp: 1, Time: 1})
				b.Row([][]byte{i32(1)})
				b.Marker(Liveness{Timestamp: 2})
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...int) {
		t.Helper()
		for i, table := range tables {
			if n := rowsOf(t, table, &Query{}); n != want[i] {
				t.Errorf("table %d has %d rows, want %d", i, n, want[i])
			}
		}
	}
	fill()
	check(3, 3, 3, 3)
	view := db.View()
	if err := tables[1].Truncate(); err != nil {
		t.Fatal(err)
	}
	check(3, 0, 3, 3)
	if n := rowsOf(t, tables[1], &Query{View: view}); n != 3 {
		t.Errorf("the view has %d rows", n)
	}
	if err := view.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tables[3].Truncate(); err != nil {
		t.Fatal(err)
	}
	check(3, 0, 3, 0)
	fill() // rows with older timestamps would be visible, too: a truncated table is empty
	check(3, 3, 3, 3)
	if err := db.DropTable(tables[0].ID()); err != nil {
		t.Fatal(err)
	}
	b.Release()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open("d", Options{FS: fs, SweepInterval: -1}); err != nil {
		t.Fatal(err)
	}
	for i, table := range tables {
		tables[i] = mustTable(t, db, table.spec)
	}
	check(0, 3, 3, 3)
	// The table knows again that it has deletions.
	b = db.NewBatch()
	for _, table := range tables[1:] {
		b.Partition(table, 0, i32(1))
		b.Row([][]byte{i32(2)})
		b.Marker(Liveness{Timestamp: 1})
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	check(0, 3, 3, 3)
	for _, table := range tables[1:] {
		var row Row
		if ok, err := table.Get(0, i32(1), [][]byte{i32(2)}, &Query{}, &row); ok || err != nil {
			t.Errorf("a deleted row is read after reopening: %v", err)
		}
	}
	b.Release()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDroppedColumn checks that the cells of a dropped column are invisible, do not keep a row
// alive, and are removed.
func TestDroppedColumn(t *testing.T) {
	db := openTest(t)
	spec := concurrentTable
	table := mustTable(t, db, spec)
	b := db.NewBatch()
	defer b.Release()
	for r := range 2 {
		b.Partition(table, 1, i32(1))
		b.Row([][]byte{i32(r)})
		b.Set(Cell{Column: 0, Value: []byte("v"), Timestamp: 1})
		if r == 1 {
			b.Marker(Liveness{Timestamp: 1})
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	spec.Columns = []Column{{ID: 5}}
	altered := mustTable(t, db, spec)
	if n := rowsOf(t, altered, &Query{All: true}); n != 1 {
		t.Errorf("%d rows", n)
	}
	if err := db.sweep(false); err != nil {
		t.Fatal(err)
	}
	if n := stored(t, db, altered); n != 1 {
		t.Errorf("%d keys are stored", n)
	}
	b.Partition(altered, 1, i32(1))
	b.Row([][]byte{i32(1)})
	b.Set(Cell{Column: 0, Value: []byte("v"), Timestamp: 1})
	if err := b.Commit(); !errors.Is(err, ErrMalformed) {
		t.Errorf("writing to a dropped column: %v", err)
	}
}

// TestColumnComesBack checks that the sweep keeps cells that were written to a column after it was
// dropped, and removes the earlier ones.
func TestColumnComesBack(t *testing.T) {
	db := openTest(t)
	spec := concurrentTable
	b := db.NewBatch()
	defer b.Release()
	for r := range 4 {
		b.Partition(mustTable(t, db, spec), 1, i32(1))
		b.Row([][]byte{i32(r)})
		b.Set(Cell{Column: 0, Value: []byte("v"), Timestamp: int64(r)})
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	at := int64(1)
	for _, c := range []struct {
		absent bool
		rows   int
	}{{true, 0}, {false, 2}} {
		spec.Columns = []Column{{ID: 0, DroppedAt: &at, Absent: c.absent}}
		table := mustTable(t, db, spec)
		for _, when := range []string{"before", "after"} {
			if n := rowsOf(t, table, &Query{All: true}); n != c.rows {
				t.Errorf("absent: %v: %d rows %s the sweep, not %d", c.absent, n, when, c.rows)
			}
			if err := db.sweep(false); err != nil {
				t.Fatal(err)
			}
		}
		if n := stored(t, db, table); n != 2 {
			t.Errorf("absent: %v: %d keys are stored", c.absent, n)
		}
	}
	// The column is dropped again, later: the sweep looks again.
	at = 2
	table := mustTable(t, db, TableSpec{ID: spec.ID, Clustering: spec.Clustering, Columns: []Column{{ID: 0, DroppedAt: &at, Absent: true}}})
	if err := db.sweep(false); err != nil {
		t.Fatal(err)
	}
	if n := stored(t, db, table); n != 1 {
		t.Errorf("%d keys are stored after the second drop", n)
	}
}

// TestSweepWhenDue checks that the periodic sweep reads a table when something may be due.
func TestSweepWhenDue(t *testing.T) {
	now := int64(1000)
	db := openWith(t, Options{Clock: func() time.Time { return time.Unix(now, 0) }})
	spec := concurrentTable
	spec.GCGrace = 100
	table := mustTable(t, db, spec)
	b := db.NewBatch()
	write := func(key int, ttl int32) {
		b.Partition(table, int64(key), i32(key))
		b.Row([][]byte{i32(1)})
		b.Marker(Liveness{Timestamp: 1, TTL: ttl, Expires: now + int64(ttl)})
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	step := func(at int64, began int64, keys int) {
		t.Helper()
		now = at
		if err := db.sweep(false); err != nil {
			t.Fatal(err)
		}
		if n := stored(t, db, table); n != keys || table.state.began != began {
			t.Errorf("at %d: %d keys, sweep of %d", at, n, table.state.began)
		}
	}
	step(1000, 0, 0) // no possible garbage
	write(1, 10)
	step(1000, 1000, 1) // the first sweep
	step(1050, 1000, 1)
	write(2, 10) // due at 1150, which the sweep does not know
	step(1100, 1000, 2)
	step(1101, 1101, 1)
	step(1150, 1101, 1)
	step(1151, 1151, 0)
	step(9999, 1151, 0)
	b.Release()
}

// TestOriginals checks that equal values with different bytes are one row, which keeps the bytes
// first written, and one element, which has the bytes last written. Cassandra 5.0.9 returns the
// same.
func TestOriginals(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, TableSpec{
		ID:         [16]byte{8},
		Clustering: []ClusteringColumn{{Type: value.Native(value.Text)}, {Type: value.Native(value.Decimal), Desc: true}},
		Columns:    []Column{{ID: 0}, {ID: 1, Path: value.Native(value.Decimal)}},
	})
	one, one0, one00 := []byte{0, 0, 0, 0, 1}, []byte{0, 0, 0, 1, 10}, []byte{0, 0, 0, 2, 100}
	b := db.NewBatch()
	defer b.Release()
	write := func(key string, ts int64, c []byte, f func()) {
		b.Partition(table, 1, []byte(key))
		b.Row([][]byte{[]byte("x"), c})
		f()
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	set := func(ts int64, v string, path []byte) func() {
		return func() {
			b.Set(Cell{Column: 0, Value: []byte(v), Timestamp: ts})
			b.Set(Cell{Column: 1, Path: path, Timestamp: ts})
		}
	}
	del := func() { b.DeleteRow(Deletion{Timestamp: 5, Time: 1}) }
	partition := func() { b.DeletePartition(Deletion{Timestamp: 5, Time: 1}) }
	write("later", 1, one0, set(1, "a", one0))
	write("later", 2, one00, set(2, "b", one00))
	write("earlier", 2, one00, set(2, "a", one00))
	write("earlier", 1, one0, set(1, "b", one0))
	write("canonical", 1, one, set(1, "a", one))
	write("canonical", 2, one0, set(2, "b", one0))
	write("deleted", 1, one00, set(1, "a", one00))
	write("deleted", 5, one, del)
	write("deleted", 6, one0, set(6, "b", one))
	write("partition", 1, one00, set(1, "a", one00))
	write("partition", 5, one, partition)
	write("partition", 6, one0, set(6, "b", one))
	for _, flush := range []bool{false, true} {
		if flush {
			if err := db.pebble.Compact(t.Context(), []byte{0}, []byte{0xff}, false); err != nil {
				t.Fatal(err)
			}
		}
		for key, want := range map[string]string{
			"later":     "000000010a b 0000000264",
			"earlier":   "0000000264 a 0000000264",
			"canonical": "0000000001 b 000000010a",
			"deleted":   "0000000264 b 0000000001",
			"partition": "0000000264 b 0000000001",
		} {
			var row Row
			ok, err := table.Get(1, []byte(key), [][]byte{[]byte("x"), one}, &Query{All: true}, &row)
			if err != nil || !ok {
				t.Fatal(key, ok, err)
			}
			got := fmt.Sprintf("%x %s %x", row.Clustering[1], row.Cells[0].Value, row.Cells[1].Path)
			it := table.Read(1, []byte(key), &Query{All: true})
			if !it.NextPartition() || !it.Next() {
				t.Fatal(key, it.Err())
			}
			r := it.Row()
			again := fmt.Sprintf("%x %s %x", r.Clustering[1], r.Cells[0].Value, r.Cells[1].Path)
			if got != want || again != want || string(r.Clustering[0]) != "x" {
				t.Errorf("%s: Get %s, Read %s, want %s", key, got, again, want)
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTypeGrows gives a type in the keys another field. Rows and elements must keep their places
// and values. A reader that began before must also get those that are written with the field.
func TestTypeGrows(t *testing.T) {
	db := openTest(t)
	fields := []*value.Type{value.Native(value.Int), value.Native(value.Text)}
	u := value.UDTOf("k", "u", []string{"a", "b"}, fields, true)
	grown := value.UDTOf("k", "u", []string{"a", "b", "c"}, append(fields[:2:2], value.Native(value.Int)), true)
	spec := func(u *value.Type) TableSpec {
		return TableSpec{
			ID:         [16]byte{9},
			Clustering: []ClusteringColumn{{Type: value.ListOf(u, true), Desc: true}, {Type: value.Native(value.Int)}},
			Columns:    []Column{{ID: 0, Path: u}},
		}
	}
	row := func(fields ...[]byte) []byte { return u.Build(nil, fields) }
	list := func(u []byte) []byte { return value.ListOf(grown, true).Build(nil, [][]byte{u}) }
	ts := int64(0)
	write := func(table *Table, u []byte) {
		t.Helper()
		ts++
		b := db.NewBatch()
		defer b.Release()
		b.Partition(table, 1, []byte("p"))
		b.Row([][]byte{list(u), i32(1)})
		b.Set(Cell{Column: 0, Path: u, Timestamp: ts})
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	older := mustTable(t, db, spec(u))
	first, nulls, second := row(i32(1), []byte("x")), row(i32(1), nil), row(i32(2), []byte("x"))
	write(older, second)
	write(older, first)
	write(older, nulls)
	newer := mustTable(t, db, spec(grown))
	more := row(i32(1), []byte("x"), i32(5))
	write(newer, more)
	write(newer, row(i32(2), []byte("x"), nil)) // a row that exists
	for name, table := range map[string]*Table{"older": older, "newer": newer} {
		var got []string
		it := table.Read(1, []byte("p"), &Query{All: true})
		for it.NextPartition() {
			for it.Next() {
				got = append(got, fmt.Sprintf("%x %x", it.Row().Clustering[0], it.Row().Cells[0].Path))
			}
		}
		if err := errors.Join(it.Err(), it.Close()); err != nil {
			t.Fatal(name, err)
		}
		var want []string
		for _, u := range [][]byte{second, more, first, nulls} {
			path := u
			if bytes.Equal(u, second) {
				path = row(i32(2), []byte("x"), nil) // the last one written
			}
			want = append(want, fmt.Sprintf("%x %x", list(u), path))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s handle reads\n%q, want\n%q", name, got, want)
		}
	}
	var r Row
	for _, u := range [][]byte{first, row(i32(1), []byte("x"), nil)} {
		if ok, err := newer.Get(1, []byte("p"), [][]byte{list(u), i32(1)}, &Query{All: true}, &r); !ok || err != nil || !bytes.Equal(r.Clustering[0], list(first)) {
			t.Errorf("get %x: %v, %x, %v", u, ok, r.Clustering, err)
		}
	}
}

// TestMistakes checks that data that do not fit the table are errors, and that nothing is written.
func TestMistakes(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, testTable)
	b := db.NewBatch()
	defer b.Release()
	p := func() { b.Partition(table, 1, i32(1)) }
	row := func() { p(); b.Row(clustering(1, "a")) }
	for name, f := range map[string]func(){
		"no partition":           func() { b.Row(clustering(1, "a")) },
		"no row":                 func() { p(); b.Marker(Liveness{Timestamp: 1}) },
		"one clustering value":   func() { p(); b.Row([][]byte{i32(1)}) },
		"null clustering":        func() { p(); b.Row([][]byte{nil, []byte("a")}) },
		"an int of 3 bytes":      func() { p(); b.Row([][]byte{{1, 2, 3}, []byte("a")}) },
		"an unknown column":      func() { row(); b.Set(Cell{Column: 9}) },
		"a static column":        func() { row(); b.Set(Cell{Column: 2}) },
		"a regular column":       func() { p(); b.Static(); b.Set(Cell{Column: 0}) },
		"a path":                 func() { row(); b.Set(Cell{Column: 0, Path: []byte("p")}) },
		"no path":                func() { row(); b.Set(Cell{Column: 3}) },
		"no counter":             func() { row(); b.Add(0, 1, 1) },
		"elements of an atom":    func() { row(); b.DeleteComplex(0, Deletion{}) },
		"a bound of three":       func() { p(); b.DeleteSlice(Slice{Start: Bound{[][]byte{i32(1), {1}, {1}}, true}}, Deletion{}) },
		"a bound of a bad value": func() { p(); b.DeleteSlice(Slice{Start: Bound{[][]byte{{1}}, true}}, Deletion{}) },
	} {
		f()
		b.Partition(table, 2, i32(2))
		b.Row(clustering(1, "a"))
		b.Marker(Liveness{Timestamp: 1})
		if err := b.Commit(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := stored(t, db, table); n != 0 {
		t.Errorf("%d keys were written", n)
	}
	b.Partition(table, 2, i32(2))
	b.Row(clustering(1, "a"))
	b.Marker(Liveness{Timestamp: 1})
	if err := b.Commit(); err != nil {
		t.Errorf("after mistakes: %v", err)
	}
	var r Row
	if _, err := table.Get(1, i32(1), [][]byte{i32(1)}, &Query{}, &r); !errors.Is(err, ErrMalformed) {
		t.Errorf("get: %v", err)
	}
	for name, q := range map[string]*Query{
		"bad bound": {Slices: Listed{{Start: Bound{[][]byte{{1}}, true}}}},
		"overlap":   {Slices: Listed{{}, {}}},
		"position":  {After: [][]byte{i32(1)}},
	} {
		it := table.Read(1, i32(1), q)
		if it.NextPartition() || !errors.Is(it.Err(), ErrMalformed) {
			t.Errorf("%s: %v", name, it.Err())
		}
		if err := it.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := db.Table(TableSpec{Columns: []Column{{ID: 1}, {ID: 1}}}); !errors.Is(err, ErrMalformed) {
		t.Errorf("two columns of one id: %v", err)
	}
}

func TestStats(t *testing.T) {
	db := openTest(t)
	for _, c := range []struct{ partitions, rows int }{{0, 0}, {1, 1}, {10, 10}, {3000, 5}, {3, 20000}} {
		spec := concurrentTable
		spec.ID = [16]byte{byte(c.partitions), byte(c.partitions >> 8), 3}
		table := mustTable(t, db, spec)
		b := db.NewBatch()
		for p := range c.partitions {
			b.Partition(table, benchToken(uint64(p)), i32(p))
			for r := range c.rows {
				b.Row([][]byte{i32(r)})
				b.Marker(Liveness{Timestamp: 1})
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		b.Release()
		if err := db.pebble.Flush(); err != nil {
			t.Fatal(err)
		}
		s, err := table.Stats()
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got int64, want int, slack float64) {
			if w := float64(want); float64(got) < w/slack || float64(got) > w*slack {
				t.Errorf("%d partitions of %d: %s %d", c.partitions, c.rows, what, got)
			}
		}
		slack := 1.0
		if c.partitions*c.rows > 4000 {
			slack = 1.3
		}
		near("partitions", s.Partitions, c.partitions, slack)
		if c.partitions == 3 {
			slack = 8 // by bytes, which are compressed
		}
		near("rows", s.Rows, c.partitions*c.rows, slack)
	}
}
