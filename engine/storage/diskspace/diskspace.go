// SPDX-License-Identifier: Apache-2.0

package diskspace

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrFull: the disk has no space for a write. The write was not made.
var ErrFull = errors.New("the disk of the store is full")

// ErrFailed: a file of the store could not be written. No write is accepted any more.
var ErrFailed = errors.New("the disk of the store failed")

const (
	// largestReserve is the space that is kept free on a disk of 1 GiB or more.
	largestReserve = 64 << 20
	// reserveShare is the divisor of the reserve on a smaller disk.
	reserveShare = 16
	// lookEvery is the number of written bytes after which the free space is checked.
	lookEvery = 256 << 10

	// lookAgain is the time between two other checks. It is also the pause before a table that
	// could not be written is written again.
	lookAgain = time.Second
	// retryEvery is the pause between two tries of a write that waits for space.
	retryEvery = 50 * time.Millisecond
	// lastFor is the time for which writes are refused after a table could not be written.
	lastFor = 5 * time.Second
)

// FS is the file system of a store's directory.
type FS struct {
	vfs.FS
	dir    string
	failed func(error)

	refused atomic.Pointer[refusal] // nil: writes are admitted
	since   atomic.Int64            // bytes written since the last check of the free space
	opened  atomic.Bool
	stop    chan struct{}
	stopped sync.Once
	once    sync.Once // guards the call of failed
}

// refusal is the reason why writes are refused.
type refusal struct {
	err   error
	final bool
	until time.Time // if something could not be written: the refusal lasts at least until then
}

// New returns the file system of a directory. failed is called once and must end the process; nil:
// Pebble ends it.
func New(fs vfs.FS, dir string, failed func(error)) *FS {
	return &FS{FS: fs, dir: dir, failed: failed, stop: make(chan struct{})}
}

// Opened tells f that the store is open: from now on writes wait for space.
func (f *FS) Opened() {
	f.opened.Store(true)
	f.Look()
}

// GiveUp ends the waiting for space, also of later writes. It is for a store that is about to be
// closed. It may be called twice.
func (f *FS) GiveUp() { f.stopped.Do(func() { close(f.stop) }) }

// Admit returns an error if a write of this many bytes may not begin. frees says that the write
// frees space.
func (f *FS) Admit(bytes int, frees bool) error {
	if bytes >= lookEvery {
		if free, reserve, ok := f.room(); ok && free < reserve+uint64(bytes) {
			f.Look()
			return full(free, reserve+uint64(bytes))
		}
	}
	r := f.refused.Load()
	if r == nil {
		return nil
	}
	if frees && !r.final {
		if free, reserve, ok := f.room(); ok && free >= reserve/2 {
			return nil
		}
	}
	return r.err
}

func full(free, needed uint64) error {
	return fmt.Errorf("%w: %d KiB are free, and %d KiB are needed; the write was not made, reads go on, and so do writes once there is room", ErrFull, free>>10, needed>>10)
}

// room returns the free space and the reserve. It returns false if the file system does not report
// them.
func (f *FS) room() (free, reserve uint64, ok bool) {
	u, err := f.GetDiskUsage(f.dir)
	return u.AvailBytes, min(largestReserve, u.TotalBytes/reserveShare), err == nil && u.TotalBytes > 0
}

// Look checks the free space and begins or ends the refusal of writes. The store calls it
// periodically.
func (f *FS) Look() {
	f.since.Store(0)
	r := f.refused.Load()
	free, reserve, ok := f.room()
	switch {
	case r != nil && (r.final || time.Now().Before(r.until)):
	case ok && free < reserve:
		f.refused.CompareAndSwap(r, &refusal{err: full(free, reserve)})
	case r != nil:
		f.refused.CompareAndSwap(r, nil)
	}
}

// Recheck checks the free space without waiting until a refusal ends. It is for tests, and for
// operators who have freed space.
func (f *FS) Recheck() {
	if r := f.refused.Load(); r != nil && !r.final {
		f.refused.CompareAndSwap(r, nil)
	}
	f.Look()
}

// LookAgain is the time between two calls of Look.
const LookAgain = lookAgain

// refuse makes Admit refuse writes for a while, because a file could not be written.
func (f *FS) refuse(err error) {
	if !isFull(err) {
		err = fmt.Errorf("%w: %w; writes are refused, reads go on", ErrFailed, err)
	} else if free, reserve, ok := f.room(); ok && free < reserve {
		err = full(free, reserve)
	} else {
		err = fmt.Errorf("%w: %w; the write was not made, reads go on, and so do writes once there is room", ErrFull, err)
	}
	for {
		r := f.refused.Load()
		if r != nil && r.final || f.refused.CompareAndSwap(r, &refusal{err: err, until: time.Now().Add(lastFor)}) {
			return
		}
	}
}

