package storage

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// The kinds of errors of this package, for errors.Is. Their texts say what to
// do about them.
var (
	// ErrInUse: another process, or another DB in this one, has the directory.
	ErrInUse = errors.New("in use")
	// ErrForeign: the directory holds something else.
	ErrForeign = errors.New("not an evenkeel data directory")
	// ErrNewer: the directory was written by a newer version of the format.
	ErrNewer = errors.New("written by a newer version")
	// ErrOlder: the directory was written in an older format, and has what this
	// version does not read.
	ErrOlder = errors.New("written by an older version")
	// ErrCorrupt: what is on disk is not what was written.
	ErrCorrupt = errors.New("corrupt")
	// ErrMalformed: a caller's argument does not fit the table.
	ErrMalformed = errors.New("malformed")
)

// classify makes what Pebble calls corruption ErrCorrupt.
func classify(err error) error {
	if err != nil && !errors.Is(err, ErrCorrupt) && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
