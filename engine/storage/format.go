// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/storage/inventory"
)

// format is the version of all that this package has on disk: inventory, keys, rows.
// A change that older versions would misread raises it.
//
//	1  keys have a user-defined type's fields without an end
//	2  keys as ordered.go has them
//	3  and an inventory
const (
	format        = inventory.Format
	formatOrdered = 2
)

var formatKey = []byte{regionOwn, 'f'}

// checkFormat compares the version kept with the data, and writes it in a new
// store. Where nothing would be misread, it raises it.
func (db *DB) checkFormat() error {
	v, closer, err := db.pebble.Get(formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		// Pebble begins a new store's first log in its oldest format, whose chunks do
		// not say how much of the log was synced before them: damage in its midst would
		// be taken for its end. A flush begins another.
		return errors.Join(db.raise(), db.pebble.Flush())
	}
	if err != nil {
		return classify(err)
	}
	db.written, err = strconv.Atoi(string(v))
	if err := errors.Join(err, closer.Close()); err != nil {
		return fmt.Errorf("%w: format version %q", ErrCorrupt, v)
	}
	if db.written > format {
		return fmt.Errorf("%w of evenkeel: format %d, this one knows up to %d; use that version", ErrNewer, db.written, format)
	}
	if db.written < formatOrdered {
		if rows, err := db.holdsRows(); err != nil || rows {
			return err // Raise knows the tables
		}
	}
	return db.raise()
}

// holdsRows tells whether any table has anything.
func (db *DB) holdsRows() (bool, error) {
	it, err := db.pebble.NewIter(&pebble.IterOptions{LowerBound: []byte{regionData}, UpperBound: []byte{regionData + 1}})
	if err != nil {
		return false, classify(err)
	}
	rows := it.First()
	return rows, classify(errors.Join(it.Error(), it.Close()))
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
	return db.raise()
}

func (db *DB) raise() error {
	if err := db.files.Adopt(); err != nil {
		return fmt.Errorf("raise the format of %s: %w", db.dir, err)
	}
	if db.written == format {
		return nil
	}
	if err := db.pebble.Set(formatKey, strconv.AppendInt(nil, format, 10), pebble.Sync); err != nil {
		return fmt.Errorf("raise the format of %s: %w", db.dir, classify(err))
	}
	db.written = format
	return nil
}
