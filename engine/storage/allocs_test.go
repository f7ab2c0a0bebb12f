// SPDX-License-Identifier: Apache-2.0

//go:build !race

package storage

import (
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

// TestAllocs checks that the most used operations allocate almost nothing themselves. (Pebble
// allocates for a batch if it has no old one to reuse.)
func TestAllocs(t *testing.T) {
	db := openWith(t, Options{Periodic: true})
	table := mustTable(t, db, testTable)
	b := db.NewBatch()
	defer b.Release()
	key, c, v := i32(1), clustering(1, "row"), []byte("value")
	n := int64(0)
	check := func(what string, most float64, f func()) {
		if got := allocs.PerRun(1000, f); got > most {
			t.Errorf("%s: %v allocations, at most %v", what, got, most)
		}
	}
	check("write", 1, func() {
		n++
		b.Partition(table, n, key)
		b.Row(c)
		b.Marker(Liveness{Timestamp: n})
		b.Set(Cell{Column: 0, Value: v, Timestamp: n})
		b.Set(Cell{Column: 1, Value: v, Timestamp: n})
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	})
	var row Row
	q := &Query{All: true}
	check("get", 1, func() {
		if ok, err := table.Get(1, key, c, q, &row); !ok || err != nil {
			t.Fatal(ok, err)
		}
	})
	it := table.Scan(AllTokens, nil, q)
	check("next", 0, func() {
		if !it.NextPartition() || !it.Next() {
			t.Fatal(it.Err())
		}
	})
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	it = table.Read(1, key, q)
	check("read next", 0, func() {
		if it.ReadNext(2, key); !it.NextPartition() || !it.Next() {
			t.Fatal(it.Err())
		}
	})
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
}
