package storage

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options is how a DB is opened. The zero value works.
type Options struct {
	// FS is the file system; default the machine's.
	FS vfs.FS

	// CacheBytes bounds the block cache; default 64 MiB.
	CacheBytes int64

	// MemTableBytes is the size of one memtable, of which there are at most 2;
	// default 32 MiB.
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

// DB is an open store. It is safe for concurrent use.
type DB struct{}

// Open opens the store in dir, creating it where there is none. The errors say
// in plain words: ErrInUse, ErrForeign, ErrNewer, ErrCorrupt.
func Open(dir string, o Options) (*DB, error) { panic("") }

// Close waits for what Open and others started, writes what is in memory, and
// releases the directory. Iterators and views must be closed before.
func (db *DB) Close() error { panic("") }

// DropTable removes the table's data for good. Handles of it must not be used
// again.
func (db *DB) DropTable(id [16]byte) error { panic("") }

// Sweep removes now what may be removed at the Clock's time, in all tables that
// have a handle. Tests and operators call it; it also runs every SweepInterval.
func (db *DB) Sweep() error { panic("") }

// Meta returns a metadata value, nil when there is none. Batch.SetMeta writes.
func (db *DB) Meta(key string) ([]byte, error) { panic("") }

// MetaRange calls f with the metadata whose keys have the prefix, in order of
// keys, until f returns false. f must not keep value.
func (db *DB) MetaRange(prefix string, f func(key string, value []byte) bool) error { panic("") }
