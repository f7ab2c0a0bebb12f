package storage

// Batch is mutations to be applied at once, over any partitions and tables. It
// is a cursor: Partition selects a partition, Row and Static a row in it, and
// the other methods write there. Several mutations of one row are reconciled
// like all others. Arguments are copied; a malformed one is reported by Commit.
//
// A Batch is for one goroutine. After Commit it is empty and may be used again.
type Batch struct{}

// NewBatch makes a batch. Release gives its memory back for the next.
func (db *DB) NewBatch() *Batch { panic("") }

// Release ends the use of the batch, committed or not.
func (b *Batch) Release() { panic("") }

// Partition selects a partition.
func (b *Batch) Partition(t *Table, token int64, key []byte) { panic("") }

// DeletePartition deletes the partition, its static row included.
func (b *Batch) DeletePartition(d Deletion) { panic("") }

// DeleteSlice deletes the rows of a slice (a range tombstone).
func (b *Batch) DeleteSlice(s Slice, d Deletion) { panic("") }

// Row selects a row by its full clustering, one value a clustering column.
func (b *Batch) Row(clustering [][]byte) { panic("") }

// Static selects the static row.
func (b *Batch) Static() { panic("") }

// Marker makes the row exist (INSERT).
func (b *Batch) Marker(l Liveness) { panic("") }

// DeleteRow deletes the row: its marker and all its cells.
func (b *Batch) DeleteRow(d Deletion) { panic("") }

// Set writes a cell.
func (b *Batch) Set(c Cell) { panic("") }

// Unset deletes a cell; path is nil for atomic columns.
func (b *Batch) Unset(column uint32, path []byte, d Deletion) { panic("") }

// DeleteComplex deletes all elements of a collection or UDT. (An overwrite is
// this with a timestamp one less than that of the new elements.)
func (b *Batch) DeleteComplex(column uint32, d Deletion) { panic("") }

// Add adds to a counter. Commit reads the counter's value, under its
// partition's lock, and writes the sum.
func (b *Batch) Add(column uint32, delta, timestamp int64) { panic("") }

// SetMeta writes a metadata value; nil removes it.
func (b *Batch) SetMeta(key string, value []byte) { panic("") }

// Empty tells whether nothing was written.
func (b *Batch) Empty() bool { panic("") }

// Commit applies the batch. When it returns nil the batch is durable
// (Options.Periodic aside); when it returns an error the batch is not applied,
// or, where the disk failed, of unknown fate.
func (b *Batch) Commit() error { panic("") }

// CommitGuarded is Commit inside a Guard, which must hold every partition that
// the batch writes to.
func (b *Batch) CommitGuarded(g *Guard) error { panic("") }

// PartitionRef names a partition.
type PartitionRef struct {
	Table *Table
	Token int64
	Key   []byte
}

// Guard is exclusive use of partitions for read-check-write (lightweight
// transactions): no other batch is applied to them before Unlock, so that what
// is read under it is what CommitGuarded writes over. Guards are short: other
// writers, also of partitions that share a lock by chance, wait. Never take one
// while holding one, nor Commit while holding one.
type Guard struct{}

// Guard locks partitions, in an order that cannot deadlock.
func (db *DB) Guard(partitions ...PartitionRef) *Guard { panic("") }

// Unlock ends the guard.
func (g *Guard) Unlock() { panic("") }

// Settle waits until everything that was visible under the guard is durable: to
// be called before a result that was read, and not written, is reported.
func (g *Guard) Settle() error { panic("") }
