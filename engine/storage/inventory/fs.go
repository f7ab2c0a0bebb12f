// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system that Pebble must use. It keeps the inventory of one directory.
type FS struct {
	vfs.FS
	dir string

	// mu is held while the inventory is written, but not while Pebble's own files are written. The
	// sync of a log does not take it.
	mu      sync.Mutex
	files   map[string]*file
	markers map[string]marker
	moved   map[string]marker // moved, but not yet durable
	written *listing          // the content of the inventory on disk
	stale   bool              // it lists less than it could
	plain   bool              // there is no inventory yet; none is written before Adopt
}

// file is a file that the inventory may list.
type file struct {
	kind    kind
	durable bool // the directory's entry is durable
	known   item // the synced part; for a log that is being written, see synced
	synced  atomic.Int64
}

// item returns what the inventory can list of the file.
func (f *file) item() item {
	it := f.known
	if f.kind == journal {
		it.length = max(it.length, f.synced.Load())
	}
	it.kind = f.kind
	return it
}

// Open reads the inventory of dir and checks the files that it lists. In an empty directory it
// writes the first inventory. plain is true if the directory has format FormatPlain or an older
// one. Such a directory was not checked: the caller must check it, and call Take. It has no
// inventory until the caller calls Adopt.
func Open(fs vfs.FS, dir string) (f *FS, plain bool, err error) {
	f = &FS{FS: fs, dir: dir, files: map[string]*file{}, markers: map[string]marker{}, moved: map[string]marker{}}
	text, err := f.read()
	if errors.Is(err, os.ErrNotExist) {
		return f, false, f.create()
	}
	if err != nil {
		return nil, false, err
	}
	l, err := parse(text)
	if err != nil {
		return nil, false, err
	}
	if f.written = l; l.format <= FormatPlain {
		f.plain = true
		return f, true, nil
	}
	if err := l.check(fs, dir); err != nil {
		return nil, false, err
	}
	f.take(l)
	if l.closed {
		// Before Pebble changes anything.
		f.mu.Lock()
		defer f.mu.Unlock()
		return f, false, f.save()
	}
	return f, false, nil
}

func (f *FS) path(name string) string { return f.PathJoin(f.dir, name) }

func (f *FS) read() ([]byte, error) {
	r, err := f.FS.Open(f.path(File))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, 16<<20))
	return text, errors.Join(err, r.Close())
}

// create writes the inventory of a new store.
func (f *FS) create() error {
	names, err := f.List(f.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		// LOCK is the caller's. The temporary file is left by a start that ended early.
		if name != "LOCK" && name != temporary && name != "lost+found" {
			return fmt.Errorf("%w: it holds %s and other files, but no %s; choose an empty directory or a new one, or restore that file from a backup", ErrForeign, name, File)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.save(); err != nil {
		return err
	}
	return f.syncDir(f.PathDir(f.dir))
}

// take sets the files and markers to those of a listing.
func (f *FS) take(l *listing) {
	for name, it := range l.files {
		f.files[name] = &file{kind: it.kind, durable: true, known: it}
	}
	for name, m := range l.markers {
		f.markers[name] = m
	}
}

// Take lists the files of a plain directory, which the caller has checked.
func (f *FS) Take() error {
	names, err := f.List(f.dir)
	if err != nil {
		return err
	}
	l := &listing{files: map[string]item{}, markers: findMarkers(names)}
	for _, name := range names {
		k, ok := kindOf(name)
		if !ok || k == manifest && name != l.markers[manifestMarker].value {
			continue
		}
		if l.files[name], err = f.describe(name, k); err != nil {
			return err
		}
	}
	f.take(l)
	return nil
}

// Adopt gives a plain directory its inventory.
func (f *FS) Adopt() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.plain {
		return nil
	}
	f.plain = false
	return f.save()
}

// describe reads the file and returns its item.
func (f *FS) describe(name string, k kind) (item, error) {
	r, err := f.FS.Open(f.path(name))
	if err != nil {
		return item{}, err
	}
	it := item{kind: k}
	if k == journal {
		it.length, err = validLog(r, name)
	} else if stat, e := r.Stat(); e != nil {
		err = e
	} else {
		it.length = stat.Size()
		it.sum, err = checksum(r, it.length)
	}
	return it, errors.Join(err, r.Close())
}

func kindOf(name string) (kind, bool) {
	switch {
	case strings.HasPrefix(name, "MANIFEST-"):
		return manifest, true
	case strings.HasPrefix(name, "OPTIONS-"):
		return options, true
	case strings.HasSuffix(name, ".log"):
		return journal, true
	}
	return "", false
}

// Note writes the inventory if it is out of date: if there are new files, or logs have grown. The
// store calls it after opening and then periodically.
func (f *FS) Note() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := f.stale
	for name, file := range f.files {
		behind = behind || file.durable && file.item().length > f.written.files[name].length
	}
	if !behind {
		return nil
	}
	return f.save()
}

