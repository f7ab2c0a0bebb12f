// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"testing"
)

// The address is refused while nothing listens there, can be listened on again and
// again, by one at a time, and is nobody else's.
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
		// The server hangs up first: its side of the connection outlives the listener.
		served.Close()
		c.Close()
		ln.Close()
	}
	if runtime.GOOS != "linux" {
		return
	}
	// Of all ports that are there to be given, this one is not.
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
