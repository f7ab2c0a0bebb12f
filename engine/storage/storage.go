package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options is how a DB is opened. The zero value works.
type Options struct {
	// FS is the file system; default the machine's.
	FS vfs.FS

	// CacheBytes bounds the cache of blocks; default 64 MiB.
	CacheBytes int64

	// MemTableBytes is the size of one memtable, of which there are at most 2,
	// beside the cache; default 32 MiB.
	MemTableBytes int

	// Periodic acknowledges writes before they are on disk and syncs every
	// SyncInterval, as Cassandra's commitlog_sync: periodic does. Default
	// false: Commit returns when its batch is on disk.
	Periodic     bool
	SyncInterval time.Duration // default 1 s

	// SweepInterval is how often expired and deleted data are looked for;
	// default 10 minutes, negative never.
	SweepInterval time.Duration

	// Clock tells the time to the sweep (reads bring their own); default
	// time.Now.
	Clock func() time.Time

	// Logger gets what Pebble has to say; default none.
	Logger *slog.Logger
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

// memTables is how many there are at most.
const memTables = 2

// DB is an open store. It is safe for concurrent use.
type DB struct {
	dir     string
	pebble  *pebble.DB
	options Options
	lock    *pebble.Lock
	stripes stripes
	written int // the format that the data were written in

	mu     sync.Mutex
	tables map[[16]byte]*tableState

	sweeping sync.Mutex // one sweep at a time
	stop     chan struct{}
	running  sync.WaitGroup
}

// Open opens the store in dir, creating it where there is none. The errors say
// in plain words: ErrInUse, ErrForeign, ErrNewer, ErrCorrupt.
func Open(dir string, o Options) (*DB, error) {
	o = o.withDefaults()
	if err := o.FS.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		// What has a path is trouble with the LOCK file; the lock itself is
		// refused by a plain error.
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
	if err := identify(dir, o.FS); err != nil {
		return nil, err
	}
	// Pebble takes the memtables out of the cache.
	cache := pebble.NewCache(o.CacheBytes + memTables*int64(o.MemTableBytes))
	defer cache.Unref()
	po := &pebble.Options{
		Cache:                       cache,
		FS:                          o.FS,
		Lock:                        lock,
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: memTables,
		Merger:                      merger,
		Logger:                      pebbleLogger{o.Logger},
		EventListener: &pebble.EventListener{
			// The reader gets it as an error; Pebble would end the process.
			DataCorruption: func(c pebble.DataCorruptionInfo) {
				o.Logger.Error("storage: corrupt", "file", c.Path, "error", c.Details)
			},
		},
	}
	for i := range po.Levels {
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	p, err := pebble.Open(dir, po)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "mismatch") {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err) // files are missing, or cut off
		}
		return nil, classify(err)
	}
	db := &DB{dir: dir, pebble: p, options: o, tables: map[[16]byte]*tableState{}, stop: make(chan struct{})}
	if err := db.checkFormat(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return db, nil
}

// start runs what runs beside the callers.
func (db *DB) start() {
	if db.options.Periodic {
		db.every(db.options.SyncInterval, func() error {
			return db.pebble.LogData(nil, pebble.Sync)
		})
	}
	if db.options.SweepInterval > 0 {
		db.every(db.options.SweepInterval, func() error { return db.sweep(false) })
	}
}

// every calls f now and then until Close.
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

// Close waits for what Open and others started, writes what is in memory, and
// releases the directory. Iterators and views must be closed before.
func (db *DB) Close() error {
	close(db.stop)
	db.running.Wait()
	var err error
	if db.options.Periodic {
		err = db.pebble.LogData(nil, pebble.Sync)
	}
	return errors.Join(err, db.pebble.Close(), db.lock.Close())
}

// format is the version of all that this package has on disk: identity file,
// keys, rows. A change that older versions would misread raises it.
//
//	1  keys have a user-defined type's fields without an end
//	2  keys as ordered.go has them
const format = 2

// identityFile says whose directory it is, readable before Pebble is opened
// (which would make itself at home anywhere) and by people.
const (
	identityFile = "EVENKEEL"
	identityText = "evenkeel storage, format "
)

