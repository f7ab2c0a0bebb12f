// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/value"
)

var benchTable = TableSpec{
	ID:         [16]byte{7},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Text)}},
	Columns:    []Column{{ID: 0}},
	GCGrace:    864000,
}

func openBench(b *testing.B, o Options) (*DB, *Table) {
	o.SweepInterval = -1
	db, err := Open(b.TempDir(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db, mustTable(b, db, benchTable)
}

var benchValue = []byte("a description of some sixty bytes, as a blog's entry may have..")

// benchToken returns a token in place of murmur3's: spread, and dependent only on the key.
func benchToken(n uint64) int64 { return int64(n * 0x9e3779b97f4a7c15) }

type benchWriter struct {
	batch *Batch
	table *Table
	key   [8]byte
	title [16]byte
	row   [][]byte
}

func (w *benchWriter) write(n uint64) error {
	binary.BigEndian.PutUint64(w.key[:], n)
	w.row = append(w.row[:0], fmt.Appendf(w.title[:0], "title%08d", n%100000000))
	w.batch.Partition(w.table, benchToken(n), w.key[:])
	w.batch.Row(w.row)
	w.batch.Marker(Liveness{Timestamp: int64(n) + 1})
	w.batch.Set(Cell{Column: 0, Value: benchValue, Timestamp: int64(n) + 1})
	return w.batch.Commit()
}

// BenchmarkWrite writes rows, each in its own partition. It uses Periodic, so that it measures the
// CPU and not the disk.
func BenchmarkWrite(b *testing.B) {
	db, table := openBench(b, Options{Periodic: true})
	w := benchWriter{batch: db.NewBatch(), table: table}
	b.ReportAllocs()
	defer cpu(b)()
	for n := uint64(0); b.Loop(); n++ {
		if err := w.write(n); err != nil {
			b.Fatal(err)
		}
	}
	w.batch.Release()
}

// BenchmarkWriteSync writes with 64 writers that wait for the disk.
func BenchmarkWriteSync(b *testing.B) {
	db, table := openBench(b, Options{})
	b.SetParallelism(32)
	b.ReportAllocs()
	defer cpu(b)()
	b.RunParallel(func(p *testing.PB) {
		w := benchWriter{batch: db.NewBatch(), table: table}
		for p.Next() {
			if err := w.write(rand.Uint64()); err != nil {
				b.Error(err)
				return
			}
		}
		w.batch.Release()
	})
}

// cpu reports the process's CPU time for each operation. Unlike the time of the clock, it does not
// depend on other work on the machine. It includes flushes and compactions.
func cpu(b *testing.B) func() {
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

const benchRows = 200_000

func fill(b *testing.B, o Options, compact bool) *Table {
	db, table := openBench(b, o)
	w := benchWriter{batch: db.NewBatch(), table: table}
	for n := range uint64(benchRows) {
		if err := w.write(n); err != nil {
			b.Fatal(err)
		}
	}
	w.batch.Release()
	if compact {
		if err := db.pebble.Compact(b.Context(), []byte{0}, []byte{0xff}, false); err != nil {
			b.Fatal(err)
		}
	}
	return table
}

// BenchmarkGet reads random rows of 200,000.
func BenchmarkGet(b *testing.B) {
	for _, compact := range []bool{false, true} {
		b.Run(fmt.Sprint("compacted=", compact), func(b *testing.B) {
			table := fill(b, Options{Periodic: true}, compact)
			q := &Query{All: true, Now: 1}
			var row Row
			var key [8]byte
			var title [16]byte
			rng := rand.New(rand.NewPCG(1, 2))
			clustering := make([][]byte, 1)
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				n := rng.Uint64N(benchRows)
				binary.BigEndian.PutUint64(key[:], n)
				clustering[0] = fmt.Appendf(title[:0], "title%08d", n%100000000)
				ok, err := table.Get(benchToken(n), key[:], clustering, q, &row)
				if err != nil || !ok || len(row.Cells) != 1 {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkRead reads what BenchmarkGet reads, through an Iterator.
func BenchmarkRead(b *testing.B) {
	table := fill(b, Options{Periodic: true}, false)
	q := &Query{All: true, Now: 1}
	var key [8]byte
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	defer cpu(b)()
	for b.Loop() {
		n := rng.Uint64N(benchRows)
		binary.BigEndian.PutUint64(key[:], n)
		it := table.Read(benchToken(n), key[:], q)
		if !it.NextPartition() || !it.Next() {
			b.Fatal(it.Err())
		}
		if err := it.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// fillDay fills one partition with 100,000 rows.
func fillDay(b *testing.B) *Table {
	const rows = 100_000
	db, table := openBench(b, Options{Periodic: true})
	batch := db.NewBatch()
	defer batch.Release()
	for _, n := range rand.Perm(rows) {
		batch.Partition(table, 42, []byte("day"))
		batch.Row([][]byte{fmt.Appendf(nil, "title%08d", n)})
		batch.Marker(Liveness{Timestamp: 1})
		batch.Set(Cell{Column: 0, Value: benchValue, Timestamp: 1})
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return table
}

// BenchmarkSlice reads 100 rows at a random place in a partition of 100,000.
func BenchmarkSlice(b *testing.B) {
	for _, reverse := range []bool{false, true} {
		b.Run(fmt.Sprint("reverse=", reverse), func(b *testing.B) {
			table := fillDay(b)
			rng := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				from := fmt.Appendf(nil, "title%08d", 100+rng.IntN(99_800))
				q := &Query{All: true, Now: 1, Reverse: reverse, Slices: Listed{{Start: Bound{[][]byte{from}, true}}}}
				if reverse {
					q.Slices.(Listed)[0] = Slice{End: Bound{[][]byte{from}, true}}
				}
				it := table.Read(42, []byte("day"), q)
				n := 0
				for it.NextPartition() {
					for n < 100 && it.Next() {
						n++
					}
				}
				if n != 100 || it.Err() != nil {
					b.Fatal(n, it.Err())
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPartition reads all of a partition of 100,000 rows.
func BenchmarkPartition(b *testing.B) {
	table := fillDay(b)
	q := &Query{All: true, Now: 1}
	b.ReportAllocs()
	defer cpu(b)()
	for b.Loop() {
		it := table.Read(42, []byte("day"), q)
		n := 0
		for it.NextPartition() {
			for it.Next() {
				n += len(it.Row().Cells)
			}
		}
		if n != 100_000 || it.Err() != nil {
			b.Fatal(n, it.Err())
		}
		if err := it.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/row")
}

// BenchmarkOpen opens an empty store in memory.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		db, err := Open("d", Options{FS: vfs.NewMem()})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWide reads a map of 10,000 elements that were written one by one, and a row in a
// partition with 10,000 deleted slices.
func BenchmarkWide(b *testing.B) {
	db := openWith(b, Options{Periodic: true})
	table := mustTable(b, db, testTable)
	batch := db.NewBatch()
	for _, n := range rand.Perm(10_000) {
		batch.Partition(table, 1, i32(1))
		batch.Row(clustering(1, "map"))
		batch.Set(Cell{Column: 3, Path: fmt.Appendf(nil, "key%d", n), Value: benchValue, Timestamp: 10})
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
		batch.Partition(table, 2, i32(2))
		prefix := Bound{[][]byte{i32(n)}, true}
		batch.DeleteSlice(Slice{prefix, prefix}, Deletion{Timestamp: int64(n), Time: 1})
		batch.Row(clustering(1, "row"))
		batch.Marker(Liveness{Timestamp: 20_000})
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	batch.Release()
	var row Row
	for name, c := range map[string]struct {
		key   int
		text  string
		cells int
	}{"elements": {1, "map", 10_000}, "slices": {2, "row", 0}} {
		for _, compact := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/compacted=%v", name, compact), func(b *testing.B) {
				if compact {
					if err := db.pebble.Compact(b.Context(), []byte{0}, []byte{0xff}, false); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					ok, err := table.Get(int64(c.key), i32(c.key), clustering(1, c.text), &Query{All: true}, &row)
					if err != nil || !ok || len(row.Cells) != c.cells {
						b.Fatal(ok, err, len(row.Cells))
					}
				}
			})
		}
	}
}
