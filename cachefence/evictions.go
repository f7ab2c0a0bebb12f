// SPDX-License-Identifier: Apache-2.0

package cachefence

import (
	"sync/atomic"
	"time"
)

// Evictions counts the entries that a cache drops for want of room. It is a stats recorder of
// otter's, and ignores the other events.
type Evictions struct{ entries atomic.Int64 }

// Load returns the number of entries dropped so far.
func (e *Evictions) Load() int64 { return e.entries.Load() }

// RecordEviction implements otter's stats.Recorder.
func (e *Evictions) RecordEviction(uint32) { e.entries.Add(1) }

// RecordHits implements otter's stats.Recorder.
func (e *Evictions) RecordHits(int) {}

// RecordMisses implements otter's stats.Recorder.
func (e *Evictions) RecordMisses(int) {}

// RecordLoadSuccess implements otter's stats.Recorder.
func (e *Evictions) RecordLoadSuccess(time.Duration) {}

// RecordLoadFailure implements otter's stats.Recorder.
func (e *Evictions) RecordLoadFailure(time.Duration) {}