// identify checks the identity file, and writes it in an empty directory.
func identify(dir string, fs vfs.FS) error {
	path := fs.PathJoin(dir, identityFile)
	f, err := fs.Open(path)
	if err == nil {
		text, err := io.ReadAll(io.LimitReader(f, 256))
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if err := checkIdentity(string(text)); err != nil {
			return err
		}
		return checkComplete(dir, fs)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		// LOCK is ours since a moment; the temporary file is of a start that
		// did not get further.
		if name != "LOCK" && name != identityFile+".tmp" && name != "lost+found" {
			return fmt.Errorf("%w: it holds %s and other files, but no %s; choose an empty directory or a new one", ErrForeign, name, identityFile)
		}
	}
	return writeIdentity(dir, fs)
}

// writeIdentity makes the identity file, or replaces it.
func writeIdentity(dir string, fs vfs.FS) error {
	path := fs.PathJoin(dir, identityFile)
	tmp := path + ".tmp"
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, identityText+strconv.Itoa(format)+"\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(tmp, path); err != nil {
		return err
	}
	for _, d := range []string{dir, fs.PathDir(dir)} {
		f, err := fs.OpenDir(d)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func checkIdentity(text string) error {
	rest, ok := strings.CutPrefix(text, identityText)
	n, err := strconv.Atoi(strings.TrimSpace(rest))
	if !ok || err != nil {
		return fmt.Errorf("%w: its %s file says something else", ErrForeign, identityFile)
	}
	return checkVersion(n)
}

func checkVersion(n int) error {
	if n > format {
		return fmt.Errorf("%w of evenkeel: format %d, this one knows up to %d; use that version", ErrNewer, n, format)
	}
	return nil
}

// checkComplete refuses a directory that lost what says which tables are in it:
// Pebble would take it for a new one and remove the tables as left over.
func checkComplete(dir string, fs vfs.FS) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	tables, manifest := 0, false
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			tables++
		}
		manifest = manifest || strings.HasPrefix(name, "MANIFEST-")
	}
	if tables > 0 && !manifest {
		return fmt.Errorf("%w: %d tables and no MANIFEST; restore the directory from a backup", ErrCorrupt, tables)
	}
	return nil
}

var formatKey = []byte{regionOwn, 'f'}

// checkFormat compares the version kept with the data, and writes it in a new
// store.
func (db *DB) checkFormat() error {
	v, closer, err := db.pebble.Get(formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		db.written = format
		return db.pebble.Set(formatKey, strconv.AppendInt(nil, format, 10), pebble.Sync)
	}
	if err != nil {
		return classify(err)
	}
	db.written, err = strconv.Atoi(string(v))
	if err := errors.Join(err, closer.Close()); err != nil {
		return fmt.Errorf("%w: format version %q", ErrCorrupt, v)
	}
	return checkVersion(db.written)
}

// Raise makes the format of the data this version's, so that older versions no
// longer open them. tables are all that there are; the first one that this version
// would misread is an error.
func (db *DB) Raise(tables iter.Seq2[string, *Table]) error {
	if db.written == format {
		return nil
	}
	for name, t := range tables {
		if t.holdsUDT() {
			return fmt.Errorf("%w: table %s has a user-defined type in its keys, which an earlier version of evenkeel wrote in another form; "+
				"copy the table out with that version, and into a new directory", ErrOlder, name)
		}
	}
	if err := writeIdentity(db.dir, db.options.FS); err != nil {
		return fmt.Errorf("raise the format of %s: %w", db.dir, err)
	}
	if err := db.pebble.Set(formatKey, strconv.AppendInt(nil, format, 10), pebble.Sync); err != nil {
		return fmt.Errorf("raise the format of %s: %w", db.dir, classify(err))
	}
	db.written = format
	return nil
}

// Meta returns a metadata value, nil when there is none. Batch.SetMeta writes.
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

// MetaRange calls f with the metadata whose keys have the prefix, in order of
// keys, until f returns false. f must not keep value.
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

// pebbleLogger is Pebble's way to a slog.Logger.
type pebbleLogger struct{ log *slog.Logger }

func (l pebbleLogger) Infof(f string, args ...any)  { l.log.Debug(fmt.Sprintf(f, args...)) }
func (l pebbleLogger) Errorf(f string, args ...any) { l.log.Error(fmt.Sprintf(f, args...)) }

// Fatalf is called when the log cannot be written, with writers waiting: what
// is in memory can no longer be made durable, and no later write may be
// acknowledged. There is no going on.
func (l pebbleLogger) Fatalf(f string, args ...any) {
	s := fmt.Sprintf(f, args...)
	l.log.Error(s)
	panic("storage: cannot go on: " + s)
}
