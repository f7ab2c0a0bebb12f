// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"strconv"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/engine/storage"
)

// format is the version of all that this package stores. A change that older versions would misread
// raises it.
const (
	format        = 2
	formatPlain   = 1 // without streams, which older versions do not know
	formatStreams = 2
)

func formatKey(space *storage.Space) []byte { return []byte{space.Prefix, regionFormat} }

// setFormat adds to a batch that the data have a format.
func setFormat(b *pebble.Batch, space *storage.Space, n int) error {
	return b.Set(formatKey(space), strconv.AppendInt(nil, int64(n), 10), nil)
}

// checkFormat compares the format of the data with this version's, and writes it in a new store.
func checkFormat(space *storage.Space) error {
	v, err := get(space, formatKey(space))
	if err != nil {
		return err
	}
	if v == nil {
		return space.Pebble.Set(formatKey(space), strconv.AppendInt(nil, formatPlain, 10), pebble.Sync)
	}
	n, err := strconv.Atoi(string(v))
	if err != nil {
		return fmt.Errorf("%w: format version %q", storage.ErrCorrupt, v)
	}
	if n > format {
		return fmt.Errorf("%w of evenkeel: format %d of items, this one knows up to %d; use that version", storage.ErrNewer, n, format)
	}
	return nil
}
