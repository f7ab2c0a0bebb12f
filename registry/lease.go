// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Lease says how long a door may use what it has read of the catalogue. It ends when either the
// monotonic clock or the wall clock says so. The monotonic clock stops on a suspended machine,
// and an administrator may set the wall clock back. A Lease is safe for concurrent use.
type Lease struct {
	length atomic.Int64
	now    func() time.Time
	asked  atomic.Pointer[time.Time]
	over   atomic.Bool

	mu      sync.Mutex
	watched bool
	timer   *time.Timer // sets over
}

// NewLease makes a lease that has ended. now is the clock, with a monotonic reading. A length of
// 0 is for the only door of a store: that lease never ends.
func NewLease(length time.Duration, now func() time.Time) *Lease {
	l := &Lease{now: now}
	l.SetLength(length)
	return l
}

// Length returns how long the lease lasts after Renew.
func (l *Lease) Length() time.Duration { return time.Duration(l.length.Load()) }

// SetLength sets the length that the catalogue gives.
func (l *Lease) SetLength(length time.Duration) { l.length.Store(int64(length)) }

// Now reads the lease's clock, for Renew.
func (l *Lease) Now() time.Time { return l.now() }

// Renew makes the lease begin at asked. That is the time before the door sent the first of the
// requests whose answers it uses from now on. A time earlier than the present beginning changes
// nothing.
func (l *Lease) Renew(asked time.Time) {
	for {
		old := l.asked.Load()
		if old != nil && !asked.After(*old) {
			return
		}
		if l.asked.CompareAndSwap(old, &asked) {
			break
		}
	}
	length := l.Length()
	if length == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over.Store(false)
	if !l.watched {
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(length, l.look)
	} else {
		l.timer.Reset(length)
	}
}

// look is called when the lease's length has passed since the last renewal.
func (l *Lease) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.watched:
	case l.Holds(): // it is at its very end, or the timer uses another clock
		l.timer.Reset(l.Length()/8 + 1)
	default:
		l.over.Store(true)
	}
}

// Over says, without reading a clock, whether the door has noticed the end of the lease. In a
// process that was stopped it may say so late. So use it only where a late answer does no harm.
func (l *Lease) Over() bool { return l.over.Load() }

// Watch makes Over follow the lease, from the next Renew until Stop.
func (l *Lease) Watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = true
}

// Stop ends Watch.
func (l *Lease) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = false
	if l.timer != nil {
		l.timer.Stop()
	}
}

// Holds says whether the lease has not ended.
func (l *Lease) Holds() bool { return l.Length() == 0 || l.Left() >= 0 }

// Left returns how long the lease still holds: negative if it has ended, 0 if it never ends.
func (l *Lease) Left() time.Duration {
	length := l.Length()
	if length == 0 {
		return 0
	}
	asked := l.asked.Load()
	if asked == nil {
		return -length
	}
	return length - Age(l.now(), *asked)
}

// Began returns when the lease began: zero if it never did.
func (l *Lease) Began() time.Time {
	if asked := l.asked.Load(); asked != nil {
		return *asked
	}
	return time.Time{}
}

// Age returns how long before now a time was, by the monotonic or the wall clock, whichever gives
// more. now and then were read in this process.
func Age(now, then time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}
