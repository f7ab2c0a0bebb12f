// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/storage/inventory"
)

// If this is set in the environment, TestMain's binary opens the directory and waits. It is the
// other process.
const holdEnv = "STORAGE_TEST_HOLD"

func init() {
	if dir := os.Getenv(holdEnv); dir != "" {
		db, err := Open(dir, Options{})
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString("open\n")
		io.Copy(io.Discard, os.Stdin)
		if err := db.Close(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	check := func(who string) {
		t.Helper()
		_, err := Open(dir, Options{})
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s has it open: %v", who, err)
		}
	}
	db, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check("this process")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	check("another process")
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestForeign(t *testing.T) {
	for name, files := range map[string][]string{
		"other files":     {"photo.jpg"},
		"another Pebble":  {"MANIFEST-000001", "000002.log"},
		"a LOCK and more": {"LOCK", "letter.txt"},
		"other identity":  {inventory.File},
	} {
		dir := t.TempDir()
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), []byte("something"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range files[len(files)-1:] {
			if b, err := os.ReadFile(filepath.Join(dir, f)); err != nil || string(b) != "something" {
				t.Errorf("%s: %s is now %q, %v", name, f, b, err)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("opened a file as a directory")
	}
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, inventory.File)
	if err := os.WriteFile(path, []byte("evenkeel storage, format 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("inventory of format 4: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "LOCK")); err != nil {
		t.Fatal(err)
	}
	db, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.pebble.Set(formatKey, []byte("4"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("data of format 4: %v", err)
	}
}

// TestOlder checks that data of format 1 are read and that the directory is raised to this format,
// unless a table has rows and a user-defined type in its keys.
func TestOlder(t *testing.T) {
	udt := value.UDTOf("k", "u", []string{"a"}, []*value.Type{value.Native(value.Int)}, true)
	plain := TableSpec{ID: [16]byte{1}, Clustering: []ClusteringColumn{{Type: value.TupleOf(value.Native(value.Int))}}, Columns: []Column{{ID: 0}}}
	for name, c := range map[string]struct {
		spec TableSpec
		want error
	}{
		"plain":      {plain, nil},
		"clustering": {TableSpec{ID: [16]byte{1}, Clustering: []ClusteringColumn{{Type: value.ListOf(udt, true)}}}, ErrOlder},
		"path":       {TableSpec{ID: [16]byte{1}, Columns: []Column{{ID: 0, Path: value.TupleOf(udt)}}}, ErrOlder},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, inventory.File)
		db, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		row := append(appendTablePrefix(nil, &c.spec.ID), 0)
		if err := errors.Join(db.pebble.Set(formatKey, []byte("1"), pebble.Sync), db.pebble.Set(row, nil, pebble.Sync), db.Close(), os.WriteFile(path, []byte("evenkeel storage, format 1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if db, err = Open(dir, Options{}); err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, db, c.spec)
			err = db.Raise(maps.All(map[string]*Table{"k.t": table}))
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		want := "evenkeel storage, format 1\n"
		if c.want == nil {
			want = "evenkeel storage, format 3\nclosed\n"
		}
		if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: the inventory says %q, %v", name, text, err)
		}
		if c.want != nil && db.written != 1 || c.want == nil && db.written != format {
			t.Errorf("%s: the data are of format %d", name, db.written)
		}
	}
}

func TestCorrupt(t *testing.T) {
	damaged := func(name string, damage func(dir string)) {
		dir := t.TempDir()
		db, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := db.NewBatch()
		defer b.Release()
		b.SetMeta("k", bytes.Repeat([]byte("v"), 1000))
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := db.pebble.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		damage(dir)
		if db, err = Open(dir, Options{}); err == nil {
			_, err = db.Meta("k")
			if err := db.Close(); err != nil {
				t.Log(err)
			}
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	each := func(pattern string, f func(path string) error) func(dir string) {
		return func(dir string) {
			paths, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(paths) == 0 {
				t.Fatal(pattern, err)
			}
			for _, p := range paths {
				if err := f(p); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	flip := func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[len(b)/2] ^= 0xff
		return os.WriteFile(path, b, 0o644)
	}
	damaged("no manifest", each("MANIFEST-*", os.Remove))
	damaged("no tables", each("*.sst", os.Remove))
	damaged("a table's bytes", each("*.sst", flip))
	damaged("a table cut off", each("*.sst", func(p string) error { return os.Truncate(p, 100) }))
}

func TestMeta(t *testing.T) {
	fs := vfs.NewMem()
	db, err := Open("d", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	b := db.NewBatch()
	for _, k := range []string{"a/1", "a/2", "b/1", "a/", "a\xff"} {
		b.SetMeta(k, []byte("v"+k))
	}
	b.SetMeta("a/2", nil)
	b.SetMeta("empty", []byte{})
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b.Release()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open("d", Options{FS: fs}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got []string
	err = db.MetaRange("a/", func(k string, v []byte) bool {
		got = append(got, k+"="+string(v))
		return true
	})
	if s := strings.Join(got, " "); err != nil || s != "a/=va/ a/1=va/1" {
		t.Errorf("%q, %v", s, err)
	}
	for k, want := range map[string][]byte{"a/1": []byte("va/1"), "a/2": nil, "empty": {}} {
		if v, err := db.Meta(k); err != nil || !bytes.Equal(v, want) || (v == nil) != (want == nil) {
			t.Errorf("%s: %q, %v", k, v, err)
		}
	}
}

// TestPeriodic checks that acknowledged writes reach the disk without further calls.
func TestPeriodic(t *testing.T) {
	fs := vfs.NewCrashableMem()
	db, err := Open("d", Options{FS: fs, Periodic: true, SyncInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b := db.NewBatch()
	b.SetMeta("k", []byte("v"))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b.Release()
	for deadline := time.Now().Add(3 * time.Minute); ; {
		crashed, err := Open("d", Options{FS: fs.CrashClone(vfs.CrashCloneCfg{})})
		if err != nil {
			t.Fatal(err)
		}
		v, err := crashed.Meta("k")
		if err := errors.Join(err, crashed.Close()); err != nil {
			t.Fatal(err)
		}
		if v != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("not on disk")
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
