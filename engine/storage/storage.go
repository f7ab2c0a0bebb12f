// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/engine/storage/diskspace"
	"github.com/evenkeel/evenkeel/engine/storage/inventory"
)

// Options holds the settings of a DB. The zero value works.
type Options struct {
	// FS is the file system; default the machine's.
	FS vfs.FS

	// CacheBytes bounds the cache of blocks; default 64 MiB.
	CacheBytes int64

	// MemTableBytes is the size of one memtable; default 32 MiB. There are at most 2, in addition
	// to the cache.
	MemTableBytes int

	// Periodic acknowledges writes before they are on disk and syncs every SyncInterval, like
	// Cassandra's commitlog_sync: periodic. Default false: Commit returns when its batch is on
	// disk.
	Periodic     bool
	SyncInterval time.Duration // default 1 s

	// SweepInterval is the time between two looks for expired and deleted data; default 10 minutes,
	// negative: never.
	SweepInterval time.Duration

	// Clock gives the sweep the time; default time.Now. Reads have their own time.
	Clock func() time.Time

	// Logger gets Pebble's messages; default none.
	Logger *slog.Logger

	// Failed is called once if the log or the MANIFEST could not be written, so that the data in
	// memory can no longer be made durable. It must end the process. The writes of these data have
	// not been acknowledged. Default nil: a panic ends the process.
	Failed func(error)
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 64 << 20
	}
	if o.MemTableBytes <= 0 {
		o.MemTableBytes = 32 << 20
	}
	if o.SyncInterval <= 0 {
		o.SyncInterval = time.Second
	}
	if o.SweepInterval == 0 {
		o.SweepInterval = 10 * time.Minute
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// memTables is the largest number of memtables.
const memTables = 2

// DB is an open store. It is safe for concurrent use.
type DB struct {
	dir     string
	pebble  *pebble.DB
	files   *inventory.FS
	disk    *diskspace.FS
	options Options
	lock    *pebble.Lock
	stripes stripes
	written int // the format of the data on disk

	mu     sync.Mutex
	tables map[[16]byte]*tableState

	sweeping sync.Mutex // one sweep at a time
	stop     chan struct{}
	running  sync.WaitGroup
}

// Open opens the store in dir. It creates a store if there is none. The errors are ErrInUse,
// ErrForeign, ErrNewer and ErrCorrupt. Their texts say what is wrong.
func Open(dir string, o Options) (*DB, error) {
	o = o.withDefaults()
	if err := o.FS.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		// An error with a path is a fault of the LOCK file. If another process holds the lock, the
		// error has no path.
		if !errors.As(err, new(*os.PathError)) {
			return nil, fmt.Errorf("open %s: %w: another evenkeel has it open, in this process or another; stop that one, or choose another directory", dir, ErrInUse)
		}
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	db, err := open(dir, o, lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, err), lock.Close())
	}
	db.lock = lock
	db.start()
	return db, nil
}

func open(dir string, o Options, lock *pebble.Lock) (*DB, error) {
	disk := diskspace.New(o.FS, dir, o.Failed)
	files, plain, err := inventory.Open(disk, dir)
	if err != nil {
		return nil, err
	}
	// Pebble takes the memtables out of the cache.
	cache := pebble.NewCache(o.CacheBytes + memTables*int64(o.MemTableBytes))
	defer cache.Unref()
	po := o.pebble(cache, lock)
	if plain {
		if err := errors.Join(checkPlain(dir, po), files.Take()); err != nil {
			return nil, err
		}
	}
	po.FS = files
	p, err := openOrFail(dir, po)
	if err != nil {
		return nil, err
	}
	disk.Opened()
	db := &DB{dir: dir, pebble: p, files: files, disk: disk, options: o, tables: map[[16]byte]*tableState{}, stop: make(chan struct{})}
	if err := errors.Join(db.checkFormat(), files.Note()); err != nil {
		return nil, errors.Join(refuse(err), p.Close())
	}
	return db, nil
}

