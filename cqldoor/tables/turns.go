// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"sync"
	"sync/atomic"
)

// Turns lets callers share rounds of one piece of work. A caller may use the result of a round that began
// after the call. So all who call while a round runs share the next one.
type Turns[T any] struct {
	running sync.Mutex    // held during a round
	calls   atomic.Uint64 // number of calls so far
	served  uint64        // number of calls when the last shared round began; it serves all of these
	result  T             // the result of that round
}

// Join returns the result of a round. If round returns shared as false, only its own caller uses the
// result.
func (t *Turns[T]) Join(round func() (result T, shared bool)) T {
	ticket := t.calls.Add(1)
	t.running.Lock()
	defer t.running.Unlock()
	if t.served >= ticket {
		return t.result
	}
	begun := t.calls.Load()
	result, shared := round()
	if shared {
		t.served, t.result = begun, result
	}
	return result
}
