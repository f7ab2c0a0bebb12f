// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"testing"
)

// TestFreeAddr checks that connections are refused while nothing listens at the address, that one
// process at a time can listen there repeatedly, and that nobody else gets it.
func TestFreeAddr(t *testing.T) {
	addr := FreeAddr(t)
	for range 3 {
		if c, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("nobody listens: %v, %v", c, err)
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := net.Listen("tcp", addr); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener: %v", err)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		served, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		// The server disconnects first: its side of the connection outlives the listener.
		served.Close()
		c.Close()
		ln.Close()
	}
	if runtime.GOOS != "linux" {
		return
	}
	// The system does not give this port to others.
	for range 20_000 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if ln.Addr().String() == addr {
			t.Fatal("the port is given to another")
		}
		ln.Close()
	}
}
