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
		mu     sync.Mutex
		open   = map[net.Conn]bool{}
		closed bool
		done   sync.WaitGroup
	)
	// keep records a connection, which stop closes. It returns false if stop was called before.
	keep := func(c net.Conn) bool {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			c.Close()
			return false
		}
		open[c] = true
		return true
	}
	end := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		c.Close()
		delete(open, c)
	}
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
			if !keep(client) || !keep(server) {
				client.Close()
				return
			}
			pass := func(dst, src net.Conn) {
				_, _ = io.Copy(dst, src) // either side may close
				end(dst)
				end(src)
			}
			done.Go(func() { pass(client, server) })
			done.Go(func() { pass(server, client) })
		}
	})
	return func() {
		ln.Close()
		mu.Lock()
		closed = true
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		done.Wait()
	}, nil
}
