// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// response is the answer to one physical read.
type response struct {
	tag  int
	body []byte
	err  error

	// Where the answer was too long to keep: what a row of it takes.
	refused int

	due bool // no response: the request of this tag is to be sent, see remind
}

// inbox takes the responses to the fetches of one page. It keeps no more bytes of
// them than it is told.
type inbox struct {
	version wire.Version
	limit   int // 0: none
	wake    chan struct{}

	mu     sync.Mutex
	held   int
	came   []response
	timers []*time.Timer
}

var _ store.Receiver = (*inbox)(nil)

func newInbox(v wire.Version, limit int) *inbox {
	return &inbox{version: v, limit: limit, wake: make(chan struct{}, 1)}
}

// Receive implements store.Receiver.
func (b *inbox) Receive(tag uint32, resp wire.Message) {
	body, err := result(b.version, resp)
	r := response{tag: int(tag), err: err}
	if err == nil {
		b.mu.Lock()
		fits := b.limit == 0 || b.held+len(body) <= b.limit
		if fits {
			b.held += len(body)
		}
		b.mu.Unlock()
		if fits {
			r.body = append(newBuffer(len(body)), body...)
		} else if rows, err := wire.ParseRows(body); err != nil {
			r.err = err
		} else {
			r.refused = len(body) / max(rows.Count, 1)
		}
	}
	b.mu.Lock()
	b.came = append(b.came, r)
	b.mu.Unlock()
}

// remind has next tell, after a while, that a request is to be sent.
func (b *inbox) remind(tag int, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timers = append(b.timers, time.AfterFunc(wait, func() {
		b.mu.Lock()
		b.came = append(b.came, response{tag: tag, due: true})
		b.mu.Unlock()
		b.Flush()
	}))
}

// close ends the reminders.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.timers {
		t.Stop()
	}
	b.timers = nil
}

// Flush implements store.Receiver.
func (b *inbox) Flush() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next waits for responses and appends them to took.
func (b *inbox) next(ctx context.Context, took []response) ([]response, error) {
	for {
		b.mu.Lock()
		took = append(took, b.came...)
		clear(b.came)
		b.came = b.came[:0]
		b.mu.Unlock()
		if len(took) > 0 {
			return took, nil
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// buffers are used again for the responses of later pages.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer is the largest that is.
const keptBuffer = 1 << 20

// newBuffer is an empty buffer with room for n bytes.
func newBuffer(n int) []byte {
	p := buffers.Get().(*[]byte)
	if b := *p; cap(b) >= n {
		return b[:0]
	}
	return make([]byte, 0, n)
}

// giveBuffer lets a buffer be used again, which nobody sees any more.
func giveBuffer(b []byte) {
	if cap(b) > 0 && cap(b) <= keptBuffer {
		lent := b
		buffers.Put(&lent)
	}
}
