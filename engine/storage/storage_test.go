// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/value"
)

var testTable = TableSpec{
	ID:         [16]byte{1, 2, 3},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}, {Type: value.Native(value.Text), Desc: true}},
	Columns: []Column{
		{ID: 0}, {ID: 1}, {ID: 2, Static: true},
		{ID: 3, Path: value.Native(value.Text)},
	},
	GCGrace: 10,
}

func openTest(t testing.TB) *DB { return openWith(t, Options{}) }

// openWith opens a database in memory until the test ends. The test itself starts sweeps.
func openWith(t testing.TB, o Options) *DB {
	t.Helper()
	o.FS, o.SweepInterval = vfs.NewMem(), -1
	db, err := Open("d", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustTable(t testing.TB, db *DB, spec TableSpec) *Table {
	t.Helper()
	table, err := db.Table(spec)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func i32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func clustering(a int, b string) [][]byte { return [][]byte{i32(a), []byte(b)} }

func TestWriteAndRead(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, testTable)
	b := db.NewBatch()
	defer b.Release()
	for p := range 3 {
		b.Partition(table, int64(p-1), i32(p))
		for i := range 4 {
			b.Row(clustering(i/2-1, fmt.Sprint("r", i%2)))
			b.Marker(Liveness{Timestamp: 10})
			b.Set(Cell{Column: 1, Value: fmt.Append(nil, "v", i), Timestamp: 10})
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	read := func(q *Query) (got string) {
		it := table.Scan(AllTokens, nil, q)
		defer it.Close()
		for it.NextPartition() {
			token, key := it.Partition()
			got += fmt.Sprintf("%d/%x:", token, key)
			for it.Next() {
				r := it.Row()
				got += fmt.Sprintf(" %d%s=%s", int32(binary.BigEndian.Uint32(r.Clustering[0])), r.Clustering[1], r.Cells[0].Value)
			}
			got += "\n"
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
		return got
	}
	const rows = " -1r1=v1 -1r0=v0 0r1=v3 0r0=v2\n"
	if got, want := read(&Query{All: true}), "-1/00000000:"+rows+"0/00000001:"+rows+"1/00000002:"+rows; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	var row Row
	ok, err := table.Get(0, i32(1), clustering(0, "r1"), &Query{All: true}, &row)
	if err != nil || !ok || string(row.Cells[0].Value) != "v3" {
		t.Fatal(ok, err, row)
	}
}

// TestReadNextSeesOneState checks that an Iterator sees no write that came after it, and no deletion:
// neither the table's first one nor a later one.
func TestReadNextSeesOneState(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, testTable)
	b := db.NewBatch()
	defer b.Release()
	write := func(partition int, name string) {
		b.Partition(table, int64(partition), i32(partition))
		b.Row(clustering(1, name))
		b.Marker(Liveness{Timestamp: 10})
	}
	erase := func(partition int) {
		b.Partition(table, int64(partition), i32(partition))
		b.DeletePartition(Deletion{Timestamp: 20, Time: 1})
	}
	commit := func() {
		t.Helper()
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "old")
	write(2, "old")
	write(3, "old")
	commit()
	for round := range 2 {
		it := table.Read(1, i32(1), &Query{All: true})
		var got []string
		for p := 1; ; p++ {
			for it.NextPartition() {
				for it.Next() {
					got = append(got, fmt.Sprintf("%d %s", p, it.Row().Clustering[1]))
				}
			}
			if p == 3 {
				break
			}
			if p == 1 {
				write(2, "new")
				erase(3)
				commit()
			}
			it.ReadNext(int64(p+1), i32(p+1))
		}
		if err := cmp.Or(it.Err(), it.Close()); err != nil {
			t.Fatal(err)
		}
		want := []string{"1 old", "2 old", "3 old"}
		if round == 1 {
			want = []string{"1 old", "2 old", "2 new"}
			slices.Sort(got[1:])
			slices.Sort(want[1:])
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: %q, want %q", round, got, want)
		}
	}
}
