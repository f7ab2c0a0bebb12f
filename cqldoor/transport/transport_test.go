// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/transport"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// pair is a client's and a server's end of one TCP connection.
func pair(t testing.TB, server transport.Options) (*transport.Conn, *transport.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	// The buffers have the same small size on every system. They are larger than a segment of the loopback
	// interface (64 KB). If a receiver's buffer is smaller, the kernel sends it a few bytes each 200 ms.
	for _, nc := range []net.Conn{a, b} {
		if err := errors.Join(nc.(*net.TCPConn).SetReadBuffer(256<<10), nc.(*net.TCPConn).SetWriteBuffer(256<<10)); err != nil {
			t.Fatal(err)
		}
	}
	server.Server = true
	c, s := transport.New(a, transport.Options{}), transport.New(b, server)
	t.Cleanup(c.Close)
	t.Cleanup(s.Close)
	return c, s
}

func establish(v wire.Version, z wire.Compression, conns ...*transport.Conn) {
	for _, c := range conns {
		c.Established(v, z)
	}
}

// Frames of many goroutines arrive whole, each goroutine's in order, whatever the
// framing, though the reader is slower than the writers.
func TestManyWriters(t *testing.T) {
	const writers, each = 8, 300
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		for _, z := range []wire.Compression{wire.NoCompression, wire.LZ4} {
			t.Run(fmt.Sprintf("%s %q", v, z), func(t *testing.T) {
				c, s := pair(t, transport.Options{})
				establish(v, z, c, s)
				var wg sync.WaitGroup
				for w := range writers {
					wg.Go(func() {
						for i := range each {
							body := binary.BigEndian.AppendUint32(nil, uint32(i))
							body = append(body, bytes.Repeat([]byte{byte(w)}, (i*i*37)%20_000)...)
							if i == each/2 {
								body = append(body, make([]byte, 300_000)...) // several segments
							}
							s.Append(wire.Header{Version: v, Response: true, Stream: int16(w), Op: wire.OpResult}, body)
							if i%7 == w {
								s.Flush()
							}
						}
						s.Flush()
					})
				}
				next := make([]uint32, writers)
				for n := range writers * each {
					h, body, err := c.Next()
					if err != nil {
						t.Fatal(err)
					}
					if got := binary.BigEndian.Uint32(body); got != next[h.Stream] {
						t.Fatalf("writer %d: frame %d, want %d", h.Stream, got, next[h.Stream])
					}
					next[h.Stream]++
					if n%100 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
				wg.Wait()
				s.WaitPending(0)
			})
		}
	}
}

func TestFlushDoesNotBlock(t *testing.T) {
	c, s := pair(t, transport.Options{})
	body := make([]byte, 1<<20)
	for range 16 {
		s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, body)
		s.Flush()
	}
	// Had it waited, nobody would have read, and the connection were at its end.
	if s.Pending() == 0 {
		t.Fatal("nothing waits: this test tests nothing")
	}
	for range 16 {
		if _, _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
	}
	s.WaitPending(0)
	// After what was drained in the background, a try must work again.
	s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, body[:10])
	s.Flush()
	if _, got, err := c.Next(); err != nil || len(got) != 10 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// The connection cuts off a peer that has stopped reading after a while, even if few bytes wait.
func TestPeerThatDoesNotRead(t *testing.T) {
	_, s := pair(t, transport.Options{WriteTimeout: 50 * time.Millisecond})
	s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, make([]byte, 30<<20))
	s.Flush()
	s.WaitPending(0) // until it has ended
	if err := s.Err(); !errors.Is(err, transport.ErrSlow) {
		t.Errorf("got %v", err)
	}
	if _, _, err := s.Next(); !errors.Is(err, transport.ErrSlow) {
		t.Errorf("the reader learns %v", err)
	}
	if n := s.Pending(); n > 100<<20 {
		t.Errorf("%d bytes are kept", n)
	}
}

// steady is a connection that takes a little at a time, and as long as may be for it.
type steady struct {
	net.Conn
	pause    time.Duration // a write takes so long
	deadline time.Time
	written  int
}

func (s *steady) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }
func (s *steady) Close() error                       { return nil }

func (s *steady) Write(p []byte) (int, error) {
	time.Sleep(s.pause)
	if !s.deadline.IsZero() && time.Now().After(s.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	s.written += len(p)
	return len(p), nil
}

// A peer that reads slowly and steadily gets all of the longest answer that the protocol allows,
// even if that takes hours. The connection cuts off a slower peer.
func TestPeerThatReadsSlowly(t *testing.T) {
	const size = 255 << 20
	for pause, whole := range map[time.Duration]bool{59 * time.Second: true, 61 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			nc := &steady{pause: pause}
			s := transport.New(nc, transport.Options{Server: true, Unread: 4 << 20})
			s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, make([]byte, size))
			begun := time.Now()
			s.Flush()
			s.WaitPending(0)
			err := s.Err()
			if whole && (err != nil || nc.written != size+wire.HeaderSize) || !whole && !errors.Is(err, transport.ErrSlow) {
				t.Errorf("a write every %v: %d bytes in %v, %v", pause, nc.written, time.Since(begun), err)
			}
		})
	}
}