// pebble returns the options with which Pebble is opened.
func (o *Options) pebble(cache *pebble.Cache, lock *pebble.Lock) *pebble.Options {
	po := &pebble.Options{
		Cache:                       cache,
		FS:                          o.FS,
		Lock:                        lock,
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: memTables,
		Merger:                      merger,
		Logger:                      &pebbleLogger{o.Logger, o.Failed},
		FlushDelayDeleteRange:       dropDelay,
		EventListener: &pebble.EventListener{
			// The reader gets the error. Pebble would end the process.
			DataCorruption: func(c pebble.DataCorruptionInfo) {
				o.Logger.Error("storage: corrupt", "file", c.Path, "error", c.Details)
			},
		},
	}
	for i := range po.Levels {
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return po
}

// dropDelay is the time after which a dropped or truncated table is removed from disk, unless other
// writes cause that earlier.
const dropDelay = 10 * time.Second

// openOrFail opens the store and also returns failures in the background. Without it, such a
// failure (for example a full disk) would end the process or be retried for ever. After such a
// failure, Pebble keeps running until the process ends.
func openOrFail(dir string, po *pebble.Options) (*pebble.DB, error) {
	opened := make(chan struct{})
	failed := make(chan error, 1)
	fail := func(err error) bool {
		select {
		case <-opened:
			return false
		case failed <- err:
		default:
		}
		return true
	}
	logger := po.Logger.(*pebbleLogger)
	po.Logger = &opening{logger, fail}
	po.EventListener.BackgroundError = func(err error) {
		// A damaged table is an error for the reader of that table.
		if pebble.IsCorruptionError(err) || !fail(err) {
			logger.Errorf("%v", err)
		}
	}
	type result struct {
		db  *pebble.DB
		err error
	}
	done := make(chan result, 1)
	go func() {
		db, err := openPebble(dir, po)
		done <- result{db, err}
	}()
	select {
	case r := <-done:
		close(opened)
		return r.db, r.err
	case err := <-failed:
		return nil, fmt.Errorf("write: %w", &firstLine{err})
	}
}

// opening is Pebble's logger until the store is open.
type opening struct {
	*pebbleLogger
	fail func(error) bool
}

// Fatalf does not return.
func (l *opening) Fatalf(f string, args ...any) {
	if l.fail(fmt.Errorf(f, args...)) {
		select {}
	}
	l.pebbleLogger.Fatalf(f, args...)
}

func openPebble(dir string, po *pebble.Options) (*pebble.DB, error) {
	p, err := pebble.Open(dir, po)
	if err != nil && (errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "mismatch")) {
		// Tables are missing, or cut off.
		err = fmt.Errorf("%w: %w", ErrCorrupt, &firstLine{err})
	}
	return p, refuse(classify(err))
}

// noteInterval is the time between two updates of the log's length in the inventory. It bounds the
// part of the log that could be cut off after a crash without being noticed.
const noteInterval = 10 * time.Second

// start starts the goroutines of the store.
func (db *DB) start() {
	if db.options.Periodic {
		db.every(db.options.SyncInterval, func() error {
			return db.pebble.LogData(nil, pebble.Sync)
		})
	}
	db.every(noteInterval, db.files.Note)
	db.every(diskspace.LookAgain, func() error { db.disk.Look(); return nil })
	if db.options.SweepInterval > 0 {
		db.every(db.options.SweepInterval, func() error { return db.sweep(false) })
	}
}

// every calls f periodically until Close.
func (db *DB) every(interval time.Duration, f func() error) {
	db.running.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-db.stop:
				return
			case <-tick.C:
				if err := f(); err != nil {
					db.options.Logger.Error("storage", "error", err)
				}
			}
		}
	})
}

// GiveUp makes writes fail that wait for disk space. These failures call Options.Failed. It is for
// a store that is about to be closed. Without such writes it does nothing.
func (db *DB) GiveUp() { db.disk.GiveUp() }

// Close waits for all that Open and others started, writes the data in memory, and releases the
// directory. The caller must have closed all iterators and views.
func (db *DB) Close() error {
	close(db.stop)
	db.GiveUp()
	db.running.Wait()
	var err error
	if db.options.Periodic {
		err = db.pebble.LogData(nil, pebble.Sync)
	}
	if err = errors.Join(err, db.pebble.Close()); err == nil {
		err = db.files.Seal()
	}
	return errors.Join(err, db.lock.Close())
}

// Meta returns a metadata value, or nil if there is none. Batch.SetMeta writes it.
func (db *DB) Meta(key string) ([]byte, error) {
	v, closer, err := db.pebble.Get(append([]byte{regionMeta}, key...))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("metadata %q: %w", key, classify(err))
	}
	v = append([]byte{}, v...)
	return v, closer.Close()
}

// MetaRange calls f for all metadata whose keys have the prefix, in the order of the keys, until f
// returns false. f must not keep value.
func (db *DB) MetaRange(prefix string, f func(key string, value []byte) bool) error {
	lower := append([]byte{regionMeta}, prefix...)
	it, err := db.pebble.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: []byte{regionMeta + 1}})
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	for ok := it.First(); ok && bytes.HasPrefix(it.Key(), lower); ok = it.Next() {
		if !f(string(it.Key()[1:]), it.Value()) {
			break
		}
	}
	return classify(errors.Join(it.Error(), it.Close()))
}

// pebbleLogger passes Pebble's messages to a slog.Logger.
type pebbleLogger struct {
	log    *slog.Logger
	failed func(error)
}

func (l *pebbleLogger) Infof(f string, args ...any)  { l.log.Debug(fmt.Sprintf(f, args...)) }
func (l *pebbleLogger) Errorf(f string, args ...any) { l.log.Error(fmt.Sprintf(f, args...)) }

// Fatalf is called if the log cannot be written while writers wait. The data in memory can no
// longer be made durable, and no later write may be acknowledged. So Fatalf ends the process.
func (l *pebbleLogger) Fatalf(f string, args ...any) {
	s := fmt.Sprintf(f, args...)
	l.log.Error(s)
	if l.failed != nil {
		l.failed(errors.New(s))
	}
	panic("storage: cannot go on: " + s)
}
