// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/cql/value"
)

// TableSpec is what storage must know of a table.
type TableSpec struct {
	ID         [16]byte // never used again after the table is dropped
	Clustering []ClusteringColumn
	Columns    []Column // regular and static, those that were dropped too; cells of others are not seen
	GCGrace    int64    // gc_grace_seconds: tombstones are kept at least so long
}

// ClusteringColumn is one column of the clustering.
type ClusteringColumn struct {
	Type *value.Type
	Desc bool

	injective bool
}

// Column is a regular or static column.
type Column struct {
	ID      uint32 // from 0; small is cheap; another column never has it
	Static  bool
	Counter bool

	// DroppedAt is when the column was last dropped, in microseconds: cells with this
	// timestamp or an earlier one are not seen, though it was added again since. nil: it
	// never was.
	DroppedAt *int64

	// Absent says that the column is dropped now: no cell of it is seen or written, and
	// those after DroppedAt are kept for when it is added again.
	Absent bool

	// Path is the type of Cell.Path for non-frozen collections and UDTs
	// (list: timeuuid, set: its element, map: its key, UDT: smallint); nil for
	// columns of one cell.
	Path *value.Type
}

// maxColumn bounds column ids, which index a slice.
const maxColumn = 1 << 20

// Table is a handle: a TableSpec in a DB. It is immutable; after ALTER TABLE
// ask the DB for another with the same id. Both may be in use at once.
type Table struct {
	db        *DB
	spec      TableSpec
	state     *tableState
	columns   []tableColumn // by id
	injective bool          // all clustering columns are
}

type tableColumn struct {
	known         bool
	absent        bool
	static        bool
	counter       bool
	path          *value.Type
	pathInjective bool
	floor         int64 // cells of this timestamp or an earlier one are not seen
}

// tableState is what all handles of a table share.
type tableState struct {
	id     [16]byte
	latest atomic.Pointer[Table]

	// deletions is false while the table is known to have no deletions of
	// partitions or slices, so that a read need not look for them. It is set
	// before the first is applied, and never goes back: a reader that finds it
	// false after it took its view of the data knows that none is in there.
	// stored is whether it is on disk, too.
	deletions atomic.Bool
	stored    atomic.Bool

	// garbage is whether anything in the table ever was a deletion or expires;
	// marked is whether that is on disk; fresh whether it came since the last
	// sweep began. narrowed counts columns lost and not yet swept.
	garbage, marked, fresh atomic.Bool
	narrowed               atomic.Int64

	// Of the last sweep, in seconds: when it began, when what it left can be
	// due, and until when to leave the table alone.
	began, due, rest int64

	// started and finished count the batches with such deletions, so that a
	// reader can tell that none was applied between two looks.
	started, finished atomic.Int64
}

