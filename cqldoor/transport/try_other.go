// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package transport

// canTry is false where a socket cannot be written to directly: every write is
// left to drain.
const canTry = false

func (c *Conn) try(uintptr) bool { return true }
