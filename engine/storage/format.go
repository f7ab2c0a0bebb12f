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

// format is the version of all that this package has on disk: inventory, keys, rows. A change that
// older versions would misread raises it.
//
//	1  the fields of a user-defined type in a key have no end mark
//	2  keys are as described in ordered.go
//	3  there is an inventory, too
const (
	format        = inventory.Format
	formatOrdered = 2
)

var formatKey = []byte{regionOwn, 'f'}

// checkFormat compares the version that is stored with the data. In a new store it writes the
// version. If no data would be misread, it raises the version.
func (db *DB) checkFormat() error {
	v, closer, err := db.pebble.Get(formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		// Pebble begins the first log of a new store in its oldest format. The chunks of that
		// format do not say how much of the log was synced before them, so that damage in the
		// middle would be taken for the end of the log. A flush begins another log.
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

// holdsRows reports whether any table contains data.
func (db *DB) holdsRows() (bool, error) {
	it, err := db.pebble.NewIter(&pebble.IterOptions{LowerBound: []byte{regionData}, UpperBound: []byte{regionData + 1}})
	if err != nil {
		return false, classify(err)
	}
	rows := it.First()
	return rows, classify(errors.Join(it.Error(), it.Close()))
}

// Raise raises the format of the data to this version's, so that older versions no longer open
// them. tables must be all tables. Raise returns an error for the first table that this version
// would misread.
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
