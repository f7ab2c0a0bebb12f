// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package loopback

import "net"

// hold finds a port on which nothing listened a moment ago. It cannot keep the port with a bound
// socket, because no other socket could use it then.
func hold() (addr string, release func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return ln.Addr().String(), func() {}, ln.Close()
}
