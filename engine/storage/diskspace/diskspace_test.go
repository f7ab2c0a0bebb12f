// SPDX-License-Identifier: Apache-2.0

package diskspace

import (
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is a disk with as much free space as the test says.
type disk struct {
	vfs.FS
	free, total uint64

	mu  sync.Mutex
	err error // the error of writes; guarded by mu
}

func (d *disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *disk) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.free, TotalBytes: d.total}, nil
}

func (d *disk) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(path, c)
	return &file{f, d}, err
}

type file struct {
	vfs.File
	d *disk
}

func (f *file) Write(p []byte) (int, error) {
	if err := f.d.failure(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *file) Sync() error { return f.d.failure() }

// TestReserve checks that writes are admitted while the reserve is free, operations that free space
// down to half of it, compactions to half, flushes to an eighth.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{FS: vfs.NewMem(), total: 10 << 30, free: 1 << 30}
		f := New(d, "", nil)
		f.Opened()
		for _, c := range []struct {
			free                       uint64
			write, frees, table, flush bool
		}{
			{1 << 30, true, true, true, true},
			{64 << 20, true, true, true, true},
			{63 << 20, false, true, true, true},
			{31 << 20, false, false, false, true},
			{7 << 20, false, false, false, false},
			{0, false, false, false, false},
			{65 << 20, true, true, true, true},
		} {
			d.free = c.free
			time.Sleep(2 * lastFor)
			f.Look()
			for what, got := range map[string]struct {
				err  error
				want bool
			}{"a write": {f.Admit(1, false), c.write}, "a drop": {f.Admit(1, true), c.frees}} {
				if (got.err == nil) != got.want || got.err != nil && !errors.Is(got.err, ErrFull) {
					t.Errorf("%d MiB free: %s: %v", c.free>>20, what, got.err)
				}
			}
			for category, want := range map[vfs.DiskWriteCategory]bool{"pebble-compaction": c.table, flushCategory: c.flush} {
				_, err := f.Create("000001.sst", category)
				if (err == nil) != want || err != nil && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%d MiB free: %s: %v", c.free>>20, category, err)
				}
			}
			if _, err := f.Create("000001.log", ""); err != nil {
				t.Errorf("%d MiB free: a log: %v", c.free>>20, err)
			}
		}
		if err := f.Admit(2<<20, false); !errors.Is(err, ErrFull) {
			t.Errorf("a write of 2 MiB with 65 free: %v", err)
		}
		if err := f.Admit(1, false); err != nil {
			t.Errorf("another: %v", err)
		}
	})
}

// TestWait checks that a write to a log waits for space and then continues at the same byte, and
// that GiveUp ends the waiting.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{FS: vfs.NewMem(), total: 10 << 30, free: 1 << 30}
		failed := 0
		f := New(d, "", func(error) { failed++ })
		w, err := f.Create("000001.log", "")
		if err != nil {
			t.Fatal(err)
		}
		d.fail(syscall.ENOSPC)
		if _, err := w.Write([]byte("0123")); !errors.Is(err, syscall.ENOSPC) || failed > 0 {
			t.Errorf("before it is open: %v", err)
		}
		f.Opened()
		done := make(chan error)
		go func() {
			n, err := w.Write([]byte(strings.Repeat("x", 1<<20)))
			if n != 1<<20 {
				t.Errorf("%d bytes", n)
			}
			done <- err
		}()
		time.Sleep(time.Minute)
		if err := f.Admit(1, false); !errors.Is(err, ErrFull) {
			t.Errorf("meanwhile: %v", err)
		}
		d.fail(nil)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if stat, err := w.Stat(); err != nil || stat.Size() != 1<<20+2 {
			t.Errorf("%d bytes, %v", stat.Size(), err)
		}
		time.Sleep(2 * lastFor)
		f.Look()
		if err := f.Admit(1, false); err != nil || failed > 0 {
			t.Errorf("there is room: %v, failed %d", err, failed)
		}

		d.fail(syscall.ENOSPC)
		go func() {
			_, err := w.Write([]byte("0123"))
			done <- err
		}()
		time.Sleep(time.Minute)
		f.GiveUp()
		if err := <-done; !errors.Is(err, syscall.ENOSPC) || failed != 1 {
			t.Errorf("given up: %v, failed %d", err, failed)
		}
	})
}

// TestFailed checks that a failed sync is final, even if the next one succeeds, and is reported
// once.
func TestFailed(t *testing.T) {
	d := &disk{FS: vfs.NewMem(), total: 10 << 30, free: 1 << 30}
	failed := 0
	f := New(d, "", func(error) { failed++ })
	w, err := f.Create("MANIFEST-000001", "")
	if err != nil {
		t.Fatal(err)
	}
	f.Opened()
	for _, failure := range []error{syscall.EIO, syscall.ENOSPC} {
		d.fail(failure)
		if err := w.Sync(); !errors.Is(err, failure) {
			t.Error(err)
		}
	}
	d.fail(nil)
	f.Recheck()
	if err := f.Admit(1, true); !errors.Is(err, ErrFailed) || failed != 1 {
		t.Errorf("%v, failed %d", err, failed)
	}
}
