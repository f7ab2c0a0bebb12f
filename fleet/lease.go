// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Lease says for how long what a door has read of the catalogue may be gone by. It
// is over when the monotonic clock says so or the wall clock does: a machine that was
// suspended stops the first, and an administrator may set the second back. A Lease is safe
// for concurrent use.
type Lease struct {
	length atomic.Int64
	now    func() time.Time
	asked  atomic.Pointer[time.Time]
	over   atomic.Bool

	mu      sync.Mutex
	watched bool
	timer   *time.Timer // sets over
}

// NewLease makes a lease that is over. now is the clock, with a monotonic reading.
// A length of 0 is that of the only door on a store: it is never over.
func NewLease(length time.Duration, now func() time.Time) *Lease {
	l := &Lease{now: now}
	l.SetLength(length)
	return l
}

// Length is how long it lasts after Renew.
func (l *Lease) Length() time.Duration { return time.Duration(l.length.Load()) }

// SetLength sets the length, as the catalogue has it.
func (l *Lease) SetLength(length time.Duration) { l.length.Store(int64(length)) }

// Now reads the lease's clock, for Renew.
func (l *Lease) Now() time.Time { return l.now() }

// Renew lets the lease begin at a time, which is the one before the first of the
// questions was asked whose answers the door goes by from now on. A time before the one
// that the lease began at changes nothing.
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
	l.over.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.watched {
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(length, l.look)
	} else {
		l.timer.Reset(length)
	}
}

// look is called a length after the lease was renewed for the last time.
func (l *Lease) look() {
	if l.Holds() { // at its very end, or by another clock than the timer's
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.watched {
			l.timer.Reset(l.Length()/8 + 1)
		}
		return
	}
	l.over.Store(true)
}

// Over says, without looking at a clock, whether the lease was seen to be over. It may say
// so late, in a process that was stopped: it is for what is merely wiser not to do then.
func (l *Lease) Over() bool { return l.over.Load() }

// Watch has Over follow the lease, from the next Renew until Stop.
func (l *Lease) Watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = true
}

// Stop ends what Watch began.
func (l *Lease) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = false
	if l.timer != nil {
		l.timer.Stop()
	}
}

// Holds says whether the lease is not over.
func (l *Lease) Holds() bool {
	length := l.Length()
	if length == 0 {
		return true
	}
	asked := l.asked.Load()
	if asked == nil {
		return false
	}
	now := l.now()
	return now.Sub(*asked) <= length && now.UnixNano()-asked.UnixNano() <= int64(length)
}

// Left is for how long the lease still holds, negative where it is over; 0 for one that
// is never over.
func (l *Lease) Left() time.Duration {
	length := l.Length()
	if length == 0 {
		return 0
	}
	asked := l.asked.Load()
	if asked == nil {
		return -length
	}
	now := l.now()
	return length - max(now.Sub(*asked), time.Duration(now.UnixNano()-asked.UnixNano()))
}
