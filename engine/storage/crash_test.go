// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/internal/testkit/crash"
)

var crashTable = TableSpec{
	ID:         [16]byte{5},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}},
	Columns:    []Column{{ID: 0}, {ID: 1, Static: true, Counter: true}},
	GCGrace:    1,
}

// crashPartitions is the number of partitions that each batch of the crash test writes to.
const crashPartitions = 5

// TestCrash has writers write, and takes what a crash at a random moment would leave, with a random
// part of what was not synced. It opens that. Every acknowledged batch must be there, and every
// other one whole or not at all.
//
// Batch n of a writer writes row n in each of its partitions, with value n, and adds 1 to a counter
// in one more partition.
func TestCrash(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { crashOnce(t, seed) })
	}
}

func crashOnce(t *testing.T, seed uint64) {
	fs := vfs.NewCrashableMem()
	options := Options{FS: fs, MemTableBytes: 64 << 10, SweepInterval: time.Millisecond}
	db, err := Open("d", options)
	if err != nil {
		t.Fatal(err)
	}
	table := mustTable(t, db, crashTable)
	const writers = 6
	batches := make([]*Batch, writers)
	for w := range batches {
		batches[w] = db.NewBatch()
	}
	left := crash.While(t, fs, seed, writers, func(w, n int) error {
		b := batches[w]
		for p := range crashPartitions {
			b.Partition(table, int64(p), i32(w))
			b.Row([][]byte{i32(n)})
			b.Marker(Liveness{Timestamp: int64(n)})
			b.Set(Cell{Column: 0, Value: i32(n), Timestamp: int64(n)})
			if n%8 == 0 { // rows that do not exist
				b.DeleteSlice(Slice{Start: Bound{[][]byte{i32(-9)}, true}, End: Bound{[][]byte{i32(0)}, true}}, Deletion{int64(n), 1})
			}
		}
		if n%3 == 0 {
			b.Partition(table, 100, i32(w))
			b.Static()
			b.Add(1, 1, int64(n))
		}
		return b.Commit()
	})
	for _, b := range batches {
		b.Release()
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	options.FS = left.Files
	db, err = Open("d", options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	table = mustTable(t, db, crashTable)
	for w := range writers {
		var first []int
		for p := range crashPartitions {
			var rows []int
			it := table.Read(int64(p), i32(w), &Query{All: true})
			for it.NextPartition() {
				for it.Next() {
					n := int(it.Row().Clustering[0][3]) | int(it.Row().Clustering[0][2])<<8 | int(it.Row().Clustering[0][1])<<16
					if string(it.Row().Cells[0].Value) != string(i32(n)) {
						t.Errorf("writer %d: row %d has value %x", w, n, it.Row().Cells[0].Value)
					}
					rows = append(rows, n)
				}
			}
			if it.Err() != nil {
				t.Fatal(it.Err())
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if p == 0 {
				first = rows
			} else if !slices.Equal(rows, first) {
				t.Errorf("writer %d: batches half there: %v and %v", w, first, rows)
			}
		}
		// A writer waits for each batch, so the existing rows are its first ones.
		if n := len(first); n < left.Acknowledged[w] || n > left.Begun[w] || n > 0 && first[n-1] != n {
			t.Errorf("writer %d: %d rows of %d acknowledged and %d begun", w, n, left.Acknowledged[w], left.Begun[w])
		}
		var row Row
		sum := 0
		if ok, err := table.GetStatic(100, i32(w), &Query{All: true}, &row); err != nil {
			t.Fatal(err)
		} else if ok {
			v := row.Cells[0].Value
			sum = int(v[7]) | int(v[6])<<8
		}
		if sum != len(first)/3 {
			t.Errorf("writer %d: counter %d after %d batches", w, sum, len(first))
		}
	}
}
