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

// The kinds of errors of this package, for errors.Is. Their texts say what to
// do about them.
var (
	// ErrInUse: another process, or another DB in this one, has the directory.
	ErrInUse = errors.New("in use")
	// ErrForeign: the directory holds something else.
	ErrForeign = inventory.ErrForeign
	// ErrNewer: the directory was written by a newer version of the format.
	ErrNewer = inventory.ErrNewer
	// ErrOlder: the directory was written in an older format, and has what this
	// version does not read.
	ErrOlder = errors.New("written by an older version")
	// ErrCorrupt: what is on disk is not what was written.
	ErrCorrupt = inventory.ErrCorrupt
	// ErrFull: the disk has no room for a write, which was not made. Reads go on.
	ErrFull = diskspace.ErrFull
	// ErrFailed: the disk fails, and the write was not made.
	ErrFailed = diskspace.ErrFailed
	// ErrMalformed: a caller's argument does not fit the table.
	ErrMalformed = errors.New("malformed")
)

// classify makes what Pebble calls corruption ErrCorrupt.
func classify(err error) error {
	if err != nil && !errors.Is(err, ErrCorrupt) && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", ErrCorrupt, &firstLine{err})
	}
	return err
}

// firstLine is an error of Pebble's without the lines that are for its developers.
type firstLine struct{ error }

func (e *firstLine) Error() string {
	line, _, _ := strings.Cut(e.error.Error(), "\n")
	return line
}

func (e *firstLine) Unwrap() error { return e.error }

// refuse is why a store is not opened: where it is corrupt, with the way out.
func refuse(err error) error {
	if err != nil && errors.Is(err, ErrCorrupt) && !strings.Contains(err.Error(), "backup") {
		return fmt.Errorf("%w; restore the directory from a backup", err)
	}
	return err
}