// fail makes Admit refuse all writes: a file could not be written that the store needs.
func (f *FS) fail(err error) {
	f.refused.Store(&refusal{err: fmt.Errorf("%w: %w; no write is taken before the store is opened again", ErrFailed, err), final: true})
	if f.failed != nil && f.opened.Load() {
		f.once.Do(func() { f.failed(err) })
	}
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// must calls do until it succeeds or fails with another error than a full disk.
func (f *FS) must(do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		if !f.opened.Load() {
			return err
		}
		if isFull(err) {
			f.refuse(err)
			if f.pause(retryEvery) {
				continue
			}
			if err = do(); err == nil { // there may be space by now
				return nil
			}
		}
		f.fail(err)
		return err
	}
}

// pause waits; it returns false if GiveUp has ended the waiting.
func (f *FS) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-f.stop:
		return false
	case <-t.C:
		return true
	}
}

// vital reports whether the store cannot go on if the file cannot be written.
func vital(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "marker.") ||
		strings.HasPrefix(name, "EVENKEEL") || strings.HasPrefix(name, "OPTIONS-")
}

// Create implements vfs.FS.
func (f *FS) Create(path string, category vfs.DiskWriteCategory) (w vfs.File, err error) {
	if !vital(f.PathBase(path)) {
		return f.createTable(path, category)
	}
	err = f.must(func() error {
		w, err = f.FS.Create(path, category)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &vitalFile{File: w, fs: f}, nil
}

// ReuseForWrite implements vfs.FS.
func (f *FS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (w vfs.File, err error) {
	err = f.must(func() error {
		w, err = f.FS.ReuseForWrite(from, to, category)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &vitalFile{File: w, fs: f}, nil
}

// Rename implements vfs.FS.
func (f *FS) Rename(from, to string) error {
	if !vital(f.PathBase(to)) {
		return f.FS.Rename(from, to)
	}
	return f.must(func() error { return f.FS.Rename(from, to) })
}

// OpenDir implements vfs.FS.
func (f *FS) OpenDir(path string) (vfs.File, error) {
	d, err := f.FS.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return &vitalFile{File: d, fs: f}, nil
}

// Unwrap implements vfs.FS.
func (f *FS) Unwrap() vfs.FS { return f.FS }

// vitalFile is a file that must be written, or a directory that must be synced.
type vitalFile struct {
	vfs.File
	fs *FS
}

func (v *vitalFile) Write(p []byte) (n int, err error) {
	err = v.fs.must(func() error {
		m, err := v.File.Write(p[n:])
		n += m
		return err
	})
	if v.fs.since.Add(int64(n)) >= lookEvery {
		v.fs.Look()
	}
	return n, err
}

// Sync does not wait for space: the data of a failed sync may be lost.
func (v *vitalFile) Sync() error { return v.synced(v.File.Sync()) }

func (v *vitalFile) SyncData() error { return v.synced(v.File.SyncData()) }

func (v *vitalFile) synced(err error) error {
	if err != nil && v.fs.opened.Load() {
		v.fs.fail(err)
	}
	return err
}

// flushCategory is Pebble's name for writing a memtable to disk.
const flushCategory = "pebble-memtable-flush"

// createTable creates a file that Pebble can create again.
func (f *FS) createTable(path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	t := &tableFile{fs: f, path: path, keep: 2}
	if category == flushCategory {
		t.keep = 8
	}
	if f.refused.Load() != nil && f.opened.Load() {
		f.pause(lookAgain) // Pebble would try again at once
	}
	err := t.mayWrite()
	if err == nil {
		t.File, err = f.FS.Create(path, category)
	}
	if err = t.note(err); err != nil {
		return nil, err
	}
	return t, nil
}

// tableFile is a file that Pebble can create again. It leaves space for vital files.
type tableFile struct {
	vfs.File
	fs    *FS
	path  string
	keep  uint64 // it leaves this fraction of the reserve (1/keep) free
	since int
}

func (t *tableFile) mayWrite() error {
	if free, reserve, ok := t.fs.room(); ok && free < reserve/t.keep {
		return &os.PathError{Op: "write", Path: t.path, Err: syscall.ENOSPC}
	}
	return nil
}

// note makes Admit refuse writes if the file could not be written.
func (t *tableFile) note(err error) error {
	if err != nil && t.fs.opened.Load() {
		t.fs.refuse(err)
	}
	return err
}

func (t *tableFile) Write(p []byte) (int, error) {
	if t.since += len(p); t.since >= lookEvery {
		t.since = 0
		t.fs.Look()
		if err := t.mayWrite(); err != nil {
			return 0, t.note(err)
		}
	}
	n, err := t.File.Write(p)
	return n, t.note(err)
}

func (t *tableFile) Sync() error { return t.note(t.File.Sync()) }

func (t *tableFile) SyncData() error { return t.note(t.File.SyncData()) }