// Full begins above Unread and ends at half of it. The connection reports both to its owner.
func TestFull(t *testing.T) {
	var s *transport.Conn
	told := make(chan bool, 10)
	c, s := pair(t, transport.Options{Unread: 4 << 20, Paced: func() { told <- s.Full() }})
	s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, make([]byte, 3<<20))
	if s.Full() {
		t.Error("full below the mark")
	}
	s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, make([]byte, 30<<20))
	if !<-told {
		t.Error("the owner is not told that it is full")
	}
	s.Flush()
	for range 2 {
		if _, _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if <-told || s.Full() {
		t.Error("still full, and all is read")
	}
}

// The sum of the calls of Held is the number of waiting bytes, in steps. When the connection has
// ended, for any reason, the sum is 0.
func TestHeld(t *testing.T) {
	for _, read := range []bool{true, false} {
		var held atomic.Int64
		c, s := pair(t, transport.Options{Held: func(more int) { held.Add(int64(more)) }})
		for range 30 {
			s.Append(wire.Header{Version: wire.V4, Response: true, Op: wire.OpResult}, make([]byte, 1<<20))
			if n := held.Load(); n > int64(s.Pending()) || n < int64(s.Pending())-64<<10 {
				t.Fatalf("%d bytes wait, and the owner knows of %d", s.Pending(), n)
			}
		}
		s.Flush()
		if n := held.Load(); n < 16<<20 {
			t.Errorf("%d bytes wait, and nobody has read", n)
		}
		if read {
			for range 30 {
				if _, _, err := c.Next(); err != nil {
					t.Fatal(err)
				}
			}
			s.WaitPending(0)
		} else {
			s.Close()
		}
		for deadline := time.Now().Add(3 * time.Minute); held.Load() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d bytes are held in the end", held.Load())
			}
		}
	}
}

func TestClose(t *testing.T) {
	c, s := pair(t, transport.Options{})
	read := make(chan error)
	go func() {
		_, _, err := s.Next()
		read <- err
	}()
	s.Close()
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("its own reader: %v", err)
	}
	if _, _, err := c.Next(); err == nil {
		t.Error("the peer's reader: no error")
	}
	s.Append(wire.Header{Version: wire.V4, Op: wire.OpResult}, nil)
	s.Flush()
	if n := s.Pending(); n != 0 {
		t.Errorf("%d bytes wait", n)
	}
}

func TestMaxFrame(t *testing.T) {
	c, s := pair(t, transport.Options{MaxFrame: 100})
	for _, n := range []int{100, 101} {
		c.Append(wire.Header{Version: wire.V4, Op: wire.OpQuery}, make([]byte, n))
		c.Flush()
		_, _, err := s.Next()
		if (err == nil) != (n <= 100) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		c, s := pair(t, transport.Options{})
		establish(v, wire.NoCompression, c, s)
		body := make([]byte, 200)
		round := func() {
			for range 10 {
				s.Append(wire.Header{Version: v, Response: true, Op: wire.OpResult}, body)
			}
			s.Flush()
			for range 10 {
				if _, _, err := c.Next(); err != nil {
					t.Fatal(err)
				}
			}
		}
		round()
		if n := allocs.PerRun(200, round); n > 0 {
			t.Errorf("%s: %v allocations for ten frames", v, n)
		}
	}
}

// BenchmarkRoundTrip is a request and its response over loopback, with n in flight.
func BenchmarkRoundTrip(b *testing.B) {
	for _, n := range []int{1, 48} {
		b.Run(fmt.Sprintf("%d in flight", n), func(b *testing.B) {
			c, s := pair(b, transport.Options{})
			establish(wire.V5, wire.NoCompression, c, s)
			go func() {
				for {
					h, body, err := s.Next()
					if err != nil {
						return
					}
					h.Response, h.Op = true, wire.OpResult
					s.Append(h, body)
					if !s.Buffered() {
						s.Flush()
					}
				}
			}()
			body := make([]byte, 100)
			b.ReportAllocs()
			for sent, got := 0, 0; got < b.N; {
				for sent < b.N && sent-got < n {
					c.Append(wire.Header{Version: wire.V5, Op: wire.OpQuery}, body)
					sent++
				}
				c.Flush()
				for {
					if _, _, err := c.Next(); err != nil {
						b.Fatal(err)
					}
					if got++; got == b.N || !c.Buffered() {
						break
					}
				}
			}
		})
	}
}
