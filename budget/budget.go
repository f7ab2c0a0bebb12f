// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"container/list"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrNoRoom is the error of a request that has waited for as long as it may.
var ErrNoRoom = errors.New("too many long requests and answers are under way; try again in a moment")

// DefaultPatience is how long a request may wait. Clients try again after that.
const DefaultPatience = 10 * time.Second

// Budget is how many bytes requests may hold together. It is safe for concurrent use.
type Budget struct {
	size     int64
	short    int64 // a request that holds no more is a short one
	reserved int64 // for short ones
	patience time.Duration

	queued  atomic.Int64 // bytes that clients leave unread; part of long
	refused atomic.Int64

	mu     sync.Mutex
	shorts int64  // bytes that short requests hold
	long   int64  // bytes that all others hold
	young  elders // the short requests that hold something
	old    elders // the long ones
	births uint64

	shortQueue queue     // of takes that leave the request a short one
	growing    list.List // of *waiter: takes of long requests that hold something, the eldest first
	longQueue  queue     // of takes by requests that hold nothing
}

// New makes a budget of so many bytes. A patience of 0 means DefaultPatience.
func New(size int64, patience time.Duration) *Budget {
	if patience == 0 {
		patience = DefaultPatience
	}
	return &Budget{size: size, short: min(1<<20, size/64), reserved: size / 8, patience: patience}
}

// Stats is what a budget has counted.
type Stats struct {
	Size     int64 // bytes
	Held     int64 // bytes that requests and unread answers hold
	Requests int   // that hold something
	Waiting  int   // takes that wait
	Refused  int64 // takes that waited in vain, since the budget was made
}

// Stats counts.
func (b *Budget) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Stats{
		Size: b.size, Held: b.shorts + b.long, Requests: b.young.Len() + b.old.Len(),
		Waiting: b.shortQueue.waiting + b.longQueue.waiting + b.growing.Len(), Refused: b.refused.Load(),
	}
}

// Crowded reports whether unread answers take half of the budget. It takes no lock.
func (b *Budget) Crowded() bool { return b != nil && b.queued.Load() > b.size/2 }

// request is what all accounts of one request hold together. Its budget's mu guards it.
type request struct {
	of     *Budget
	client *Client

	bytes   int64
	long    bool          // its bytes count among the long ones
	birth   uint64        // when it joined the elders that it is among
	at      *list.Element // among the elders; nil while it holds nothing
	waiters []*waiter     // its takes that wait
	waited  time.Duration // in all
}

// fits says whether a request may hold so many bytes more. The caller holds mu.
func (b *Budget) fits(r *request, bytes int64) bool {
	if b.staysShort(r, bytes) {
		return b.shorts+bytes <= b.reserved || !b.longWaits() && b.shorts+b.long+bytes <= b.size
	}
	var moved int64 // from the short ones
	if !r.long {
		moved = r.bytes
	}
	return b.long+moved+bytes+max(b.shorts-moved, b.reserved) <= b.size
}

// longWaits says whether a long request waits. The caller holds mu.
func (b *Budget) longWaits() bool { return b.growing.Len()+b.longQueue.waiting > 0 }

// elders are requests that hold something, those that have been among them for longest
// first.
type elders struct{ list.List }

// first is the eldest, nil where there is none.
func (e *elders) first() *request {
	if at := e.Front(); at != nil {
		return at.Value.(*request)
	}
	return nil
}

// staysShort says whether a request is a short one with so many bytes more.
func (b *Budget) staysShort(r *request, bytes int64) bool { return !r.long && r.bytes+bytes <= b.short }

// eldest says whether a request gets so many bytes more as the eldest of those that hold
// anything, of the short ones or of the long ones. It does not push out answers that
// clients leave unread. The caller holds mu.
func (b *Budget) eldest(r *request, bytes int64) bool {
	all := &b.old
	if b.staysShort(r, bytes) {
		all = &b.young
	} else if queued := b.queued.Load(); queued > 0 && queued+r.bytes+bytes > b.size {
		return false
	}
	e := all.first()
	return e == nil || e == r
}

// hold gives a request bytes. The caller holds mu.
func (b *Budget) hold(r *request, bytes int64) {
	if bytes == 0 {
		return
	}
	short := b.staysShort(r, bytes)
	if r.at == nil && short {
		b.join(&b.young, r)
	} else if !r.long && !short {
		b.lengthen(r)
	}
	r.bytes += bytes
	if r.long {
		b.long += bytes
	} else {
		b.shorts += bytes
	}
}

// join makes a request the last of the elders. The caller holds mu.
func (b *Budget) join(all *elders, r *request) {
	b.births++
	r.birth, r.at = b.births, all.PushBack(r)
}

// lengthen makes a request a long one. The caller holds mu.
func (b *Budget) lengthen(r *request) {
	if r.at != nil {
		b.young.Remove(r.at)
	}
	r.long = true
	b.join(&b.old, r)
	b.shorts -= r.bytes
	b.long += r.bytes
	for _, w := range r.waiters { // which are not short takes any more
		if w.in == &b.shortQueue {
			w.in.remove(&r.client.short, w, false)
			w.in = nil
			b.grow(w)
		}
	}
}

// giveBack takes bytes from a request. The caller holds mu.
func (b *Budget) giveBack(r *request, bytes int64) {
	r.bytes -= bytes
	all := &b.young
	if r.long {
		b.long -= bytes
		all = &b.old
	} else {
		b.shorts -= bytes
	}
	if r.bytes == 0 && r.at != nil {
		all.Remove(r.at)
		r.at, r.long = nil, false
	}
}
