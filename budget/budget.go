// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"container/list"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrNoRoom is the error of a request that has waited as long as it may.
var ErrNoRoom = errors.New("too many long requests and answers are under way; try again in a moment")

// DefaultPatience is how long a request may wait. Clients try again after that.
const DefaultPatience = 10 * time.Second

// Budget is the number of bytes that all requests together may hold. It is safe for concurrent
// use.
type Budget struct {
	size     int64
	short    int64 // the most bytes of a short request
	reserved int64 // reserved for short requests
	patience time.Duration

	queued  atomic.Int64 // bytes that clients leave unread; included in long
	refused atomic.Int64

	mu     sync.Mutex
	shorts int64  // bytes that short requests hold
	long   int64  // bytes that all others hold
	young  elders // the short requests that hold bytes
	old    elders // the long requests that hold bytes
	births uint64

	shortQueue queue     // takes after which the request is still short
	growing    list.List // of *waiter: takes of long requests that hold bytes, oldest request first
	longQueue  queue     // takes of requests that hold nothing
}

// New makes a budget of size bytes. A patience of 0 means DefaultPatience.
func New(size int64, patience time.Duration) *Budget {
	if patience == 0 {
		patience = DefaultPatience
	}
	return &Budget{size: size, short: min(1<<20, size/64), reserved: size / 8, patience: patience}
}

// Stats holds the counts of a budget.
type Stats struct {
	Size     int64 // bytes
	Held     int64 // bytes that requests and unread answers hold
	Requests int   // number of requests that hold bytes
	Waiting  int   // takes waiting now
	Refused  int64 // takes refused since the budget was made
}

// Stats returns the counts.
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

// request is what all accounts of one request hold together. The budget's mu guards it.
type request struct {
	of     *Budget
	client *Client

	bytes   int64
	long    bool          // it is a long request
	birth   uint64        // when it joined its list of elders
	at      *list.Element // place among the elders; nil while it holds nothing
	waiters []*waiter     // its waiting takes
	waited  time.Duration // total time of waiting
}

// fits says whether there is room for so many more bytes of a request. The caller holds mu.
func (b *Budget) fits(r *request, bytes int64) bool {
	if b.staysShort(r, bytes) {
		return b.shorts+bytes <= b.reserved || !b.longWaits() && b.shorts+b.long+bytes <= b.size
	}
	var moved int64 // bytes moved from short to long
	if !r.long {
		moved = r.bytes
	}
	return b.long+moved+bytes+max(b.shorts-moved, b.reserved) <= b.size
}

// longWaits says whether a long request waits. The caller holds mu.
func (b *Budget) longWaits() bool { return b.growing.Len()+b.longQueue.waiting > 0 }

// elders is a list of requests that hold bytes, the oldest first.
type elders struct{ list.List }

// first returns the oldest request, or nil.
func (e *elders) first() *request {
	if at := e.Front(); at != nil {
		return at.Value.(*request)
	}
	return nil
}

// staysShort says whether a request remains short with so many more bytes.
func (b *Budget) staysShort(r *request, bytes int64) bool { return !r.long && r.bytes+bytes <= b.short }

// eldest says whether a request may have so many more bytes because it is the oldest of the short
// or of the long requests. It may not use the room of answers that clients leave unread. The
// caller holds mu.
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

// hold gives bytes to a request. The caller holds mu.
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

// join appends a request to the elders. The caller holds mu.
func (b *Budget) join(all *elders, r *request) {
	b.births++
	r.birth, r.at = b.births, all.PushBack(r)
}

// lengthen turns a request into a long one. The caller holds mu.
func (b *Budget) lengthen(r *request) {
	if r.at != nil {
		b.young.Remove(r.at)
	}
	r.long = true
	b.join(&b.old, r)
	b.shorts -= r.bytes
	b.long += r.bytes
	for _, w := range r.waiters { // they are not takes of a short request any more
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
