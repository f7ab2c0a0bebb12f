// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// check compares a directory with its listing.
func (l *listing) check(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	if err := l.checkMarkers(names); err != nil {
		return err
	}
	for _, name := range sortedKeys(l.files) {
		if err := l.files[name].check(fs, dir, name, l.closed); err != nil {
			return err
		}
	}
	return nil
}

// checkMarkers compares the markers. A crash may have come after a move and before the inventory
// was written.
func (l *listing) checkMarkers(names []string) error {
	there := findMarkers(names)
	for _, name := range sortedKeys(l.markers) {
		want := l.markers[name]
		have, ok := there[name]
		switch {
		case !ok || have.moves < want.moves:
			return damaged(want.file(name), "is missing")
		case have.moves == want.moves && have.value != want.value, have.moves > want.moves && l.closed:
			return damaged(have.file(name), "is there in the place of "+want.file(name))
		}
	}
	current, ok := there[manifestMarker]
	if !ok {
		return l.checkNew(names)
	}
	if l.files[current.value].kind != manifest {
		return damaged(current.file(manifestMarker), "names a file that is not the store's")
	}
	return nil
}

// checkNew checks that a store without a MANIFEST has no other files. Pebble would create a new
// MANIFEST and delete files that it does not know.
func (l *listing) checkNew(names []string) error {
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".blob") {
			return damaged("the marker of the MANIFEST", "is missing, and "+name+" is there")
		}
	}
	return nil
}

// manifestMarker is the marker whose value is the name of the current MANIFEST.
const manifestMarker = "manifest"

// findMarkers returns the markers of a directory, each in its last state.
func findMarkers(names []string) map[string]marker {
	found := map[string]marker{}
	for _, name := range names {
		if marked, m, ok := parseMarker(name); ok {
			if have, ok := found[marked]; !ok || have.moves < m.moves {
				found[marked] = m
			}
		}
	}
	return found
}

// parseMarker parses the file name of a marker.
func parseMarker(file string) (name string, m marker, ok bool) {
	rest, ok := strings.CutPrefix(file, "marker.")
	if !ok {
		return "", m, false
	}
	name, rest, ok = strings.Cut(rest, ".")
	if !ok {
		return "", m, false
	}
	moves, value, ok := strings.Cut(rest, ".")
	if !ok {
		return "", m, false
	}
	_, err := fmt.Sscanf(moves, "%d", &m.moves)
	m.value = value
	return name, m, err == nil
}

// check compares one file.
func (it item) check(fs vfs.FS, dir, name string, closed bool) error {
	f, err := fs.Open(fs.PathJoin(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return damaged(name, "is missing")
	}
	if err != nil {
		return err
	}
	err = it.compare(f, name, closed)
	return errors.Join(err, f.Close())
}

func (it item) compare(f vfs.File, name string, closed bool) error {
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	size := stat.Size()
	switch {
	case size < it.length:
		return damaged(name, fmt.Sprintf("has %d bytes, and must have %d at least", size, it.length))
	case (closed || it.kind == options) && size != it.size:
		return damaged(name, fmt.Sprintf("has %d bytes, and must have %d", size, it.size))
	}
	if it.kind == journal {
		valid, err := validLog(f, name)
		if err == nil && valid < it.length {
			err = damaged(name, fmt.Sprintf("is damaged at byte %d, and must be intact up to byte %d", valid, it.length))
		}
		return err
	}
	sum, err := checksum(f, it.length)
	if err == nil && sum != it.sum {
		err = damaged(name, fmt.Sprintf("has another checksum than was written, in its first %d bytes", it.length))
	}
	return err
}

// checksum returns the checksum of the first n bytes.
func checksum(r io.Reader, n int64) (uint32, error) {
	h := crc32.New(castagnoli)
	_, err := io.CopyN(h, r, n)
	return h.Sum32(), err
}
