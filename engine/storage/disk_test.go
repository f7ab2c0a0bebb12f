// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// fullDisk is a disk that is full from a drawn operation on, for operations that add data, until it
// is emptied.
type fullDisk struct {
	path  string // the path of the drawn operation contains this
	after int64  // number of operations before
	full  atomic.Bool
	hits  atomic.Int64
	where atomic.Pointer[string]
}

func (d *fullDisk) String() string { return "full disk" }

// MaybeError implements errorfs.Injector.
func (d *fullDisk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpReuseForWrite, errorfs.OpRename:
	default:
		return nil
	}
	if strings.Contains(op.Path, d.path) && atomic.AddInt64(&d.after, -1) == 0 {
		where := fmt.Sprint(op.Kind, " ", op.Path)
		d.where.Store(&where)
		d.full.Store(true)
	}
	if !d.full.Load() {
		return nil
	}
	d.hits.Add(1)
	return &os.PathError{Op: "write", Path: op.Path, Err: syscall.ENOSPC}
}

// TestDiskFull fills the disk at drawn places: during the write of a log, a table, the MANIFEST or
// the inventory. Writes are then refused, with ErrFull, or wait. Reads go on. A crash loses nothing
// that was acknowledged. When there is space again, the store goes on without being opened again.
func TestDiskFull(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(16) {
		rng := rand.New(rand.NewPCG(seed, 4))
		mem := vfs.NewCrashableMem()
		disk := []*fullDisk{
			{path: "", after: int64(60 + rng.IntN(700))},
			{path: ".log", after: int64(10 + rng.IntN(60))},
			{path: "MANIFEST", after: int64(4 + rng.IntN(8))},
			{path: "EVENKEEL", after: int64(30 + rng.IntN(40))},
		}[seed%4]
		o := Options{FS: errorfs.Wrap(mem, disk), MemTableBytes: 64 << 10, SweepInterval: -1, Failed: func(err error) { t.Error("failed:", err) }}
		db, err := Open("d", o)
		if err != nil {
			t.Fatal(err)
		}
		table := mustTable(t, db, damageTable)
		const writers = 4
		var acknowledged [writers][]int
		var mu sync.Mutex
		var refused atomic.Int64
		var running sync.WaitGroup
		enough := make(chan struct{})
		for w := range writers {
			running.Go(func() {
				b := db.NewBatch()
				defer b.Release()
				for n := w; ; n += writers {
					select {
					case <-enough:
						return
					default:
					}
					b.Partition(table, int64(n%5), i32(n%5))
					b.Row([][]byte{i32(n)})
					b.Set(Cell{Column: 0, Value: damageValue(n), Timestamp: int64(n + 1)})
					switch err := b.Commit(); {
					case errors.Is(err, ErrFull) && strings.Contains(err.Error(), "reads go on"):
						refused.Add(1)
						time.Sleep(time.Millisecond) // a client that tries again
					case err != nil:
						t.Error(err)
						return
					default:
						mu.Lock()
						acknowledged[w] = append(acknowledged[w], n)
						mu.Unlock()
					}
				}
			})
		}
		wait := func(what string, f func() bool) {
			t.Helper()
			for end := time.Now().Add(3 * time.Minute); !f(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("seed %d: %s", seed, what)
				}
			}
		}
		wait("the disk does not get full", disk.full.Load)
		wait("nobody notices", func() bool { return disk.hits.Load() > 0 && refused.Load() > 0 || disk.hits.Load() > 3 })
		kinds[kindOfPlace(*disk.where.Load())]++

		all := func() (rows []int) {
			mu.Lock()
			defer mu.Unlock()
			for _, a := range acknowledged {
				rows = append(rows, a...)
			}
			return rows
		}
		check := func(what string, table *Table, rows []int) {
			t.Helper()
			for _, n := range rows {
				var row Row
				if ok, err := table.Get(int64(n%5), i32(n%5), [][]byte{i32(n)}, &Query{All: true}, &row); !ok || err != nil {
					t.Fatalf("seed %d, full at %s, %s: row %d: %v, %v", seed, *disk.where.Load(), what, n, ok, err)
				}
			}
		}
		rows := all()
		check("read while it is full", table, rows)
		crashed, err := Open("d", Options{FS: mem.CrashClone(vfs.CrashCloneCfg{}), MemTableBytes: 64 << 10, SweepInterval: -1})
		if err != nil {
			t.Fatalf("seed %d, full at %s, after a crash: %v", seed, *disk.where.Load(), err)
		}
		check("after a crash", mustTable(t, crashed, damageTable), rows)
		if err := crashed.Close(); err != nil {
			t.Fatal(err)
		}

		before := len(rows)
		disk.full.Store(false)
		db.disk.Recheck()
		wait("it does not go on", func() bool { db.disk.Recheck(); return len(all()) > before+8 })
		close(enough)
		running.Wait()
		rows = all()
		check("once there was room", table, rows)
		if err := db.Close(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if db, err = Open("d", Options{FS: mem, MemTableBytes: 64 << 10, SweepInterval: -1}); err != nil {
			t.Fatal(err)
		}
		check("opened again", mustTable(t, db, damageTable), rows)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(kinds)
	for _, kind := range []string{"log", "table", "MANIFEST", "inventory"} {
		if kinds[kind] == 0 {
			t.Errorf("the disk was never full for a %s: %v", kind, kinds)
		}
	}
}

func kindOfPlace(where string) string {
	for part, kind := range map[string]string{".log": "log", ".sst": "table", "MANIFEST": "MANIFEST", "EVENKEEL": "inventory"} {
		if strings.Contains(where, part) {
			return kind
		}
	}
	return "other"
}

// If this is set in the environment, TestMain's binary writes on a disk that fails.
const failEnv = "STORAGE_TEST_FAIL"

// failing fails one drawn operation. All later syncs succeed, as with a kernel.
type failing struct {
	kind  errorfs.OpKind
	path  string
	after int64
}

func (d *failing) String() string { return "failing disk" }

// MaybeError implements errorfs.Injector.
func (d *failing) MaybeError(op errorfs.Op) error {
	sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
	if op.Kind != d.kind && (!sync || d.kind != errorfs.OpFileSync) || !strings.Contains(op.Path, d.path) || atomic.AddInt64(&d.after, -1) != 0 {
		return nil
	}
	return &os.PathError{Op: "write", Path: op.Path, Err: syscall.EIO}
}

func init() {
	if spec := os.Getenv(failEnv); spec != "" {
		var dir string
		d := new(failing)
		if _, err := fmt.Sscan(spec, &dir, &d.kind, &d.path, &d.after); err != nil {
			panic(err)
		}
		db, err := Open(dir, Options{FS: errorfs.Wrap(vfs.Default, d), MemTableBytes: 64 << 10, SweepInterval: -1, Failed: func(err error) {
			fmt.Fprintln(os.Stderr, "failed:", err)
			os.Exit(3)
		}})
		if err != nil {
			fmt.Fprintln(os.Stderr, "open:", err)
			os.Exit(4)
		}
		table, err := db.Table(damageTable)
		if err != nil {
			panic(err)
		}
		b := db.NewBatch()
		for n := range 2000 {
			b.Partition(table, int64(n%5), i32(n%5))
			b.Row([][]byte{i32(n)})
			b.Set(Cell{Column: 0, Value: damageValue(n), Timestamp: int64(n + 1)})
			if err := b.Commit(); err != nil {
				if strings.Contains(err.Error(), "opened again") {
					select {} // Failed will end the process
				}
				fmt.Fprintln(os.Stderr, "commit:", err)
				os.Exit(5)
			}
			fmt.Println(n)
		}
		os.Exit(0)
	}
}

// TestDiskFails fails one write or sync of a process, and none after it. If it is one of the log,
// the MANIFEST or the directory, the process ends with one line and a code, and does not
// acknowledge the writes of the failed sync. If it is one of a table, the process goes on or
// refuses a write. All acknowledged writes are there.
func TestDiskFails(t *testing.T) {
	for _, c := range []struct {
		kind  errorfs.OpKind
		path  string
		after int
		fatal bool
	}{
		{errorfs.OpFileSync, ".log", 3, true},
		{errorfs.OpFileSync, ".log", 20, true},
		{errorfs.OpFileWrite, ".log", 30, true},
		{errorfs.OpCreate, ".log", 2, true},
		{errorfs.OpReuseForWrite, ".log", 2, true},
		{errorfs.OpFileSync, "MANIFEST", 3, true},
		{errorfs.OpFileWrite, "MANIFEST", 3, true},
		{errorfs.OpFileSync, "EVENKEEL", 8, true},
		{errorfs.OpRename, "EVENKEEL", 8, true},
		{errorfs.OpFileSync, ".sst", 2, false},
		{errorfs.OpFileWrite, ".sst", 3, false},
		{errorfs.OpCreate, ".sst", 2, false},
	} {
		name := fmt.Sprint(c.kind, " ", c.path, " ", c.after)
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s %d", failEnv, dir, c.kind, c.path, c.after))
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		code := cmd.ProcessState.ExitCode()
		acknowledged := strings.Count(out.String(), "\n")
		if c.fatal != (code == 3) || strings.Count(errs.String(), "\n") > 1 || c.fatal && !strings.Contains(errs.String(), "input/output error") {
			t.Errorf("%s: code %d, %v, after %d writes: %s", name, code, err, acknowledged, errs.String())
		}
		db, err := Open(dir, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		table := mustTable(t, db, damageTable)
		for n := range acknowledged {
			var row Row
			if ok, err := table.Get(int64(n%5), i32(n%5), [][]byte{i32(n)}, &Query{All: true}, &row); !ok || err != nil {
				t.Errorf("%s: row %d of %d acknowledged: %v, %v", name, n, acknowledged, ok, err)
				break
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: code %d after %d writes: %s", name, code, acknowledged, strings.TrimSpace(errs.String()))
	}
}
