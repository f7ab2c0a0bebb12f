// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/storage/diskspace"
	"github.com/evenkeel/evenkeel/engine/storage/inventory"
)

// The kinds of errors of this package, for errors.Is. The texts of the errors tell the operator
// what to do.
var (
	// ErrInUse: another process, or another DB in this one, has the directory.
	ErrInUse = errors.New("in use")
	// ErrForeign: the directory holds something else.
	ErrForeign = inventory.ErrForeign
	// ErrNewer: the directory was written by a newer version of the format.
	ErrNewer = inventory.ErrNewer
	// ErrOlder: the directory was written in an older format, and contains data that this version
	// does not read.
	ErrOlder = errors.New("written by an older version")
	// ErrCorrupt: the data on disk differ from the data that were written.
	ErrCorrupt = inventory.ErrCorrupt
	// ErrFull: the disk has no space for a write. The write was not made. Reads go on.
	ErrFull = diskspace.ErrFull
	// ErrFailed: the disk fails. The write was not made.
	ErrFailed = diskspace.ErrFailed
	// ErrMalformed: an argument of the caller does not fit the table.
	ErrMalformed = errors.New("malformed")
)

// classify returns errors that Pebble calls corruption as ErrCorrupt.
func classify(err error) error {
	if err != nil && !errors.Is(err, ErrCorrupt) && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", ErrCorrupt, &firstLine{err})
	}
	return err
}

// firstLine is an error of Pebble without the lines for Pebble's developers.
type firstLine struct{ error }

func (e *firstLine) Error() string {
	line, _, _ := strings.Cut(e.error.Error(), "\n")
	return line
}

func (e *firstLine) Unwrap() error { return e.error }

// refuse returns the error of a store that is not opened. If the store is corrupt, the error says
// what to do.
func refuse(err error) error {
	if err != nil && errors.Is(err, ErrCorrupt) && !strings.Contains(err.Error(), "backup") {
		return fmt.Errorf("%w; restore the directory from a backup", err)
	}
	return err
}
