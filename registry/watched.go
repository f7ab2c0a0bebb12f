// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"sync"
	"time"
)

// Watched measures for how long a door has seen things unchanged. The door uses it to judge that another
// door has left an operation unfinished. Watched counts by the door's own monotonic clock. It does not use
// a time that another door has written, because the clocks of two machines can differ by minutes. A Watched is safe
// for concurrent use.
type Watched struct {
	now  func() time.Time
	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is the state of a thing, and when the door first saw it in that state.
type sighting struct {
	state string
	since time.Time
}

// NewWatched makes a Watched that has seen nothing. now is the door's clock, with a monotonic reading.
func NewWatched(now func() time.Time) *Watched {
	return &Watched{now: now, seen: map[string]sighting{}}
}

// Unchanged takes the present state of a thing, and returns for how long the door has seen it in that
// state. No two operations may give a thing the same state.
func (w *Watched) Unchanged(name, state string) time.Duration {
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.seen[name]; ok && s.state == state {
		return now.Sub(s.since)
	}
	w.seen[name] = sighting{state, now}
	return 0
}

// Keep forgets each thing for which has returns false.
func (w *Watched) Keep(has func(name string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.seen {
		if !has(name) {
			delete(w.seen, name)
		}
	}
}
