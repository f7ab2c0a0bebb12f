// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/storage/inventory"
)

// directory holds the files of a directory and their contents.
type directory map[string][]byte

func readDirectory(t testing.TB, fs vfs.FS) directory {
	t.Helper()
	names, err := fs.List("d")
	if err != nil {
		t.Fatal(err)
	}
	d := directory{}
	for _, name := range names {
		f, err := fs.Open("d/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if d[name], err = io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return d
}

func (d directory) fs(t testing.TB) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("d", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range d {
		f, err := fs.Create("d/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Clone(b)); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return fs
}

var damageTable = TableSpec{
	ID:         [16]byte{7},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}},
	Columns:    []Column{{ID: 0}},
}

// history is a store at three times: early, at the last update of the inventory, and late.
type history struct {
	early, late directory
	noted       int // the number of rows at the last update of the inventory
	rows        int
}

var damageOptions = Options{MemTableBytes: 256 << 10, SweepInterval: -1}

// newHistory writes rows 0, 1, 2 …, each with 1 KB that no other row has, into tables and logs. If
// the store is not closed, some rows come after the last update of the inventory.
func newHistory(t testing.TB, closed bool) *history {
	t.Helper()
	fs := vfs.NewCrashableMem()
	o := damageOptions
	o.FS = fs
	db, err := Open("d", o)
	if err != nil {
		t.Fatal(err)
	}
	table := mustTable(t, db, damageTable)
	h := new(history)
	write := func(n int) {
		b := db.NewBatch()
		defer b.Release()
		for range n {
			b.Partition(table, int64(h.rows%5), i32(h.rows%5))
			b.Row([][]byte{i32(h.rows)})
			b.Set(Cell{Column: 0, Value: damageValue(h.rows), Timestamp: int64(h.rows + 1)})
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			h.rows++
		}
	}
	flush := func() {
		if err := db.pebble.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	write(100)
	flush()
	write(100)
	flush()
	write(20)
	if err := db.files.Note(); err != nil {
		t.Fatal(err)
	}
	h.early = readDirectory(t, fs.CrashClone(vfs.CrashCloneCfg{}))
	write(40)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open("d", o); err != nil { // begins a new MANIFEST
		t.Fatal(err)
	}
	table = mustTable(t, db, damageTable)
	write(40)
	if err := db.pebble.Compact(t.Context(), []byte{0}, []byte{0xff}, false); err != nil {
		t.Fatal(err)
	}
	write(100)
	flush()
	write(60)
	if err := db.files.Note(); err != nil {
		t.Fatal(err)
	}
	h.noted = h.rows
	write(10)
	if closed {
		h.noted = h.rows
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		h.late = readDirectory(t, fs)
		return h
	}
	h.late = readDirectory(t, fs.CrashClone(vfs.CrashCloneCfg{}))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

func damageValue(n int) []byte {
	b := make([]byte, 1000)
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	r.Read(b)
	return b
}

// outcome is the result of opening and reading a store.
type outcome struct {
	refused, read error
	rows          int  // the number of rows that are there unchanged
	holes         bool // a row is missing before one that is there
}

// try opens a directory and reads all rows, first one after the other and then each by itself.
func try(t testing.TB, fs vfs.FS, rows int) (o outcome) {
	t.Helper()
	options := damageOptions
	options.FS = fs
	db, err := Open("d", options)
	if err != nil {
		return outcome{refused: err}
	}
	defer func() {
		// Reads in the background may meet damage, too.
		if err := db.Close(); err != nil && o.read == nil {
			o.read = err
		}
	}()
	table, err := db.Table(damageTable)
	if err != nil {
		return outcome{read: err}
	}
	seen := map[int]bool{}
	for p := range 5 {
		it := table.Read(int64(p), i32(p), &Query{All: true})
		for it.NextPartition() {
			for it.Next() {
				c := it.Row().Clustering[0]
				n := int(c[3]) | int(c[2])<<8
				if !bytes.Equal(it.Row().Cells[0].Value, damageValue(n)) {
					t.Errorf("row %d has another value", n)
				}
				seen[n] = true
			}
		}
		o.read = errors.Join(o.read, it.Err(), it.Close())
	}
	for n := range rows {
		var row Row
		found, err := table.Get(int64(n%5), i32(n%5), [][]byte{i32(n)}, &Query{All: true}, &row)
		if o.read = errors.Join(o.read, err); err == nil && found != seen[n] && o.read == nil {
			t.Errorf("row %d is there by one way of reading, and not by another", n)
		}
		if seen[n] {
			o.holes = o.holes || o.rows < n
			o.rows++
		}
	}
	return o
}

// damages holds functions that damage a file of n bytes in some way; nil deletes it.
func damages(b []byte, rng *rand.Rand) map[string][]byte {
	n := len(b)
	all := map[string][]byte{"deleted": nil}
	places := []int{0, 6, 9, 40, 200, 600, n / 4, n / 2, 3 * n / 4, n - 40, n - 9, n - 1}
	for range 3 {
		places = append(places, rng.IntN(n+1))
	}
	for _, at := range places {
		if at < 0 || at >= n {
			continue
		}
		over := bytes.Clone(b)
		for i := at; i < min(n, at+8); i++ {
			over[i] ^= 0xa5
		}
		all[fmt.Sprint("overwritten at ", at)] = over
		for _, size := range []int{1, 4096} {
			zero := bytes.Clone(b)
			clear(zero[at:min(n, at+size)])
			if !bytes.Equal(zero, b) {
				all[fmt.Sprint("zeroed at ", at, ", ", size)] = zero
			}
		}
		all[fmt.Sprint("cut off at ", at)] = bytes.Clone(b[:at])
	}
	for _, tail := range [][]byte{{0}, make([]byte, 5000), []byte("something else"), b} {
		if len(tail) > 0 {
			all[fmt.Sprint("appended to, ", len(tail))] = slices.Concat(b, tail)
		}
	}
	return all
}

// TestDamage damages each file of a store in every way, after a clean close and after a crash. Each
// time one of these must hold: the store is refused with an error that names a file and says what
// to do, and no file is removed; or a read returns an error; or every row is there. In a store that
// was not closed, the rows written since the last update of the inventory are excepted.
func TestDamage(t *testing.T) {
	for _, closed := range []bool{true, false} {
		t.Run(fmt.Sprint("closed=", closed), func(t *testing.T) {
			h := newHistory(t, closed)
			if o := try(t, h.late.fs(t), h.rows); o.rows != h.rows || o.refused != nil || o.read != nil {
				t.Fatalf("undamaged: %+v", o)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for _, name := range slices.Sorted(maps.Keys(h.late)) {
				ways := damages(h.late[name], rng)
				if old, ok := h.early[name]; ok && !bytes.Equal(old, h.late[name]) {
					ways["an older copy"] = old
				}
				counts, listed := map[string]int{}, h.listed(t, name)
				for i, way := range slices.Sorted(maps.Keys(ways)) {
					if testing.Short() && i%4 != 0 {
						continue
					}
					d := maps.Clone(h.late)
					if d[name] = ways[way]; ways[way] == nil {
						delete(d, name)
					}
					what := h.judge(t, d, name+" "+way)
					counts[what]++
					switch before := commonPrefix(h.late[name], d[name]); {
					case what == "refused", what == "error", name == "LOCK", strings.HasPrefix(name, "marker.") && ways[way] != nil:
					case strings.HasSuffix(name, ".sst") && what == "whole":
						// No read of a row needs the damaged block.
					case strings.HasPrefix(name, "MANIFEST-") && listed == 0 && what == "whole":
						// The MANIFEST before the current one, which nothing depends on.
					case before < listed || closed && before == len(h.late[name]):
						t.Errorf("%s %s: %s, unnoticed", name, way, what)
					}
				}
				t.Logf("%s: %v", name, counts)
			}
			for _, name := range slices.Sorted(maps.Keys(h.early)) {
				if _, there := h.late[name]; !there {
					d := maps.Clone(h.late)
					d[name] = h.early[name]
					h.judge(t, d, name+" come back")
				}
			}
			// The file that the marker names, too.
			d := maps.Clone(h.late)
			for name := range h.late {
				if strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "marker.manifest") {
					delete(d, name)
				}
			}
			h.judge(t, maps.Clone(d), "without a MANIFEST")
			for name := range h.early {
				if strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "marker.manifest") {
					d[name] = h.early[name]
				}
			}
			h.judge(t, d, "with the MANIFEST and the marker of before")
		})
	}
}

// listed returns the number of bytes of a file that the inventory lists.
func (h *history) listed(t *testing.T, name string) (n int) {
	for line := range strings.Lines(string(h.late[inventory.File])) {
		if f := strings.Fields(line); len(f) > 2 && f[1] == name {
			if _, err := fmt.Sscan(f[2], &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

func commonPrefix(a, b []byte) int {
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// judge opens a damaged directory and returns the result in one word.
func (h *history) judge(t *testing.T, d directory, what string) string {
	t.Helper()
	fs := d.fs(t)
	o := try(t, fs, h.rows)
	switch {
	case o.refused != nil:
		err := o.refused
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrNewer) {
			t.Errorf("%s: refused by another error: %v", what, err)
		}
		if !strings.Contains(err.Error(), "backup") && !errors.Is(err, ErrNewer) {
			t.Errorf("%s: no way out: %v", what, err)
		}
		named := func(d directory) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(d)), func(name string) bool {
				return strings.Contains(err.Error(), strings.TrimSuffix(name, ".sst"))
			})
		}
		if !named(h.late) && !named(h.early) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: no file is named, or too many words are made: %v", what, err)
		}
		// Logs become tables before the damage of another table is found.
		after := readDirectory(t, fs)
		for name := range d {
			_, there := after[name]
			if there && (bytes.Equal(after[name], d[name]) || name == inventory.File) {
				continue
			}
			if strings.Contains(err.Error(), "nothing in it was removed") || strings.HasSuffix(name, ".sst") {
				t.Errorf("%s: refused, and %s was removed or changed", what, name)
			}
		}
		return "refused"
	case o.read != nil:
		if !errors.Is(o.read, ErrCorrupt) {
			t.Errorf("%s: read: %v", what, o.read)
		}
		return "error"
	case o.holes || o.rows < h.noted:
		t.Errorf("%s: %d rows of %d, silently", what, o.rows, h.rows)
		return "silence"
	case o.rows < h.rows:
		return "tail"
	}
	return "whole"
}

// TestPlain opens directories of a format without an inventory, undamaged and damaged.
func TestPlain(t *testing.T) {
	h := newHistory(t, true)
	plain := maps.Clone(h.late)
	plain[inventory.File] = []byte("evenkeel storage, format 2\n")
	fs := plain.fs(t)
	if o := try(t, fs, h.rows); o.rows != h.rows || o.refused != nil || o.read != nil {
		t.Fatalf("%+v", o)
	}
	adopted := readDirectory(t, fs)
	if !strings.Contains(string(adopted[inventory.File]), "closed\nlog 0") {
		t.Errorf("the inventory is %s", adopted[inventory.File])
	}
	if o := try(t, fs, h.rows); o.rows != h.rows || o.refused != nil || o.read != nil {
		t.Fatalf("%+v", o)
	}
	for name := range plain {
		if h.listed(t, name) == 0 && !strings.HasPrefix(name, "marker.manifest") || !strings.Contains(name, "MANIFEST") {
			continue
		}
		for _, way := range []func([]byte) []byte{
			func([]byte) []byte { return nil },
			func(b []byte) []byte { return b[:len(b)/2] },
			func(b []byte) []byte { b = bytes.Clone(b); clear(b[len(b)/2 : len(b)/2+8]); return b },
			func(b []byte) []byte { b = bytes.Clone(b); b[40] ^= 1; return b },
		} {
			d := maps.Clone(plain)
			if len(plain[name]) == 0 {
				delete(d, name)
			} else if d[name] = way(plain[name]); d[name] == nil {
				delete(d, name)
			}
			fs := d.fs(t)
			o := try(t, fs, h.rows)
			if !errors.Is(o.refused, ErrCorrupt) || !strings.Contains(o.refused.Error(), "backup") {
				t.Errorf("%s: %+v", name, o)
			}
			if after := readDirectory(t, fs); len(after) < len(d) {
				t.Errorf("%s: files were removed: %v of %v", name, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(d)))
			}
		}
	}
}
