// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// File is the name of the inventory. The name also tells people what the directory belongs to.
const File = "EVENKEEL"

// Format is the version of the storage's format, which includes the inventory. FormatPlain is the
// last version without an inventory: its file has only the first line.
const (
	FormatPlain = 2
	Format      = 3
)

var (
	// ErrForeign: the directory holds something else.
	ErrForeign = errors.New("not an evenkeel data directory")
	// ErrNewer: the directory was written by a newer version of the format.
	ErrNewer = errors.New("written by a newer version")
	// ErrCorrupt: the data on disk differ from the data that were written.
	ErrCorrupt = errors.New("corrupt")
)

// firstLine is the beginning of the inventory.
const firstLine = "evenkeel storage, format "

// kind is the kind of a listed file.
type kind string

const (
	manifest kind = "manifest"
	options  kind = "options"
	journal  kind = "log"
)

// listing is the content of the inventory.
type listing struct {
	format  int
	closed  bool // the store was closed, and has not been opened since
	files   map[string]item
	markers map[string]marker // by the marker's name
}

// item describes what a file must contain.
type item struct {
	kind   kind
	length int64  // the least number of bytes
	sum    uint32 // the checksum of these bytes; 0 for logs
	size   int64  // the size of the whole file if the store was closed, else 0
}

// marker is the state of one of Pebble's atomic markers. These are empty files with names of the
// form marker.NAME.MOVES.VALUE.
type marker struct {
	moves uint64
	value string
}

func (m marker) file(name string) string {
	return fmt.Sprintf("marker.%s.%06d.%s", name, m.moves, m.value)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// append writes the listing:
//
//	evenkeel storage, format 3
//	open
//	manifest MANIFEST-000001 4242 1a2b3c4d
//	options OPTIONS-000003 2935 5e6f7081
//	log 000009.log 7083465
//	marker manifest 1 MANIFEST-000001
//	end 92a3b4c5
//
// The last line has the checksum of all lines before it. If the store was closed, the second line
// says so, and the line of a log ends with the length of its file.
func (l *listing) append(dst []byte) []byte {
	start := len(dst)
	dst = fmt.Appendf(dst, "%s%d\n", firstLine, Format)
	if l.closed {
		dst = append(dst, "closed\n"...)
	} else {
		dst = append(dst, "open\n"...)
	}
	for _, name := range sortedKeys(l.files) {
		it := l.files[name]
		dst = fmt.Appendf(dst, "%s %s %d", it.kind, name, it.length)
		switch {
		case it.kind != journal:
			dst = fmt.Appendf(dst, " %08x", it.sum)
		case l.closed:
			dst = fmt.Appendf(dst, " %d", it.size)
		}
		dst = append(dst, '\n')
	}
	for _, name := range sortedKeys(l.markers) {
		m := l.markers[name]
		dst = fmt.Appendf(dst, "marker %s %d %s\n", name, m.moves, m.value)
	}
	return fmt.Appendf(dst, "end %08x\n", crc32.Checksum(dst[start:], castagnoli))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// parse reads an inventory.
func parse(text []byte) (*listing, error) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	number, ok := strings.CutPrefix(string(line), firstLine)
	format, err := strconv.Atoi(strings.TrimSpace(number))
	l := &listing{format: format, files: map[string]item{}, markers: map[string]marker{}}
	switch {
	case !ok || err != nil || format < 1:
		return nil, fmt.Errorf("%w: its %s file does not begin with %q; if it is one, restore that file from a backup", ErrForeign, File, strings.TrimSpace(firstLine))
	case format > Format:
		return nil, fmt.Errorf("%w of evenkeel: format %d, this one knows up to %d; use that version", ErrNewer, format, Format)
	case format <= FormatPlain:
		if len(rest) > 0 {
			return nil, damaged(File, "has lines of another format")
		}
		return l, nil
	}
	end := bytes.LastIndex(text, []byte("\nend ")) + 1
	if end == 0 || string(text[end:]) != fmt.Sprintf("end %08x\n", crc32.Checksum(text[:end], castagnoli)) {
		return nil, damaged(File, "does not have the checksum that it ends with")
	}
	state, body, _ := strings.Cut(string(text[len(line)+1:end]), "\n")
	if l.closed = state == "closed"; !l.closed && state != "open" {
		return nil, damaged(File, fmt.Sprintf("has %q for a state", state))
	}
	for line := range strings.Lines(body) {
		if !l.read(strings.Fields(line)) {
			return nil, damaged(File, fmt.Sprintf("has the line %q", line))
		}
	}
	return l, nil
}

// read reads the fields of a line about a file or a marker.
func (l *listing) read(f []string) bool {
	if len(f) == 4 && f[0] == "marker" {
		moves, err := strconv.ParseUint(f[2], 10, 64)
		l.markers[f[1]] = marker{moves, f[3]}
		return err == nil
	}
	if len(f) < 3 {
		return false
	}
	it := item{kind: kind(f[0])}
	var errs [3]error
	it.length, errs[0] = strconv.ParseInt(f[2], 10, 64)
	switch {
	case (it.kind == manifest || it.kind == options) && len(f) == 4:
		var sum uint64
		sum, errs[1] = strconv.ParseUint(f[3], 16, 32)
		it.sum = uint32(sum)
		it.size = it.length
	case it.kind == journal && l.closed && len(f) == 4:
		it.size, errs[2] = strconv.ParseInt(f[3], 10, 64)
	case it.kind == journal && !l.closed && len(f) == 3:
	default:
		return false
	}
	l.files[f[1]] = it
	return errors.Join(errs[:]...) == nil && it.length >= 0 && it.size >= 0
}

// damaged returns the error about a damaged or missing file.
func damaged(name, what string) error {
	return fmt.Errorf("%w: %s %s; restore the directory from a backup, nothing in it was removed", ErrCorrupt, name, what)
}
