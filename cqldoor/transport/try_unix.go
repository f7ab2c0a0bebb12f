// SPDX-License-Identifier: Apache-2.0

//go:build unix

package transport

import "syscall"

const canTry = true

// try is the function that the runtime calls with the non-blocking socket. It always returns
// true, because drain does the waiting.
func (c *Conn) try(fd uintptr) bool {
	for c.tried < len(c.trying) {
		n, err := syscall.Write(int(fd), c.trying[c.tried:])
		switch {
		case n > 0:
			c.tried += n
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return true
		default:
			c.tryErr = err
			return true
		}
	}
	return true
}
