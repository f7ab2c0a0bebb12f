// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// checkPlain checks a directory of a format that had no inventory. Nothing but its MANIFEST says
// what must be in it. The MANIFEST must be intact to its end, and must know all tables that exist.
// A crash may leave a directory that fails this check. The version that wrote the directory can
// repair it.
func checkPlain(dir string, po *pebble.Options) error {
	names, err := po.FS.List(dir)
	if err != nil {
		return err
	}
	tables, fresh := map[string]bool{}, true
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			tables[name] = true
		}
		fresh = fresh && !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".log") && !strings.HasPrefix(name, "MANIFEST-")
	}
	if fresh {
		return nil // an earlier start ended before it wrote more
	}
	manifest, err := atomicfs.ReadMarker(po.FS, dir, "manifest")
	if err != nil {
		return err
	}
	if manifest == "" {
		return unsure("the marker of the MANIFEST is missing")
	}
	if err := readManifest(po.FS, po.FS.PathJoin(dir, manifest)); err != nil {
		return unsure(fmt.Sprintf("%s: %v", manifest, err))
	}
	known, err := knownTables(dir, po)
	if err != nil {
		return err
	}
	for name := range tables {
		if !known[name] {
			return unsure(manifest + " does not know " + name)
		}
	}
	return nil
}

func unsure(what string) error {
	return fmt.Errorf("%w: %s; if the last process that had the directory open was killed, start and stop the version that wrote it once, on a copy; else restore the directory from a backup. Nothing in it was removed", ErrCorrupt, what)
}

// readManifest reads a MANIFEST's records to the end.
func readManifest(fs vfs.FS, path string) error {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := record.NewReader(f, 0); ; {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			_, err = io.Copy(io.Discard, rec)
		}
		if err != nil {
			return fmt.Errorf("damaged after byte %d: %w", r.Offset(), err)
		}
	}
}

// knownTables opens the store without changing it and returns the names of the tables that its
// MANIFEST knows.
func knownTables(dir string, po *pebble.Options) (map[string]bool, error) {
	o := *po
	o.ReadOnly = true
	db, err := openPebble(dir, &o)
	if err != nil {
		return nil, err
	}
	levels, err := db.SSTables()
	known := map[string]bool{}
	for _, level := range levels {
		for _, t := range level {
			known[fmt.Sprintf("%s.sst", t.BackingSSTNum)] = true
		}
	}
	return known, errors.Join(err, db.Close())
}