// Table makes a handle. It does no I/O beyond a look at the first use of an id.
func (db *DB) Table(spec TableSpec) (*Table, error) {
	t := &Table{db: db, spec: spec, injective: true}
	t.spec.Clustering = append([]ClusteringColumn(nil), spec.Clustering...)
	for i := range t.spec.Clustering {
		c := &t.spec.Clustering[i]
		c.injective = injective(c.Type)
		t.injective = t.injective && c.injective
	}
	for _, c := range spec.Columns {
		if c.ID > maxColumn {
			return nil, fmt.Errorf("table %x: column id %d: %w", spec.ID, c.ID, ErrMalformed)
		}
		for len(t.columns) <= int(c.ID) {
			t.columns = append(t.columns, tableColumn{})
		}
		if t.columns[c.ID].known {
			return nil, fmt.Errorf("table %x: two columns of id %d: %w", spec.ID, c.ID, ErrMalformed)
		}
		t.columns[c.ID] = tableColumn{known: true, absent: c.Absent, static: c.Static, counter: c.Counter, path: c.Path, floor: noTimestamp}
		if c.DroppedAt != nil {
			t.columns[c.ID].floor = *c.DroppedAt
		}
		if c.Path != nil {
			t.columns[c.ID].pathInjective = injective(c.Path)
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t.state = db.tables[spec.ID]
	if t.state == nil {
		t.state = &tableState{id: spec.ID}
		v, err := db.get(deletionsKey(&spec.ID))
		if err != nil {
			return nil, fmt.Errorf("table %x: %w", spec.ID, err)
		}
		t.state.deletions.Store(v != nil)
		t.state.stored.Store(v != nil)
		if v, err = db.get(garbageKey(&spec.ID)); err != nil {
			return nil, fmt.Errorf("table %x: %w", spec.ID, err)
		}
		t.state.garbage.Store(v != nil)
		t.state.marked.Store(v != nil)
		db.tables[spec.ID] = t.state
	}
	if last := t.state.latest.Swap(t); last != nil && t.narrows(last) {
		t.state.garbage.Store(true)
		t.state.narrowed.Add(1)
	}
	return t, nil
}

// deletionsKey is there when the table may have deletions of partitions or
// slices.
func deletionsKey(id *[16]byte) []byte {
	return append([]byte{regionOwn, 'd'}, id[:]...)
}

// garbageKey is there when the table may have deletions or what expires.
func garbageKey(id *[16]byte) []byte {
	return append([]byte{regionOwn, 'g'}, id[:]...)
}

// narrows tells whether t sees less of a column than other.
func (t *Table) narrows(other *Table) bool {
	for id := range other.columns {
		if c := &other.columns[id]; c.known && t.purgeable(uint32(id), c.floor+1) {
			return true
		}
	}
	return false
}

// purgeable says whether no read, now or later, sees a cell of the column and timestamp.
func (t *Table) purgeable(column uint32, timestamp int64) bool {
	if column >= uint32(len(t.columns)) || !t.columns[column].known {
		return true
	}
	return timestamp <= t.columns[column].floor
}

// ID returns the table's id.
func (t *Table) ID() [16]byte { return t.spec.ID }

// column is a column that is there; nil of others.
func (t *Table) column(id uint32) *tableColumn {
	if id < uint32(len(t.columns)) && t.columns[id].known && !t.columns[id].absent {
		return &t.columns[id]
	}
	return nil
}

// holdsUDT tells whether a key or a path has a user-defined type in it.
func (t *Table) holdsUDT() bool {
	return slices.ContainsFunc(t.spec.Clustering, func(c ClusteringColumn) bool { return c.Type.Contains(value.UDT) }) ||
		slices.ContainsFunc(t.columns, func(c tableColumn) bool { return c.path != nil && c.path.Contains(value.UDT) })
}

// Truncate removes everything in the table, at once and for good, whatever its
// timestamps.
func (t *Table) Truncate() error {
	if err := t.db.removeTable(t.spec.ID); err != nil {
		return fmt.Errorf("truncate table %x: %w", t.spec.ID, err)
	}
	return nil
}

// DropTable removes the table's data for good. Handles of it must not be used
// again.
func (db *DB) DropTable(id [16]byte) error {
	if err := db.removeTable(id); err != nil {
		return fmt.Errorf("drop table %x: %w", id, err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.tables, id)
	return nil
}

// removeTable excludes all who read before they write, who would bring back
// what they read.
func (db *DB) removeTable(id [16]byte) error {
	if err := db.disk.Admit(0, true); err != nil {
		return err
	}
	db.stripes.lockAll()
	defer db.stripes.unlockAll()
	b := db.pebble.NewBatch()
	defer b.Close()
	err := errors.Join(
		b.DeleteRange(appendTablePrefix(nil, &id), appendTableEnd(nil, &id), nil),
		b.Delete(deletionsKey(&id), nil),
		b.Delete(garbageKey(&id), nil),
		db.pebble.Apply(b, pebble.Sync),
	)
	db.mu.Lock()
	defer db.mu.Unlock()
	if s := db.tables[id]; s != nil {
		// deletions stays: readers may still look at what was before.
		s.stored.Store(false)
		s.marked.Store(false)
	}
	return err
}
