// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Options are how a connection is used. The zero value works, for a client of
// the native protocol.
type Options struct {
	// Server says that the other side sends requests, not responses.
	Server bool

	// MaxFrame is the longest body accepted, in bytes. 0 means 256 MiB, the
	// protocol's own limit.
	MaxFrame int

	// Unread is how many bytes may wait to be written before the connection is Full.
	// 0 means that it never is.
	Unread int

	// Paced, if there is one, is called when the connection has become Full, and when
	// it is no longer. It looks at Full itself: calls may overtake each other.
	Paced func()

	// Held, if there is one, is told how many bytes more, or fewer, wait to be written,
	// in steps of 64 KiB. All that it is told adds up to 0 when the connection has ended.
	Held func(more int)

	// Expect, if there is one, is asked with the length of each frame's body before it is
	// read. Where it says no, Next returns wire.ErrSkipped, and the connection goes on.
	Expect func(length int) bool

	// WriteTimeout is how long a blocked write may make no progress: a peer that in
	// all this time takes less than leastProgress bytes is cut off with ErrSlow,
	// however much or little waits for it. 0 means a minute.
	WriteTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.MaxFrame <= 0 {
		o.MaxFrame = 256 << 20
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = time.Minute
	}
	return o
}

// Conn is one connection of the native protocol. Next and what it needs are for
// one goroutine, the reader; Append, Flush, Pending and Close are for any.
type Conn struct {
	nc   net.Conn
	opts Options
	dec  *wire.Decoder

	mu      sync.Mutex
	drained sync.Cond    // pending bytes went down, or err was set
	enc     wire.Encoder // frames that wait for a flush
	spare   []byte       // the other buffer, nil while it is being written
	taken   int          // bytes that the present writer holds
	writing bool         // somebody is writing; what is in enc will be written after
	full    bool         // more than Unread bytes waited, and not yet half of that again
	held    int          // bytes that Held was told of
	err     error

	// The writer's own, whoever it is at the moment.
	raw     syscall.RawConn // nil where a write cannot be tried without blocking
	trying  []byte
	tried   int
	tryErr  error
	tryFunc func(fd uintptr) bool
}

// New makes a connection over nc, framed as before STARTUP.
func New(nc net.Conn, o Options) *Conn {
	o = o.withDefaults()
	c := &Conn{nc: nc, opts: o}
	c.drained.L = &c.mu
	if o.Server {
		c.dec = wire.NewRequestDecoder(nc, o.MaxFrame)
	} else {
		c.dec = wire.NewResponseDecoder(nc, o.MaxFrame)
	}
	c.dec.SetExpect(o.Expect)
	if tcp, ok := nc.(*net.TCPConn); ok && canTry {
		if raw, err := tcp.SyscallConn(); err == nil {
			c.raw = raw
			c.tryFunc = c.try
		}
	}
	return c
}

// NetConn is the connection below.
func (c *Conn) NetConn() net.Conn { return c.nc }

// Next returns the next frame; its body is valid until the next call. Errors are
// those of wire.Decoder, or why the connection was ended from this side.
func (c *Conn) Next() (wire.Header, []byte, error) {
	h, body, err := c.dec.Next()
	if err != nil {
		if ended := c.Err(); ended != nil {
			err = ended
		}
	}
	return h, body, err
}

// Buffered reports whether Next will most likely not wait: the time to flush is
// when it would.
func (c *Conn) Buffered() bool { return c.dec.Buffered() }

// Established ends the handshake for what is read from now on and for what is
// appended from now on: see wire.Decoder and wire.Encoder. Reader only.
func (c *Conn) Established(v wire.Version, z wire.Compression) {
	c.dec.Established(v, z)
	c.mu.Lock()
	c.enc.Established(v, z)
	c.mu.Unlock()
}

// SetMaxFrame changes the limit on the body of a frame that is read. Reader only.
func (c *Conn) SetMaxFrame(n int) { c.dec.SetLimit(n) }

// Close ends the connection at once; what waits to be written is dropped.
func (c *Conn) Close() {
	c.mu.Lock()
	changed := c.fail(net.ErrClosed)
	c.mu.Unlock()
	c.tell(changed)
}

// Err is why the connection ended, nil while it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail ends the connection, which may be news. The caller holds mu.
func (c *Conn) fail(err error) news {
	if c.err != nil {
		return 0
	}
	c.err = err
	c.enc.Take(nil)
	c.spare, c.full = nil, false
	c.nc.Close() // also wakes the reader, who learns of err by Err
	c.drained.Broadcast()
	return c.uncounted()
}
