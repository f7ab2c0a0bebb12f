package storage

import "github.com/evenkeel/evenkeel/cql/value"

// TableSpec is what storage must know of a table.
type TableSpec struct {
	ID         [16]byte // never used again after the table is dropped
	Clustering []ClusteringColumn
	Columns    []Column // regular and static; cells of other columns (dropped ones) are not seen
	GCGrace    int64    // gc_grace_seconds: tombstones are kept at least so long
}

// ClusteringColumn is one column of the clustering.
type ClusteringColumn struct {
	Type *value.Type
	Desc bool
}

// Column is a regular or static column.
type Column struct {
	ID      uint32 // from 0; small is cheap; never used again in this table after a drop
	Static  bool
	Counter bool

	// Path is the type of Cell.Path for non-frozen collections and UDTs
	// (list: timeuuid, set: its element, map: its key, UDT: smallint); nil for
	// columns of one cell.
	Path *value.Type
}

// Table is a handle: a TableSpec in a DB. It is immutable; after ALTER TABLE
// ask the DB for another with the same id. Both may be in use at once.
type Table struct {
	db   *DB
	spec TableSpec
}

// Table makes a handle. It does no I/O beyond a look at the first use of an id.
func (db *DB) Table(spec TableSpec) (*Table, error) { panic("") }

// ID returns the table's id.
func (t *Table) ID() [16]byte { return t.spec.ID }

// Truncate removes everything in the table, at once and for good, whatever its
// timestamps.
func (t *Table) Truncate() error { panic("") }

// Stats is an estimate.
type Stats struct {
	Bytes      int64 // on disk and in memory
	Partitions int64
	Rows       int64
}

// Stats estimates from a sample, with a bounded number of reads.
func (t *Table) Stats() (Stats, error) { panic("") }
