// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// response is the response to one physical read.
type response struct {
	tag  int
	body []byte
	err  error

	// refused is the average size of a row, in bytes, if the response was too long to keep.
	// Otherwise it is 0.
	refused int

	due bool // there is no response: the request with this tag is due (see remind)
}

// inbox receives the responses to the fetches of one page. It keeps at most limit bytes of responses.
type inbox struct {
	version wire.Version
	limit   int // bytes; 0: no limit
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
	body, err := wire.ResultBody(b.version, resp)
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

// remind makes next report after the time wait that a request is due.
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

// close stops the reminders.
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

// next waits for responses and appends them to took. It returns the error of ctx if ctx is done before.
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

// buffers holds buffers for the responses of later pages.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keptBuffer is the largest size, in bytes, of a buffer that a pool keeps.
const keptBuffer = 1 << 20

// newBuffer returns an empty buffer with room for n bytes.
func newBuffer(n int) []byte {
	p := buffers.Get().(*[]byte)
	if b := *p; cap(b) >= n {
		return b[:0]
	}
	return make([]byte, 0, n)
}

// giveBuffer puts a buffer that nobody uses any more into the pool.
func giveBuffer(b []byte) {
	if cap(b) > 0 && cap(b) <= keptBuffer {
		lent := b
		buffers.Put(&lent)
	}
}
