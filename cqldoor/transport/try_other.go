// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package transport

// canTry is false where a socket cannot be written to directly. There, drain does every write.
const canTry = false

func (c *Conn) try(uintptr) bool { return true }
