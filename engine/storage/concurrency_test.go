// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// until repeats f until f returns false or stop is closed.
func until(stop <-chan struct{}, f func() bool) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if !f() {
			return
		}
	}
}

var concurrentTable = TableSpec{
	ID:         [16]byte{6},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}},
	Columns:    []Column{{ID: 0}, {ID: 1, Counter: true}, {ID: 2, Static: true}},
}

// TestCounters checks that no addition is lost, also if a batch has two.
func TestCounters(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, concurrentTable)
	var running sync.WaitGroup
	const writers, each = 8, 200
	for w := range writers {
		running.Go(func() {
			b := db.NewBatch()
			defer b.Release()
			for n := range each {
				for _, row := range []int{1, 2, 1} {
					b.Partition(table, 1, i32(1))
					b.Row([][]byte{i32(row)})
					b.Add(1, int64(1+w-2*w*(n%2)), 5) // the clocks stand still
				}
				if err := b.Commit(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	var row Row
	for r, want := range map[int]uint64{1: 2 * writers * each, 2: writers * each} {
		ok, err := table.Get(1, i32(1), [][]byte{i32(r)}, &Query{All: true}, &row)
		if err != nil || !ok || binary.BigEndian.Uint64(row.Cells[0].Value) != want {
			t.Errorf("row %d: %v, %v, %+v, want %d", r, ok, err, row.Cells, want)
		}
	}
}

// TestCounterDeletion checks that a deleted counter is final and that a deleted row begins anew.
func TestCounterDeletion(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, concurrentTable)
	b := db.NewBatch()
	defer b.Release()
	for i, del := range []func(){
		func() { b.Unset(1, nil, Deletion{10, 1}) },
		func() { b.DeleteRow(Deletion{10, 1}) },
		func() { b.DeleteSlice(Slice{End: Bound{[][]byte{i32(1)}, true}}, Deletion{10, 1}) },
		func() { b.DeletePartition(Deletion{10, 1}) },
	} {
		step := func(f func()) {
			b.Partition(table, int64(i), i32(i))
			b.Row([][]byte{i32(1)})
			f()
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		step(func() { b.Add(1, 5, 1) })
		step(del)
		step(func() { b.Add(1, 7, 20) })
		var row Row
		ok, err := table.Get(int64(i), i32(i), [][]byte{i32(1)}, &Query{All: true}, &row)
		if err != nil || ok != (i > 0) || ok && binary.BigEndian.Uint64(row.Cells[0].Value) != 7 {
			t.Errorf("deletion %d: %v %v %+v", i, ok, err, row)
		}
	}
}

// TestGuard checks that read-check-write under a guard is atomic, also against ordinary writers of
// the same partition.
func TestGuard(t *testing.T) {
	db := openTest(t)
	table := mustTable(t, db, concurrentTable)
	const writers, each = 8, 100
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			b := db.NewBatch()
			defer b.Release()
			var row Row
			for range each {
				g := db.Guard(PartitionRef{table, 1, i32(1)}, PartitionRef{table, 2, i32(2)})
				ok, err := table.Get(1, i32(1), [][]byte{i32(1)}, &Query{All: true}, &row)
				if err != nil {
					t.Error(err)
				}
				n, ts := uint32(0), int64(1)
				if ok {
					n, ts = binary.BigEndian.Uint32(row.Cells[0].Value), row.Cells[0].Timestamp+1
				}
				for p := range 2 {
					b.Partition(table, int64(p+1), i32(p+1))
					b.Row([][]byte{i32(1)})
					b.Set(Cell{Column: 0, Value: i32(int(n) + 1), Timestamp: ts})
				}
				if err := b.CommitGuarded(g); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	var row Row
	for p := 1; p <= 2; p++ {
		ok, err := table.Get(int64(p), i32(p), [][]byte{i32(1)}, &Query{All: true}, &row)
		if err != nil || !ok || binary.BigEndian.Uint32(row.Cells[0].Value) != writers*each {
			t.Errorf("partition %d: %v %v %+v", p, ok, err, row)
		}
	}
	b := db.NewBatch()
	defer b.Release()
	g := db.Guard(PartitionRef{table, 1, i32(1)})
	b.Partition(table, 77, i32(1))
	b.Row([][]byte{i32(1)})
	b.Marker(Liveness{Timestamp: 1})
	if err := b.CommitGuarded(g); err == nil {
		t.Error("a partition outside the guard was written")
	}
	g = db.Guard(PartitionRef{table, 1, i32(1)})
	if err := g.Settle(); err != nil {
		t.Error(err)
	}
	g.Unlock()
	if err := g.Settle(); err != nil {
		t.Error(err)
	}
}

// TestSweepBehindItsBack has writers write data that a partition's deletion shadows, while the
// deletion is swept. No such data may ever be seen, now or after more sweeps, as long as the
// deletion is newer than the write. (Each writer writes only while the deletion certainly exists:
// it deletes again first.)
func TestSweepBehindItsBack(t *testing.T) {
	db := openWith(t, Options{Periodic: true})
	table := mustTable(t, db, concurrentTable)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		until(stop, func() bool {
			err := db.Sweep()
			if err != nil {
				t.Error(err)
			}
			return err == nil
		})
	})
	// One batch has the deletion and the data that it shadows, in many rows. Whatever the sweep
	// does between batches, no row is ever alive.
	b := db.NewBatch()
	end := time.Now().Add(300 * time.Millisecond)
	for n := int64(1); time.Now().Before(end); n++ {
		b.Partition(table, 1, i32(1))
		b.DeletePartition(Deletion{Timestamp: 10 * n, Time: 1})
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		// The deletion may be collected from now on, but not before the data that are written in
		// one batch with its repetition.
		b.Partition(table, 1, i32(1))
		b.DeletePartition(Deletion{Timestamp: 10*n + 5, Time: 1})
		for i := range 20 {
			b.Row([][]byte{i32(i)})
			b.Marker(Liveness{Timestamp: 10*n + 4})
			b.Set(Cell{Column: 0, Value: []byte("zombie"), Timestamp: 10*n + 5})
		}
		b.Static()
		b.Set(Cell{Column: 2, Value: []byte("zombie"), Timestamp: 10*n + 1})
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		it := table.Scan(AllTokens, nil, &Query{All: true, Static: true})
		for it.NextPartition() {
			t.Fatal("a shadowed row came to life")
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		var row Row
		if ok, err := table.Get(1, i32(1), [][]byte{i32(int(n % 20))}, &Query{All: true}, &row); ok || err != nil {
			t.Fatalf("a shadowed row came to life: %+v, %v", row, err)
		}
	}
	close(stop)
	running.Wait()
	b.Release()
	for range 2 {
		if err := db.Sweep(); err != nil {
			t.Fatal(err)
		}
	}
	if n := stored(t, db, table); n != 0 {
		t.Errorf("%d keys are left of nothing", n)
	}
}

// TestSweepMark makes the interleaving that TestSweepBehindItsBack needs luck for. A write comes
// after the sweep passed its row and before the deletion is removed.
func TestSweepMark(t *testing.T) {
	for _, c := range []struct {
		name      string
		key       int
		timestamp int64
		left      int // number of keys
	}{
		{"none", -1, 0, 0},
		{"newer", 1, 11, 1},
		{"elsewhere", 2, 5, 1},
		{"equal", 1, 10, 2},
		{"older", 1, 5, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openTest(t)
			table := mustTable(t, db, concurrentTable)
			b := db.NewBatch()
			defer b.Release()
			b.Partition(table, 1, i32(1))
			b.DeletePartition(Deletion{Timestamp: 10, Time: 1})
			b.Row([][]byte{i32(1)})
			b.Marker(Liveness{Timestamp: 3})
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			s := sweep{table: table, now: 100, before: 100, prefix: appendPartition(nil, &table.spec.ID, 1, i32(1))}
			swept, err := s.begin()
			if err != nil {
				t.Fatal(err)
			}
			if done, err := s.clean(); !done || err != nil {
				t.Fatal(done, err)
			}
			if c.key >= 0 {
				b.Partition(table, int64(c.key), i32(c.key))
				b.Row([][]byte{i32(1)})
				b.Marker(Liveness{Timestamp: c.timestamp})
				if err := b.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.end(swept, true); err != nil {
				t.Fatal(err)
			}
			if n := stored(t, db, table); n != c.left {
				t.Errorf("%d keys, want %d", n, c.left)
			}
			live := 0
			if c.left == 1 {
				live = 1
			}
			if n := rowsOf(t, table, &Query{}); n != live {
				t.Errorf("%d rows, want %d", n, live)
			}
			if err := db.Sweep(); err != nil {
				t.Fatal(err)
			}
			if n := stored(t, db, table); n != live {
				t.Errorf("%d keys after another sweep, want %d", n, live)
			}
		})
	}
}

// TestSweepLosesNothing checks that rows keep every write while the sweep rewrites them again and
// again.
func TestSweepLosesNothing(t *testing.T) {
	db := openWith(t, Options{Periodic: true})
	table := mustTable(t, db, concurrentTable)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		until(stop, func() bool {
			err := db.Sweep()
			if err != nil {
				t.Error(err)
			}
			return err == nil
		})
	})
	for w := range 2 {
		running.Go(func() {
			b := db.NewBatch()
			defer b.Release()
			var row Row
			end := time.Now().Add(300 * time.Millisecond)
			for n := int64(1); time.Now().Before(end); n++ {
				ok, err := table.Get(1, i32(1), [][]byte{i32(w)}, &Query{All: true, Now: 5}, &row)
				if err != nil || ok != (n > 1) || ok && row.Cells[0].Timestamp != n-1 {
					t.Errorf("write %d is lost: %v %v %+v", n-1, ok, err, row.Cells)
					return
				}
				b.Partition(table, 1, i32(1))
				b.Row([][]byte{i32(w)})
				b.Marker(Liveness{Timestamp: n, TTL: 1, Expires: 2}) // garbage from the start
				b.Set(Cell{Column: 0, Value: i32(int(n)), Timestamp: n})
				if err := b.Commit(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(320 * time.Millisecond)
	close(stop)
	running.Wait()
}

// stored counts the keys of a table.
func stored(t *testing.T, db *DB, table *Table) (n int) {
	t.Helper()
	it, err := db.pebble.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.SeekGE(appendTablePrefix(nil, &table.spec.ID)); ok && string(it.Key()) < string(appendTableEnd(nil, &table.spec.ID)); ok = it.Next() {
		n++
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSweepCollects checks that data that have been dead for gc_grace_seconds leave the disk, and
// that all other data stay.
func TestSweepCollects(t *testing.T) {
	for _, flush := range []bool{false, true} {
		t.Run(fmt.Sprint("flush=", flush), func(t *testing.T) {
			now := int64(1000)
			db := openWith(t, Options{Clock: func() time.Time { return time.Unix(now, 0) }})
			spec := concurrentTable
			spec.GCGrace = 100
			table := mustTable(t, db, spec)
			b := db.NewBatch()
			defer b.Release()
			for p := range 6 {
				b.Partition(table, int64(p), i32(p))
				for r := range 300 {
					b.Row([][]byte{i32(r)})
					l := Liveness{Timestamp: 1}
					if p == 5 {
						l.TTL, l.Expires = 50, now+50
					}
					b.Marker(l)
				}
			}
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			if flush {
				if err := db.pebble.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			del := Deletion{Timestamp: 2, Time: now}
			b.Partition(table, 0, i32(0))
			b.DeletePartition(del)
			b.Partition(table, 1, i32(1))
			b.DeleteSlice(Slice{Start: Bound{[][]byte{i32(100)}, true}}, del)
			b.Partition(table, 2, i32(2))
			for r := range 300 {
				b.Row([][]byte{i32(r)})
				b.DeleteRow(del)
			}
			b.Partition(table, 3, i32(3))
			b.Row([][]byte{i32(3)})
			b.Unset(0, nil, del)
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			if flush {
				if err := db.pebble.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct {
				now  int64
				want int
			}{{1000, 1802}, {1100, 1802}, {1101, 700}} {
				now = c.now
				if err := db.Sweep(); err != nil {
					t.Fatal(err)
				}
				if n := stored(t, db, table); n != c.want {
					t.Errorf("at %d: %d keys are stored, want %d", c.now, n, c.want)
				}
			}
			// All garbage is collected, so nothing looks like garbage any more.
			it, err := db.pebble.NewIter(nil)
			if err != nil {
				t.Fatal(err)
			}
			for ok := it.First(); ok; ok = it.Next() {
				if it.Key()[0] == regionData && earliest(it.Value()) != math.MaxInt64 {
					t.Errorf("garbage at %x: %x", it.Key(), it.Value())
				}
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestGetIsOfOneState has a batch delete the partition and write the row anew. A reader must always
// find the whole row.
func TestGetIsOfOneState(t *testing.T) {
	db := openWith(t, Options{Periodic: true})
	table := mustTable(t, db, concurrentTable)
	write := func(b *Batch, n int64) {
		b.Partition(table, 1, i32(1))
		if n > 3 {
			b.DeletePartition(Deletion{Timestamp: 2*n - 1, Time: n})
		}
		b.Row([][]byte{i32(1)})
		b.Set(Cell{Column: 0, Value: i32(int(n)), Timestamp: 2 * n})
		b.Static()
		b.Set(Cell{Column: 2, Value: i32(int(n)), Timestamp: 2 * n})
		if err := b.Commit(); err != nil {
			t.Error(err)
		}
	}
	b := db.NewBatch()
	write(b, 1)
	stop := make(chan struct{})
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			var row Row
			until(stop, func() bool {
				ok, err := table.Get(1, i32(1), [][]byte{i32(1)}, &Query{All: true}, &row)
				if !ok || err != nil || len(row.Cells) != 1 {
					t.Errorf("the row is not there: %v", err)
					return false
				}
				it := table.Read(1, i32(1), &Query{All: true, Static: true})
				if !it.NextPartition() || !it.Next() || it.Static() == nil ||
					string(it.Static().Cells[0].Value) != string(it.Row().Cells[0].Value) {
					t.Errorf("static and row are not of one state")
					return false
				}
				if err := it.Close(); err != nil {
					t.Error(err)
				}
				return true
			})
		})
	}
	end := time.Now().Add(300 * time.Millisecond)
	for n := int64(2); time.Now().Before(end); n++ {
		write(b, n)
	}
	close(stop)
	running.Wait()
	b.Release()
}

// TestGetSeesNoGhost has each batch delete the partition and write data that the deletion shadows.
// A reader that took the deletions from before the batch and the row from after it would see a row
// that never existed.
func TestGetSeesNoGhost(t *testing.T) {
	db := openWith(t, Options{Periodic: true})
	table := mustTable(t, db, concurrentTable)
	stop := make(chan struct{})
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			var row Row
			until(stop, func() bool {
				ok, err := table.Get(1, i32(1), [][]byte{i32(1)}, &Query{All: true}, &row)
				if ok || err != nil {
					t.Errorf("a ghost: %+v, %v", row, err)
				}
				return !ok && err == nil
			})
		})
	}
	b := db.NewBatch()
	end := time.Now().Add(500 * time.Millisecond)
	for n := int64(2); time.Now().Before(end); n++ {
		b.Partition(table, 1, i32(1))
		b.DeletePartition(Deletion{Timestamp: 10 * n, Time: n})
		b.Row([][]byte{i32(1)})
		b.Set(Cell{Column: 0, Value: i32(int(n)), Timestamp: 10*n - 1})
		if err := b.Commit(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	running.Wait()
	b.Release()
}
