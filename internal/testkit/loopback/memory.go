// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"context"
	"net"
	"sync"
)

// Memory is a listener without sockets, for tests in a bubble of testing/synctest. It, its
// connections and their deadlines use the bubble's clock, and transport takes no time.
type Memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewMemory returns a listener in memory.
func NewMemory() *Memory { return &Memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects to the listener, whatever the address is.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.conns <- server:
		return client, nil
	case <-m.closed:
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial. Connections stay open.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr returns a placeholder name.
func (*Memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
