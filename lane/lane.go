// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"context"
	"sync"
)

// Lane is a number of places, and who waits for them. It is safe for concurrent use.
type Lane struct {
	places int // in all
	each   int // for one flow

	mu       sync.Mutex
	taken    int
	waiting  int
	turn     *Flow // the next; a ring of the flows that may have a place now
	paused   bool
	settling bool // somebody gives free places away, and looks again before it ends
}

// Flow is whose requests take turns with those of others. The zero value is ready. It
// belongs to the one lane that it is first used with.
type Flow struct {
	first, last *waiter
	taken       int
	held        bool

	before, after *Flow // in the ring; nil outside
}

// waiter is a request that waits.
type waiter struct {
	ctx           context.Context
	start         func(ok bool)
	before, after *waiter
	again         bool // it had a place before
	done          bool // it has left the queue
}

// New makes a lane with so many places, each of which is one request's. One flow has
// at most each of them at a time.
func New(places, each int) *Lane {
	return &Lane{places: max(1, places), each: max(1, min(each, places))}
}

// Queue calls start(true) when the request has a place, perhaps before Queue
// returns; Leave then ends it. It calls start(false) when the request gets none,
// because its context is done. start returns at once.
func (l *Lane) Queue(ctx context.Context, f *Flow, start func(ok bool)) {
	l.mu.Lock()
	l.push(f, &waiter{ctx: ctx, start: start})
	l.mu.Unlock()
	l.settle()
}

// Enter waits for a place, which Leave gives back. The error is the context's.
func (l *Lane) Enter(ctx context.Context, f *Flow) error { return l.enter(ctx, f, false) }

// Again waits for a place ahead of all requests that have not begun. It is for a
// request that gave its place up to wait for something else.
func (l *Lane) Again(ctx context.Context, f *Flow) error { return l.enter(ctx, f, true) }

func (l *Lane) enter(ctx context.Context, f *Flow, again bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if l.try(f) {
		l.mu.Unlock()
		return nil
	}
	got := make(chan bool, 1)
	w := &waiter{ctx: ctx, start: func(ok bool) { got <- ok }, again: again}
	l.push(f, w)
	l.mu.Unlock()
	l.settle()
	select {
	case ok := <-got:
		if !ok {
			return ctx.Err()
		}
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	waited := !w.done
	if waited {
		l.remove(f, w)
	}
	l.mu.Unlock()
	if !waited && <-got {
		l.Leave(f) // the place came at the same moment
	}
	return ctx.Err()
}

// Try takes a place if there is one at once, and nobody waits for it.
func (l *Lane) Try(f *Flow) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.try(f)
}

// try takes a place. The caller holds mu.
func (l *Lane) try(f *Flow) bool {
	if l.paused || l.taken >= l.places || l.turn != nil || f.first != nil || f.held || f.taken >= l.each {
		return false
	}
	l.taken++
	f.taken++
	return true
}

// Return gives a place back for now, by a request that cannot use it yet: it waits
// again, as the next of all.
func (l *Lane) Return(ctx context.Context, f *Flow, start func(ok bool)) {
	l.mu.Lock()
	l.taken--
	f.taken--
	l.push(f, &waiter{ctx: ctx, start: start, again: true})
	l.mu.Unlock()
	l.settle()
}

// Leave gives a place back.
func (l *Lane) Leave(f *Flow) {
	l.mu.Lock()
	l.taken--
	f.taken--
	l.join(f)
	l.mu.Unlock()
	l.settle()
}

// Hold has a flow's requests wait until Release. Those that have a place keep it.
func (l *Lane) Hold(f *Flow) {
	l.mu.Lock()
	f.held = true
	l.part(f)
	l.mu.Unlock()
}

// Release ends Hold.
func (l *Lane) Release(f *Flow) {
	l.mu.Lock()
	f.held = false
	l.join(f)
	l.mu.Unlock()
	l.settle()
}

