// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// forward forwards connections from one address to another until stop is called.
func forward(at, to string) (stop func(), err error) {
	ln, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("the tests have %s built in: %w; end what listens there", at, err)
	}
	var (
		open pairs
		done sync.WaitGroup
	)
	done.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil { // the store is down, and the client sees that
				client.Close()
				continue
			}
			p := &pair{client, server}
			if !open.keep(p) {
				return
			}
			pass := func(dst, src net.Conn) {
				_, _ = io.Copy(dst, src) // either side may close
				open.end(p)
			}
			done.Go(func() { pass(client, server) })
			done.Go(func() { pass(server, client) })
		}
	})
	return func() {
		ln.Close()
		open.endAll()
		done.Wait()
	}, nil
}

// pair is a client's connection, and the connection to the server for it.
type pair struct{ client, server net.Conn }

func (p *pair) close() {
	p.client.Close()
	p.server.Close()
}

// pairs holds the open pairs.
type pairs struct {
	mu     sync.Mutex
	open   map[*pair]bool
	closed bool // by endAll
}

// keep adds a pair. If all pairs have been ended, it closes this one and returns false.
func (ps *pairs) keep(p *pair) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.closed {
		p.close()
		return false
	}
	if ps.open == nil {
		ps.open = map[*pair]bool{}
	}
	ps.open[p] = true
	return true
}

// end closes and removes a pair.
func (ps *pairs) end(p *pair) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p.close()
	delete(ps.open, p)
}

// endAll closes all pairs, and those that come later.
func (ps *pairs) endAll() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.closed = true
	for p := range ps.open {
		p.close()
	}
}
