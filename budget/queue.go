// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"container/list"
	"context"
	"time"
)

// waiter is a waiting take.
type waiter struct {
	request *request
	account *Account
	bytes   int64
	start   func(error)
	since   time.Time
	timer   *time.Timer
	left    func() bool // stops watching the context

	in   *queue        // nil: it is in growing
	at   *list.Element // place in that queue
	over bool          // it no longer waits
}

// queue holds waiting takes. Its clients take turns.
type queue struct {
	turns   list.List // of *line, in the order of their turns
	waiting int
}

// line is one client's takes in a queue.
type line struct {
	waiters list.List
	at      *list.Element // place in the queue's turns; nil while the line is empty
}

func (q *queue) push(l *line, w *waiter) {
	w.in, w.at = q, l.waiters.PushBack(w)
	if l.at == nil {
		l.at = q.turns.PushBack(l)
	}
	q.waiting++
}

// next returns the take whose turn it is, or nil.
func (q *queue) next() *waiter {
	e := q.turns.Front()
	if e == nil {
		return nil
	}
	return e.Value.(*line).waiters.Front().Value.(*waiter)
}

// remove removes w from its line. served says that its client has had its turn.
func (q *queue) remove(l *line, w *waiter, served bool) {
	l.waiters.Remove(w.at)
	q.waiting--
	switch {
	case l.waiters.Len() == 0:
		q.turns.Remove(l.at)
		l.at = nil
	case served:
		q.turns.MoveToBack(l.at)
	}
}

// wait queues a take. The caller holds mu.
func (b *Budget) wait(ctx context.Context, a *Account, bytes int64, start func(error)) {
	r := a.request
	w := &waiter{request: r, account: a, bytes: bytes, start: start, since: time.Now()}
	switch {
	case b.staysShort(r, bytes):
		b.shortQueue.push(&r.client.short, w)
	case r.at == nil:
		b.longQueue.push(&r.client.long, w)
	default:
		b.grow(w)
	}
	r.waiters = append(r.waiters, w)
	w.timer = time.AfterFunc(b.patience-r.waited, func() {
		if b.leave(w) {
			b.refused.Add(1)
			start(ErrNoRoom)
		}
	})
	w.left = context.AfterFunc(ctx, func() {
		if b.leave(w) {
			start(ctx.Err())
		}
	})
}

// grow queues a take of a long request. The oldest request comes first. The caller holds mu.
func (b *Budget) grow(w *waiter) {
	for e := b.growing.Back(); e != nil; e = e.Prev() {
		if e.Value.(*waiter).request.birth <= w.request.birth {
			w.at = b.growing.InsertAfter(w, e)
			return
		}
	}
	w.at = b.growing.PushFront(w)
}

// leave ends the waiting of a take. It returns false if the take was not waiting. Others may then
// have room.
func (b *Budget) leave(w *waiter) bool {
	b.mu.Lock()
	was := !w.over
	if was {
		b.remove(w, false)
	}
	b.mu.Unlock()
	if was {
		w.left()
		w.timer.Stop()
		b.settle()
	}
	return was
}

// remove removes w from its queue. The caller holds mu.
func (b *Budget) remove(w *waiter, served bool) {
	r := w.request
	switch {
	case w.in == nil:
		b.growing.Remove(w.at)
	case w.in == &b.shortQueue:
		w.in.remove(&r.client.short, w, served)
	default:
		w.in.remove(&r.client.long, w, served)
	}
	w.over = true
	r.waited += time.Since(w.since)
	for i := range r.waiters {
		if r.waiters[i] == w {
			last := len(r.waiters) - 1
			r.waiters[i], r.waiters[last] = r.waiters[last], nil
			r.waiters = r.waiters[:last]
			break
		}
	}
}

// settle grants waiting takes for which there is room.
func (b *Budget) settle() {
	for {
		b.mu.Lock()
		w := b.next()
		if w == nil {
			b.mu.Unlock()
			return
		}
		b.remove(w, true)
		b.hold(w.request, w.bytes)
		w.account.bytes += w.bytes
		b.mu.Unlock()
		w.left()
		w.timer.Stop()
		w.start(nil)
	}
}

// next returns the take to grant now, or nil. The caller holds mu.
func (b *Budget) next() *waiter {
	// The oldest request gets what it asks for. That is one request at a time: it stays the
	// oldest until it has returned everything. The same holds for the short requests.
	for _, all := range []*elders{&b.old, &b.young} {
		if r := all.first(); r != nil && len(r.waiters) > 0 && b.eldest(r, r.waiters[0].bytes) {
			return r.waiters[0]
		}
	}
	if w := b.shortQueue.next(); w != nil && b.may(w) {
		return w
	}
	if e := b.growing.Front(); e != nil {
		// No request that holds nothing overtakes a request that needs more.
		if w := e.Value.(*waiter); b.may(w) {
			return w
		}
		return nil
	}
	if w := b.longQueue.next(); w != nil && b.may(w) {
		return w
	}
	return nil
}

// may says whether a take may be granted. The caller holds mu.
func (b *Budget) may(w *waiter) bool {
	return b.eldest(w.request, w.bytes) || b.fits(w.request, w.bytes)
}
