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

// TableSpec is the description of a table as storage needs it.
type TableSpec struct {
	ID         [16]byte // never used again after the table is dropped
	Clustering []ClusteringColumn
	Columns    []Column // regular and static columns, including dropped ones; cells of other columns are invisible
	GCGrace    int64    // gc_grace_seconds: tombstones are kept at least for this time
}

// ClusteringColumn is one column of the clustering.
type ClusteringColumn struct {
	Type *value.Type
	Desc bool

	injective bool
}

// Column is a regular or static column.
type Column struct {
	ID      uint32 // from 0; small ids cost less; never used again for another column
	Static  bool
	Counter bool

	// DroppedAt is the time when the column was last dropped, in microseconds. Cells with this
	// timestamp or an earlier one are invisible, even if the column was added again. nil: it never
	// was dropped.
	DroppedAt *int64

	// Absent says that the column is dropped now: its cells are neither read nor written. Those
	// after DroppedAt are kept for the case that the column is added again.
	Absent bool

	// Path is the type of Cell.Path for non-frozen collections and UDTs (list: timeuuid, set: its
	// element, map: its key, UDT: smallint); nil for columns with one cell.
	Path *value.Type
}

// maxColumn bounds column ids, because they are the indexes of a slice.
const maxColumn = 1 << 20

// Table is a handle: a TableSpec in a DB. It is immutable. After ALTER TABLE, ask the DB for
// another handle with the same id. Both may be in use at the same time.
type Table struct {
	db        *DB
	spec      TableSpec
	state     *tableState
	columns   []tableColumn // by id
	injective bool          // all clustering columns are injective
}

type tableColumn struct {
	known         bool
	absent        bool
	static        bool
	counter       bool
	path          *value.Type
	pathInjective bool
	floor         int64 // cells with this timestamp or an earlier one are invisible
}

// tableState is the state that all handles of a table share.
type tableState struct {
	id     [16]byte
	latest atomic.Pointer[Table]

	// deletions is false while the table certainly has no deletions of partitions or slices, so
	// that a read need not look for them. It is set before the first one is applied, and is never
	// reset. If a reader finds it false after it took its view of the data, there is none in the
	// view. stored says that the mark on disk is set, too.
	deletions atomic.Bool
	stored    atomic.Bool

	// garbage says that the table ever had a deletion or expiring data. marked says that this mark
	// is on disk. fresh says that such data came since the last sweep began. narrowed counts
	// columns that were lost and not yet swept.
	garbage, marked, fresh atomic.Bool
	narrowed               atomic.Int64

	// Times of the last sweep, in seconds: when it began, when data that it left can be due, and
	// until when the sweep must leave the table alone.
	began, due, rest int64

	// started and finished count the batches with such deletions, so that a reader can detect that
	// none was applied between two reads.
	started, finished atomic.Int64
}

// Table returns a handle. It does no I/O except a read at the first use of an id.
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

// deletionsKey returns the key that exists if the table may have deletions of partitions or slices.
func deletionsKey(id *[16]byte) []byte {
	return append([]byte{regionOwn, 'd'}, id[:]...)
}

// garbageKey returns the key that exists if the table may have deletions or expiring data.
func garbageKey(id *[16]byte) []byte {
	return append([]byte{regionOwn, 'g'}, id[:]...)
}

// narrows reports whether t sees less of a column than other.
func (t *Table) narrows(other *Table) bool {
	for id := range other.columns {
		if c := &other.columns[id]; c.known && t.purgeable(uint32(id), c.floor+1) {
			return true
		}
	}
	return false
}

// purgeable reports whether no read, now or later, sees a cell with this column and timestamp.
func (t *Table) purgeable(column uint32, timestamp int64) bool {
	if column >= uint32(len(t.columns)) || !t.columns[column].known {
		return true
	}
	return timestamp <= t.columns[column].floor
}

// ID returns the table's id.
func (t *Table) ID() [16]byte { return t.spec.ID }

// column returns a column that exists and is not dropped; else nil.
func (t *Table) column(id uint32) *tableColumn {
	if id < uint32(len(t.columns)) && t.columns[id].known && !t.columns[id].absent {
		return &t.columns[id]
	}
	return nil
}

// holdsUDT reports whether a key or a path contains a user-defined type.
func (t *Table) holdsUDT() bool {
	return slices.ContainsFunc(t.spec.Clustering, func(c ClusteringColumn) bool { return c.Type.Contains(value.UDT) }) ||
		slices.ContainsFunc(t.columns, func(c tableColumn) bool { return c.path != nil && c.path.Contains(value.UDT) })
}

// Truncate removes everything in the table, at once and finally, whatever the timestamps are.
func (t *Table) Truncate() error {
	if err := t.db.removeTable(t.spec.ID); err != nil {
		return fmt.Errorf("truncate table %x: %w", t.spec.ID, err)
	}
	return nil
}

// DropTable removes the table's data finally. Its handles must not be used again.
func (db *DB) DropTable(id [16]byte) error {
	if err := db.removeTable(id); err != nil {
		return fmt.Errorf("drop table %x: %w", id, err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.tables, id)
	return nil
}

// removeTable removes the data of a table. It excludes all callers that read before they write:
// they would write back what they have read.
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
		// deletions stays set: readers may still look at the old data.
		s.stored.Store(false)
		s.marked.Store(false)
	}
	return err
}
