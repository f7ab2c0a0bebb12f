// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// ErrSlow ends a connection whose peer has stopped reading. The number of waiting bytes does not
// matter: an answer may be long, and a peer may read it slowly to its end.
var ErrSlow = errors.New("the peer does not read what it is sent")

// keptBuffer is the largest output buffer that a connection keeps for the next flush. Larger
// buffers, for long pages, are borrowed from a pool.
const keptBuffer = 256 << 10

// largeBuffer is the largest buffer in the pool.
const largeBuffer = 8 << 20

var large = sync.Pool{New: func() any { return new([]byte) }}

// Append queues one frame; Flush sends it. Append copies the body and sets the header's length to
// the body's. On an ended connection it does nothing, and the reader learns of the end. It
// returns how many bytes now wait to be written.
func (c *Conn) Append(h wire.Header, body []byte) int {
	n, changed := c.add(h, body, nil)
	c.tell(changed)
	return n
}

// AppendBoth is Append of a frame and of another one without a body. No frame comes between the two.
func (c *Conn) AppendBoth(h wire.Header, body []byte, next wire.Header) int {
	n, changed := c.add(h, body, &next)
	c.tell(changed)
	return n
}

func (c *Conn) add(h wire.Header, body []byte, next *wire.Header) (pending int, changed news) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, 0
	}
	if len(body) > keptBuffer {
		c.enc.Grow(len(body), *large.Get().(*[]byte))
	}
	c.enc.Frame(h, body)
	if next != nil {
		c.enc.Frame(*next, nil)
	}
	n := c.enc.Len() + c.taken
	if c.opts.Unread > 0 && n > c.opts.Unread && !c.full {
		c.full = true
		changed = paced
	}
	return n, changed | c.uncounted()
}

// news is a set of flags: what the connection must report to its owner.
type news uint8

const (
	paced   news = 1 << iota // Full has changed
	counted                  // the number of waiting bytes has changed by at least countStep
)

// countStep is the least change in the number of waiting bytes that the connection reports to its
// owner.
const countStep = 64 << 10

// uncounted returns counted if the connection must report the number of waiting bytes to its owner, and
// 0 otherwise. The caller holds mu.
func (c *Conn) uncounted() news {
	if c.opts.Held == nil || c.waiting() == c.held {
		return 0
	}
	return counted
}

// waiting returns how many bytes wait to be written, in whole steps. The caller holds mu.
func (c *Conn) waiting() int {
	if c.err != nil {
		return 0
	}
	return (c.enc.Len() + c.taken) / countStep * countStep
}

// Full reports whether the peer leaves too much unread. That begins when more than Options.Unread
// bytes wait and ends when at most half of that wait.
func (c *Conn) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

// emptied notes that bytes were written. It returns what the connection must report to its owner.
// The caller holds mu.
func (c *Conn) emptied() news {
	c.drained.Broadcast()
	if !c.full || c.enc.Len()+c.taken > c.opts.Unread/2 {
		return c.uncounted()
	}
	c.full = false
	return paced | c.uncounted()
}

// tell calls the owner's functions for the flags in changed. The caller does not hold mu.
func (c *Conn) tell(changed news) {
	if changed&paced != 0 && c.opts.Paced != nil {
		c.opts.Paced()
	}
	if changed&counted != 0 {
		c.mu.Lock()
		n := c.waiting()
		more := n - c.held
		c.held = n
		c.mu.Unlock()
		if more != 0 {
			c.opts.Held(more)
		}
	}
}

// Pending returns how many bytes the socket has not taken yet.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enc.Len() + c.taken
}

// WaitPending waits until the socket has taken all but n bytes, or until the connection has
// ended.
func (c *Conn) WaitPending(n int) {
	c.mu.Lock()
	for c.err == nil && c.enc.Len()+c.taken > n {
		c.drained.Wait()
	}
	c.mu.Unlock()
}

// Flush sends the frames that have been appended. If another goroutine is writing, that goroutine
// writes them too. So frames of many goroutines share a write.
//
// The caller's goroutine first tries to write without blocking, which avoids waking another
// goroutine. drain writes what the socket does not take.
func (c *Conn) Flush() {
	c.mu.Lock()
	if c.writing || c.err != nil || c.enc.Len() == 0 {
		c.mu.Unlock()
		return
	}
	c.writing = true
	for c.enc.Len() > 0 && c.err == nil {
		b := c.take()
		c.mu.Unlock()
		rest, err := b, error(nil)
		if c.raw != nil {
			rest, err = c.tryWrite(b)
		}
		c.mu.Lock()
		var changed news
		if err != nil {
			changed = c.fail(err)
		}
		if len(rest) > 0 && c.err == nil {
			c.taken = len(rest)
			c.mu.Unlock()
			go c.drain(b, len(b)-len(rest))
			return
		}
		if changed |= c.give(b); changed != 0 {
			c.mu.Unlock()
			c.tell(changed)
			c.mu.Lock()
		}
	}
	c.writing = false
	c.mu.Unlock()
}

// drain writes b from off on, and then everything appended since. It blocks.
func (c *Conn) drain(b []byte, off int) {
	for {
		err := c.writeAll(b[off:])
		var changed news
		c.mu.Lock()
		if err != nil {
			changed = c.fail(err)
		}
		changed |= c.give(b)
		if c.enc.Len() == 0 || c.err != nil {
			_ = c.nc.SetWriteDeadline(time.Time{}) // an expired deadline would make tries fail; an error means that the connection has ended
			c.writing = false
			c.mu.Unlock()
			c.tell(changed)
			return
		}
		b, off = c.take(), 0
		c.mu.Unlock()
		c.tell(changed)
	}
}

// writeAll writes in pieces. So the deadline applies to each piece, and the number of pending
// bytes goes down as they are written.
func (c *Conn) writeAll(b []byte) error {
	for len(b) > 0 {
		p := b[:min(len(b), leastProgress)]
		if err := c.nc.SetWriteDeadline(time.Now().Add(c.opts.WriteTimeout)); err != nil {
			return err
		}
		if _, err := c.nc.Write(p); err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				return ErrSlow
			}
			return err
		}
		b = b[len(p):]
		c.mu.Lock()
		c.taken = len(b)
		changed := c.emptied()
		c.mu.Unlock()
		c.tell(changed)
	}
	return nil
}

// leastProgress is how many bytes a reading peer takes within WriteTimeout.
const leastProgress = 64 << 10

// take hands the appended bytes to the writer. The caller holds mu.
func (c *Conn) take() []byte {
	b := c.enc.Take(c.spare)
	c.spare = nil
	c.taken = len(b)
	return b
}

// give takes back the buffer that take gave. It returns what the connection must report to its
// owner. The caller holds mu.
func (c *Conn) give(b []byte) news {
	c.taken = 0
	if c.err != nil {
		return 0
	}
	switch {
	case cap(b) <= keptBuffer:
		c.spare = b[:0]
	case cap(b) <= largeBuffer:
		lent := b // so that b itself stays off the heap
		large.Put(&lent)
	}
	return c.emptied()
}

// tryWrite writes as much of b as the socket takes at once, and returns the rest.
func (c *Conn) tryWrite(b []byte) (rest []byte, err error) {
	c.trying, c.tried, c.tryErr = b, 0, nil
	err = c.raw.Write(c.tryFunc)
	if err == nil {
		err = c.tryErr
	}
	c.trying = nil
	return b[c.tried:], err
}