// Seal writes the inventory of a store that Pebble has closed without an error. Nothing may change
// until the store is opened again.
func (f *FS) Seal() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.listing()
	l.closed = true
	for name, it := range l.files {
		stat, err := f.Stat(f.path(name))
		if err != nil {
			return err
		}
		it.size = stat.Size()
		l.files[name] = it
	}
	return f.write(l)
}

// listing returns all that the inventory can list now. The caller holds mu.
func (f *FS) listing() *listing {
	l := &listing{files: map[string]item{}, markers: map[string]marker{}}
	for name, file := range f.files {
		if file.durable {
			l.files[name] = file.item()
		}
	}
	for name, m := range f.markers {
		l.markers[name] = m
	}
	return l
}

// save writes the inventory. The caller holds mu.
func (f *FS) save() error { return f.write(f.listing()) }

const temporary = File + ".tmp"

func (f *FS) write(l *listing) error {
	if f.plain {
		return nil
	}
	w, err := f.FS.Create(f.path(temporary), vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", File, err)
	}
	_, err = w.Write(l.append(nil))
	if err == nil {
		err = w.Sync()
	}
	err = errors.Join(err, w.Close())
	if err == nil {
		err = f.FS.Rename(f.path(temporary), f.path(File))
	}
	if err == nil {
		err = f.syncDir(f.dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", File, err)
	}
	f.written, f.stale = l, false
	return nil
}

// syncDir syncs a directory. It does not list files.
func (f *FS) syncDir(dir string) error {
	d, err := f.FS.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Create implements vfs.FS.
func (f *FS) Create(path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	name := f.PathBase(path)
	w, err := f.FS.Create(path, category)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if marked, m, ok := parseMarker(name); ok {
		f.moved[marked] = m
		return w, nil
	}
	k, ok := kindOf(name)
	if !ok && !strings.HasSuffix(name, ".dbtmp") { // it becomes OPTIONS
		return w, nil
	}
	entry := &file{kind: k}
	f.files[name] = entry
	if k == journal {
		return &logFile{File: w, entry: entry}, nil
	}
	return &summedFile{File: w, fs: f, entry: entry}, nil
}

// ReuseForWrite implements vfs.FS: a log that has been flushed becomes a new one.
func (f *FS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.leave(f.PathBase(from)); err != nil {
		return nil, err
	}
	w, err := f.FS.ReuseForWrite(from, to, category)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	entry := &file{kind: journal}
	f.files[f.PathBase(to)] = entry
	return &logFile{File: w, entry: entry}, nil
}

// Remove implements vfs.FS.
func (f *FS) Remove(path string) error {
	if err := f.leave(f.PathBase(path)); err != nil {
		return err
	}
	return f.FS.Remove(path)
}

// leave removes a file from the inventory.
func (f *FS) leave(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, name)
	if _, listed := f.written.files[name]; !listed {
		return nil
	}
	return f.save()
}

// Rename implements vfs.FS: a temporary file becomes OPTIONS.
func (f *FS) Rename(from, to string) error {
	if err := f.FS.Rename(from, to); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old, name := f.PathBase(from), f.PathBase(to)
	if entry := f.files[old]; entry != nil {
		delete(f.files, old)
		if k, ok := kindOf(name); ok {
			entry.kind = k
			f.files[name] = entry
		}
	}
	return nil
}

// OpenDir implements vfs.FS.
func (f *FS) OpenDir(path string) (vfs.File, error) {
	d, err := f.FS.OpenDir(path)
	if err != nil || f.PathJoin(path) != f.PathJoin(f.dir) {
		return d, err
	}
	return &dirFile{File: d, fs: f}, nil
}

// Unwrap implements vfs.FS.
func (f *FS) Unwrap() vfs.FS { return f.FS }

// dirFile is the directory, opened to be synced.
type dirFile struct {
	vfs.File
	fs *FS
}

// Sync makes the directory entries of earlier files durable. A new log is listed here, before it is
// written to.
func (d *dirFile) Sync() error {
	f := d.fs
	f.mu.Lock()
	var pending []*file
	for _, file := range f.files {
		if !file.durable && file.kind != "" {
			pending = append(pending, file)
		}
	}
	moved := f.moved
	f.moved = map[string]marker{}
	f.mu.Unlock()

	if err := d.File.Sync(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	log := false
	for _, file := range pending {
		file.durable = true
		log = log || file.kind == journal
	}
	for name, m := range moved {
		f.markers[name] = m
	}
	f.stale = f.stale || len(pending)+len(moved) > 0
	f.forget()
	if log {
		return f.save()
	}
	return nil
}

// forget removes files from the list that nothing depends on any more: all OPTIONS but the last,
// and each MANIFEST except the one that the marker names and newer ones. The caller holds mu.
func (f *FS) forget() {
	last := map[kind]string{manifest: f.markers[manifestMarker].value}
	for name, file := range f.files {
		if file.kind == options && file.durable && older(last[options], name) {
			last[options] = name
		}
	}
	for name, file := range f.files {
		if file.durable && file.kind != journal && older(name, last[file.kind]) {
			delete(f.files, name)
		}
	}
}

// older reports whether the number of a file is less than that of another file of its kind. Numbers
// have six digits or more.
func older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// logFile is a log that is being written.
type logFile struct {
	vfs.File
	entry   *file
	written int64
}

func (l *logFile) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	l.written += int64(n)
	return n, err
}

func (l *logFile) Sync() error { return l.durable(l.File.Sync()) }

func (l *logFile) SyncData() error { return l.durable(l.File.SyncData()) }

func (l *logFile) durable(err error) error {
	if err == nil {
		l.entry.synced.Store(l.written)
	}
	return err
}

// summedFile is a MANIFEST or a file that becomes OPTIONS.
type summedFile struct {
	vfs.File
	fs    *FS
	entry *file

	length int64
	sum    uint32
}

func (s *summedFile) Write(p []byte) (int, error) {
	sum := crc32.Update(s.sum, castagnoli, p) // before Write, which may change p
	n, err := s.File.Write(p)
	if err == nil {
		s.length, s.sum = s.length+int64(n), sum
	}
	return n, err
}

func (s *summedFile) Sync() error { return s.durable(s.File.Sync()) }

func (s *summedFile) SyncData() error { return s.durable(s.File.SyncData()) }

// durable notes the synced part of the file. A new MANIFEST is listed before the marker can name
// it.
func (s *summedFile) durable(err error) error {
	if err != nil {
		return err
	}
	f := s.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	s.entry.known.length, s.entry.known.sum = s.length, s.sum
	f.stale = true
	if s.entry.kind != manifest || s.entry.durable {
		return nil
	}
	if err := f.syncDir(f.dir); err != nil {
		return err
	}
	s.entry.durable = true
	return f.save()
}
