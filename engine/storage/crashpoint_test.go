// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// crashPoints lets operations that change files pass. Now and then it takes what a crash just
// before the operation would leave.
type crashPoints struct {
	fs    *vfs.MemFS
	rng   *rand.Rand
	every int

	mu           sync.Mutex
	operations   int
	acknowledged int // rows
	begun        int
	points       []crashPoint
}

type crashPoint struct {
	fs           *vfs.MemFS
	before       string
	acknowledged int
	begun        int
}

func (c *crashPoints) String() string { return "crash points" }

// MaybeError implements errorfs.Injector. It never returns an error.
func (c *crashPoints) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsRead {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operations++
	if c.rng.IntN(c.every) > 0 {
		return nil
	}
	p := crashPoint{before: fmt.Sprint(op.Kind, " ", op.Path), acknowledged: c.acknowledged}
	p.fs = c.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 0, 50, 100}[c.rng.IntN(4)], RNG: c.rng})
	p.begun = c.begun
	c.points = append(c.points, p)
	return nil
}

// TestCrashPoints writes, rotates logs, flushes, compacts, closes and opens again. It takes what a
// crash would leave before operations on files, drawn from all of them. It opens each of these
// states: none is refused, and every acknowledged row is there.
func TestCrashPoints(t *testing.T) {
	for seed := range uint64(4) {
		c := &crashPoints{fs: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(seed, 3)), every: 40}
		o := Options{FS: errorfs.Wrap(c.fs, c), MemTableBytes: 64 << 10, SweepInterval: -1}
		rows := 0
		for range 4 {
			db, err := Open("d", o)
			if err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, db, damageTable)
			b := db.NewBatch()
			for range 150 {
				b.Partition(table, int64(rows%5), i32(rows%5))
				b.Row([][]byte{i32(rows)})
				b.Set(Cell{Column: 0, Value: damageValue(rows), Timestamp: int64(rows + 1)})
				c.mu.Lock()
				c.begun = rows + 1
				c.mu.Unlock()
				if err := b.Commit(); err != nil {
					t.Fatal(err)
				}
				rows++
				c.mu.Lock()
				c.acknowledged = rows
				c.mu.Unlock()
				if rows%70 == 0 {
					if err := db.files.Note(); err != nil {
						t.Fatal(err)
					}
				}
			}
			b.Release()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("seed %d: %d operations, %d crashes", seed, c.operations, len(c.points))
		if len(c.points) < 20 {
			t.Errorf("only %d crashes", len(c.points))
		}
		for _, p := range c.points {
			o := try(t, p.fs, p.begun)
			if err := errors.Join(o.refused, o.read); err != nil || o.holes || o.rows < p.acknowledged || o.rows > p.begun {
				t.Errorf("seed %d, a crash before %s: %d rows of %d acknowledged and %d begun: %v", seed, p.before, o.rows, p.acknowledged, p.begun, err)
			}
		}
	}
}
