// SPDX-License-Identifier: Apache-2.0

package gocqldoor

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// pipes is a listener for connections in memory.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes {
	return &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
}

// dial makes a connection. Accept returns its other end.
func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	var err error
	select {
	case p.accept <- far:
		return addressed{near}, nil
	case <-p.closed:
		err = &net.OpError{Op: "dial", Net: "evenkeel", Addr: p.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		err = ctx.Err()
	}
	near.Close()
	far.Close()
	return nil, err
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case nc := <-p.accept:
		return nc, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return here }

// here is Host as an address: the driver requires that the other end of a connection has an IP
// address.
var here = net.TCPAddrFromAddrPort(netip.MustParseAddrPort(Host))

// addressed is a connection in memory with addresses.
type addressed struct{ net.Conn }

func (addressed) LocalAddr() net.Addr  { return here }
func (addressed) RemoteAddr() net.Addr { return here }
