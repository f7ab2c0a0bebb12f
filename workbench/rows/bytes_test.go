// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenBytes checks that rows in memory are read as from a file, several times, and no file is
// written.
func TestOpenBytes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	count := func(s *Source) int64 {
		t.Helper()
		scanned, err := s.Scan(t.Context(), ScanOptions{MaxBadRows: 1 << 30}, func(int, *Batch) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return scanned.Rows
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(data)
		z.Close()
		file, err := Open(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := count(file)
		file.Close()
		for as, data := range map[string][]byte{name: data, name + ".gz": packed.Bytes()} {
			s, err := OpenBytes(as, data, Options{Again: true})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if n := count(s); n != want || n == 0 {
					t.Errorf("%s: %d rows, %d in the file", as, n, want)
				}
			}
			s.Close()
		}
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("a file was written: %v", left)
	}
}
