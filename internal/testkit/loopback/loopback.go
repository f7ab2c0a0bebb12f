// SPDX-License-Identifier: Apache-2.0

// Package loopback has what tests listen on: addresses of this machine, and a network
// in memory.
package loopback

import "testing"

// FreeAddr is a host:port for the test to listen on, in this process or another, as
// often as it likes. Nothing listens there before, and where the system can be told
// so (hold), nobody else is given the port until the test ends.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, release, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return addr
}

// Hold is FreeAddr until release is called, for what is no test.
func Hold() (addr string, release func(), err error) { return hold() }
