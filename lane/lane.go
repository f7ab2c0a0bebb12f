// SPDX-License-Identifier: Apache-2.0

package lane

import (
	"context"
	"sync"
)

// Lane is a number of places, with the requests that wait for them. It is safe for concurrent
// use.
type Lane struct {
	places int // in all
	each   int // for one flow

	mu       sync.Mutex
	taken    int
	waiting  int
	turn     *Flow // the next flow in the ring of flows that may get a place now
	paused   bool
	settling bool // a goroutine is giving free places away, and checks again before it ends
}

// Flow holds requests that take turns with those of other flows. The zero value is ready. A flow
// belongs to the lane that it is first used with.
type Flow struct {
	first, last *waiter
	taken       int
	held        bool

	before, after *Flow // in the ring; nil outside
}

// waiter is a waiting request.
type waiter struct {
	ctx           context.Context
	start         func(ok bool)
	before, after *waiter
	again         bool // it had a place before
	done          bool // it has left the queue
}

// New makes a lane with so many places for requests. One flow may have at most each of them at a
// time.
func New(places, each int) *Lane {
	return &Lane{places: max(1, places), each: max(1, min(each, places))}
}

// Queue calls start(true) when the request has a place, perhaps before Queue returns. Leave then
// returns the place. Queue calls start(false) if the request's context is done. start returns at
// once.
func (l *Lane) Queue(ctx context.Context, f *Flow, start func(ok bool)) {
	l.mu.Lock()
	l.push(f, &waiter{ctx: ctx, start: start})
	l.mu.Unlock()
	l.settle()
}

// Enter waits for a place, which Leave returns. The error is the context's.
func (l *Lane) Enter(ctx context.Context, f *Flow) error { return l.enter(ctx, f, false) }

// Again waits for a place in front of all requests that have not begun. It is for a request that
// gave up its place to wait for something else.
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
		l.Leave(f) // it got a place at the same moment
	}
	return ctx.Err()
}

// Try takes a place if one is free and nobody waits for it.
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

// Return gives back, for now, the place of a request that cannot use it yet. The request waits
// again, in front of all others.
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

// Hold makes a flow's requests wait until Release. Those that have a place keep it.
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

// Pause makes all requests wait until Resume. Those that have a place keep it.
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

// Resize changes the number of places, and the number that one flow may have. Requests that have
// a place keep it. A flow that waits because its own places are taken goes on waiting.
func (l *Lane) Resize(places, each int) {
	l.mu.Lock()
	l.places, l.each = max(1, places), max(1, min(each, places))
	l.mu.Unlock()
	l.settle()
}

// Drop ends the waiting of all of a flow's requests whose context is done. They get no place.
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

// Counts returns how many requests have a place and how many wait for one.
func (l *Lane) Counts() (taken, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, l.waiting
}

// settle gives free places away. If another goroutine, or a caller further up the stack, is doing
// so, settle leaves it to that. So start may call the lane again without endless recursion.
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

// next removes the next request from the queues. It may return a request whose context is done.
// The caller holds mu.
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

// remove removes a request from its flow. The caller holds mu.
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

// join adds a flow to the ring if the flow may have a place: at the end, or at the front if its
// request had a place before. The caller holds mu.
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

// part removes a flow from the ring. The caller holds mu.
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
