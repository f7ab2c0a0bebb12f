// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func text(t *testing.T, fs vfs.FS) string {
	t.Helper()
	f, err := fs.Open("d/" + File)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func open(t *testing.T, fs vfs.FS) *FS {
	t.Helper()
	if err := fs.MkdirAll("d", 0o755); err != nil {
		t.Fatal(err)
	}
	f, plain, err := Open(fs, "d")
	if err != nil || plain {
		t.Fatal(plain, err)
	}
	return f
}

// create creates a file with some bytes. synced says whether it syncs the file.
func create(t *testing.T, fs vfs.FS, name, content string, synced bool) vfs.File {
	t.Helper()
	f, err := fs.Create("d/"+name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if synced {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func syncDir(t *testing.T, fs vfs.FS) {
	t.Helper()
	d, err := fs.OpenDir("d")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestListing checks that a written listing is read back, and that none with another byte is
// accepted.
func TestListing(t *testing.T) {
	for _, closed := range []bool{false, true} {
		l := &listing{closed: closed, format: Format, files: map[string]item{
			"MANIFEST-000007": {manifest, 4242, 0x1a2b3c4d, 4242},
			"OPTIONS-000003":  {options, 2935, 7, 2935},
			"000009.log":      {journal, 7083465, 0, 0},
		}, markers: map[string]marker{"manifest": {2, "MANIFEST-000007"}, "format-version": {8, "021"}}}
		if closed {
			l.files["000009.log"] = item{journal, 7083465, 0, 9999999}
		}
		b := l.append(nil)
		have, err := parse(b)
		if err != nil || have.closed != closed || !maps.Equal(have.files, l.files) || !maps.Equal(have.markers, l.markers) {
			t.Fatalf("%s: %+v, %v", b, have, err)
		}
		for i := range b {
			for _, other := range [][]byte{
				append(bytes.Clone(b[:i]), b[i+1:]...),
				append(append(bytes.Clone(b[:i]), '0'), b[i:]...),
				append(append(bytes.Clone(b[:i]), b[i]^1), b[i+1:]...),
				b[:i],
			} {
				if bytes.Equal(other, b) {
					continue
				}
				if have, err := parse(other); err == nil {
					t.Errorf("%q is read as %+v", other, have)
				}
			}
		}
		if _, err := parse(append(b, b...)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("twice: %v", err)
		}
	}
}

// TestListed follows files through their lives.
func TestListed(t *testing.T) {
	fs := vfs.NewMem()
	f := open(t, fs)
	says := func(when string, lines ...string) {
		t.Helper()
		have := text(t, fs)
		for _, line := range lines {
			no, line := strings.HasPrefix(line, "no "), strings.TrimPrefix(line, "no ")
			if strings.Contains(have, line) == no {
				t.Errorf("%s: %q: no is %v in\n%s", when, line, no, have)
			}
		}
	}
	m := create(t, f, "MANIFEST-000001", "one", true)
	says("a MANIFEST is synced, which a marker may name", "manifest MANIFEST-000001 3 ")
	create(t, f, "marker.manifest.000001.MANIFEST-000001", "", false).Close()
	says("nothing is durable yet", "no marker manifest")
	log := create(t, f, "000002.log", "", false)
	says("nothing is durable yet", "no 000002.log")
	syncDir(t, f)
	says("the log may be written into", "log 000002.log 0\n", "marker manifest 1 MANIFEST-000001")
	if _, err := log.Write([]byte("12345")); err != nil {
		t.Fatal(err)
	}
	if err := f.Note(); err != nil {
		t.Fatal(err)
	}
	says("what is written is not durable", "log 000002.log 0\n")
	if err := log.SyncData(); err != nil {
		t.Fatal(err)
	}
	says("a sync writes nothing", "log 000002.log 0\n")
	if err := f.Note(); err != nil {
		t.Fatal(err)
	}
	says("but it is noted", "log 000002.log 5\n")
	create(t, f, "000003.dbtmp", "settings", true).Close()
	if err := f.Rename("d/000003.dbtmp", "d/OPTIONS-000003"); err != nil {
		t.Fatal(err)
	}
	syncDir(t, f)
	if _, err := m.Write([]byte("two")); err != nil {
		t.Fatal(err)
	}
	if err := m.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Note(); err != nil {
		t.Fatal(err)
	}
	says("OPTIONS and a longer MANIFEST", "manifest MANIFEST-000001 6 ", "options OPTIONS-000003 8 ")

	create(t, f, "MANIFEST-000005", "new", true)
	says("a new MANIFEST, beside the old one", "MANIFEST-000001", "MANIFEST-000005 3 ")
	create(t, f, "marker.manifest.000002.MANIFEST-000005", "", false).Close()
	syncDir(t, f)
	if w, err := f.ReuseForWrite("d/000002.log", "d/000006.log", vfs.WriteCategoryUnspecified); err != nil {
		t.Fatal(err)
	} else if _, err := w.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	says("a log is left before it gets another name", "no 000002.log", "no 000006.log", "no MANIFEST-000001", "marker manifest 2 MANIFEST-000005")
	syncDir(t, f)
	says("the new log", "log 000006.log 0\n")
	if err := f.Remove("d/000006.log"); err != nil {
		t.Fatal(err)
	}
	says("a log is removed", "no 000006.log")
}

// TestNote checks that Note writes the inventory only if its content would change.
func TestNote(t *testing.T) {
	fs := vfs.NewMem()
	f := open(t, fs)
	log := create(t, f, "000002.log", "abc", true)
	syncDir(t, f)
	if err := f.Note(); err != nil {
		t.Fatal(err)
	}
	before := f.written
	for range 3 {
		if err := log.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := f.Note(); err != nil {
			t.Fatal(err)
		}
	}
	if f.written != before {
		t.Error("written, and nothing was new")
	}
}

// TestValidLog checks that validLog separates a log's chunks from the bytes after them.
func TestValidLog(t *testing.T) {
	if n, err := validLog(strings.NewReader(strings.Repeat("\x00", 100)), "000001.log"); n != 0 || err != nil {
		t.Errorf("zeros: %d, %v", n, err)
	}
	if n, err := validLog(strings.NewReader("12345678901234567890"), "000001.log"); n != 0 || err != nil {
		t.Errorf("something else: %d, %v", n, err)
	}
	if _, err := validLog(strings.NewReader(""), "x.log"); err == nil {
		t.Error("a log without a number")
	}
}
