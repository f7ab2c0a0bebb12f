// SPDX-License-Identifier: Apache-2.0

// Package register checks that a history of reads and increments of a counter is linearizable.
package register

import (
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cachefence"
)

// Register is a counter in a store, to which each write adds 1. A counter only grows. So a
// history is linearizable if each read returns at least what was acknowledged or read before the
// read began, and at most the number of writes that had begun when the read ended.
type Register struct{ begun, acknowledged, seen atomic.Int64 }

// Begin counts a write that a client is about to send.
func (r *Register) Begin() { r.begun.Add(1) }

// Acknowledge counts a write that the store has acknowledged.
func (r *Register) Acknowledge() { r.acknowledged.Add(1) }

// Floor returns the least value that a read which begins now may return.
func (r *Register) Floor() int64 { return max(r.acknowledged.Load(), r.seen.Load()) }

// Check fails the test if a read that has just ended cannot have returned value. floor is what
// Floor returned before the read began.
func (r *Register) Check(t *testing.T, what string, floor, value int64) {
	t.Helper()
	if value < floor {
		t.Errorf("%s: %d, after %d", what, value, floor)
	}
	if most := r.begun.Load(); value > most {
		t.Errorf("%s: %d, when %d had been written", what, value, most)
	}
	cachefence.Raise(&r.seen, value)
}
