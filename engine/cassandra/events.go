// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// events tells listeners of schema changes.
type events struct {
	mu     sync.Mutex
	queues map[chan []byte]bool // the value is false once a queue has overflowed
	closed bool
}

// eventQueue is how many events may wait for a listener. If more come, the listener learns that it
// missed some.
const eventQueue = 256

// errClosed ends Events when the engine is closed.
var errClosed = errors.New("the engine is closed")

func (e *events) publish(change *wire.SchemaChange) {
	body := wire.AppendEvent(nil, &wire.Event{Type: wire.EventSchema, Schema: *change})
	e.mu.Lock()
	defer e.mu.Unlock()
	for q := range e.queues {
		select {
		case q <- body:
		default:
			e.queues[q] = false
		}
	}
}

func (e *events) listen() (chan []byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	q := make(chan []byte, eventQueue)
	if e.queues == nil {
		e.queues = map[chan []byte]bool{}
	}
	e.queues[q] = true
	return q, nil
}

// missed returns once whether a queue overflowed.
func (e *events) missed(q chan []byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	whole, ok := e.queues[q]
	if ok {
		e.queues[q] = true
	}
	return ok && !whole
}

func (e *events) leave(q chan []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.queues, q)
}

func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for q := range e.queues {
		close(q)
	}
	e.queues = nil
}

// Events implements store.Store.
func (e *Engine) Events(ctx context.Context, f func(body []byte)) error {
	q, err := e.events.listen()
	if err != nil {
		return err
	}
	defer e.events.leave(q)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case body, ok := <-q:
			if !ok {
				return errClosed
			}
			f(body)
			if len(q) == 0 && e.events.missed(q) {
				f(nil)
			}
		}
	}
}