// Pause has all requests wait until Resume. Those that have a place keep it.
func (l *Lane) Pause() {
	l.mu.Lock()
	l.paused = true
	l.mu.Unlock()
}

// Resume ends Pause.
func (l *Lane) Resume() {
	l.mu.Lock()
	l.paused = false
	l.mu.Unlock()
	l.settle()
}

// Resize changes how many places there are, and how many of them one flow may have.
// Requests that have a place keep it; a flow that waits for one of its own to be given
// back goes on waiting for that.
func (l *Lane) Resize(places, each int) {
	l.mu.Lock()
	l.places, l.each = max(1, places), max(1, min(each, places))
	l.mu.Unlock()
	l.settle()
}

// Drop tells all of a flow's waiting requests whose context is done that they get no
// place.
func (l *Lane) Drop(f *Flow) {
	var gone []*waiter
	l.mu.Lock()
	for w := f.first; w != nil; {
		next := w.after
		if w.ctx.Err() != nil {
			l.remove(f, w)
			gone = append(gone, w)
		}
		w = next
	}
	l.mu.Unlock()
	for _, w := range gone {
		w.start(false)
	}
	l.settle()
}

// Counts are how many requests have a place and how many wait for one.
func (l *Lane) Counts() (taken, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, l.waiting
}

// settle gives free places away. Where another goroutine does so, or a caller of this
// one, it is left to that one: start may come back here without going ever deeper.
func (l *Lane) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settling {
		return
	}
	l.settling = true
	for {
		w, ok := l.next()
		if w == nil {
			l.settling = false
			return
		}
		l.mu.Unlock()
		w.start(ok)
		l.mu.Lock()
	}
}

// next takes from the queues the request whose turn it is, or one on the way to it
// whose context is done. The caller holds mu.
func (l *Lane) next() (w *waiter, ok bool) {
	f := l.turn
	if f == nil || l.paused || l.taken >= l.places {
		return nil, false
	}
	w = f.first
	l.turn = f.after
	l.remove(f, w)
	if w.ctx.Err() != nil {
		return w, false
	}
	l.taken++
	if f.taken++; f.taken >= l.each {
		l.part(f)
	}
	return w, true
}

// push adds a request to its flow. The caller holds mu.
func (l *Lane) push(f *Flow, w *waiter) {
	switch {
	case f.first == nil:
		f.first, f.last = w, w
	case w.again:
		w.after, f.first.before = f.first, w
		f.first = w
	default:
		w.before, f.last.after = f.last, w
		f.last = w
	}
	l.waiting++
	if w.again && f.after != nil {
		l.turn = f
	}
	l.join(f)
}

// remove takes a request out of its flow. The caller holds mu.
func (l *Lane) remove(f *Flow, w *waiter) {
	if w.before != nil {
		w.before.after = w.after
	} else {
		f.first = w.after
	}
	if w.after != nil {
		w.after.before = w.before
	} else {
		f.last = w.before
	}
	w.before, w.after, w.done = nil, nil, true
	l.waiting--
	if f.first == nil {
		l.part(f)
	}
}

// join puts a flow into the ring if it may have a place: as the last, or as the first
// where its request had a place before. The caller holds mu.
func (l *Lane) join(f *Flow) {
	if f.after != nil || f.first == nil || f.held || f.taken >= l.each {
		return
	}
	if l.turn == nil {
		l.turn, f.before, f.after = f, f, f
		return
	}
	f.before, f.after = l.turn.before, l.turn
	f.before.after, f.after.before = f, f
	if f.first.again {
		l.turn = f
	}
}

// part takes a flow out of the ring. The caller holds mu.
func (l *Lane) part(f *Flow) {
	if f.after == nil {
		return
	}
	if l.turn == f {
		l.turn = f.after
	}
	if l.turn == f {
		l.turn = nil
	}
	f.before.after, f.after.before = f.after, f.before
	f.before, f.after = nil, nil
}
