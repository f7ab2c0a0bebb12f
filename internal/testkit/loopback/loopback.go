// SPDX-License-Identifier: Apache-2.0

// Package loopback provides addresses on which tests listen: on this machine, and in a network in
// memory.
package loopback

import "testing"

// FreeAddr returns a host:port on which the test can listen, in this process or another, as often
// as it likes. Nothing listens there before. If the system allows it (hold), no other process gets
// the port until the test ends.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, release, err := hold()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return addr
}

// Hold does what FreeAddr does, until release is called, for callers that are not tests.
func Hold() (addr string, release func(), err error) { return hold() }
