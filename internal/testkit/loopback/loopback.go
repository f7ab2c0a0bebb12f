// Package loopback has addresses of this machine for tests to listen on.
package loopback

import (
	"net"
	"testing"
)

// FreeAddr is a host:port on which nothing listened a moment ago.
func FreeAddr(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	return ln.Addr().String()
}
