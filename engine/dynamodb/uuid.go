// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"crypto/rand"
	"fmt"
)

// newUUID returns a random UUID of version 4.
func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
