// SPDX-License-Identifier: Apache-2.0

package read

import (
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// rowWidth is the size, in bytes, of a row that a SELECT fetches. All readers of equal statements share
// it, and learn it from the responses.
type rowWidth struct{ bytes *atomic.Int64 }

// known returns the size of a row; 0: no reader knows it yet.
func (w rowWidth) known() int { return int(w.bytes.Load()) }

// learn notes the size of a row. If the size is larger than the known one, it becomes the known one. If it is
// smaller, learn lowers the known size by at most a quarter.
func (w rowWidth) learn(width int) {
	known := w.bytes.Load()
	w.bytes.Store(max(int64(width), known-known/4, 1))
}

// firstLook notes the size of a row from the first response. It returns false if the size was known or
// if the response has no rows.
func (w rowWidth) firstLook(body []byte) bool {
	rows, err := wire.ParseRows(body)
	if err != nil || rows.Count == 0 || w.known() != 0 {
		return false
	}
	w.learn(len(body) / rows.Count)
	return true
}

// wide reports whether a page of want rows from so many shards will probably have more than held bytes.
func (w rowWidth) wide(want, shards, held int) bool {
	return w.bytes.Load()*int64(want+2*shards) > int64(held)
}

// span returns how many rows of a long page the door merges at once. It is at least window and at most
// longSpan, and otherwise as many rows as take half of held bytes. The more rows the door merges at
// once, the less often it asks each shard.
func (w rowWidth) span(held int) int {
	width := w.known()
	if width == 0 {
		return window
	}
	return max(window, min(held/2/width, longSpan))
}

// longSpan is the largest number that span returns.
const longSpan = 100_000
