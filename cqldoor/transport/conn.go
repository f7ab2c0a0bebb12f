// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Options configure a connection. The zero value suits a client of the native protocol.
type Options struct {
	// Server says that the peer sends requests, not responses.
	Server bool

	// MaxFrame is the longest body accepted, in bytes. 0 means 256 MiB, the
	// protocol's own limit.
	MaxFrame int

	// Unread is how many bytes may wait to be written before the connection is Full. 0 means that
	// it is never Full.
	Unread int

	// Paced, if set, is called when the connection has become Full and when it no longer is. It
	// calls Full itself, because calls may overtake each other.
	Paced func()

	// The connection calls Held, if set, with the change in the number of bytes that wait to be
	// written, in steps of 64 KiB. The sum is 0 when the connection has ended.
	Held func(more int)

	// Expect, if set, is called with the length of each frame's body before the body is read. If
	// it returns false, Next returns wire.ErrSkipped, and the connection goes on.
	Expect func(length int) bool

	// WriteTimeout is how long a blocked write may make no progress. A peer that takes less than
	// leastProgress bytes in that time is cut off with ErrSlow, however much or little waits for
	// it. 0 means a minute.
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

// Conn is one connection of the native protocol. One goroutine, the reader, calls Next and the
// methods that belong to it. Any goroutine may call Append, Flush, Pending and Close.
type Conn struct {
	nc   net.Conn
	opts Options
	dec  *wire.Decoder

	mu      sync.Mutex
	drained sync.Cond    // pending bytes went down, or err was set
	enc     wire.Encoder // frames waiting for a flush
	spare   []byte       // the other buffer, nil while it is being written
	taken   int          // bytes that the current writer holds
	writing bool         // a goroutine is writing; it also writes what is added to enc
	full    bool         // more than Unread bytes waited, and since then never less than half of that
	held    int          // sum of what Held was told
	err     error

	// The fields below belong to the goroutine that is writing.
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

// NetConn returns the underlying connection.
func (c *Conn) NetConn() net.Conn { return c.nc }

// Next returns the next frame. Its body is valid until the next call. The error is one of
// wire.Decoder's, or the reason why this side ended the connection.
func (c *Conn) Next() (wire.Header, []byte, error) {
	h, body, err := c.dec.Next()
	if err != nil {
		if ended := c.Err(); ended != nil {
			err = ended
		}
	}
	return h, body, err
}

// Buffered reports whether Next will probably return without waiting. The caller flushes when
// Next would wait.
func (c *Conn) Buffered() bool { return c.dec.Buffered() }

// Established ends the handshake for all bytes that are read or appended from now on: see
// wire.Decoder and wire.Encoder. Only the reader calls it.
func (c *Conn) Established(v wire.Version, z wire.Compression) {
	c.dec.Established(v, z)
	c.mu.Lock()
	c.enc.Established(v, z)
	c.mu.Unlock()
}

// SetMaxFrame changes the limit on the body of a received frame. Only the reader calls it.
func (c *Conn) SetMaxFrame(n int) { c.dec.SetLimit(n) }

// Close ends the connection at once and drops the bytes that wait to be written.
func (c *Conn) Close() {
	c.mu.Lock()
	changed := c.fail(net.ErrClosed)
	c.mu.Unlock()
	c.tell(changed)
}

// Err returns why the connection ended, or nil if it has not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail ends the connection. It returns what the connection must report to its owner. The caller
// holds mu.
func (c *Conn) fail(err error) news {
	if c.err != nil {
		return 0
	}
	c.err = err
	c.enc.Take(nil)
	c.spare, c.full = nil, false
	c.nc.Close() // also wakes the reader, which then calls Err
	c.drained.Broadcast()
	return c.uncounted()
}
