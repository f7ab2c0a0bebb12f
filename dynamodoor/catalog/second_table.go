// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"crypto/rand"
	"encoding/hex"
)

// SecondPrefix begins the names of second physical tables (Change.Second). Clients cannot use such a
// name.
const SecondPrefix = Table + ".of."

// longestName is the largest number of characters in the name of a table.
const longestName = 255

// SecondName draws the name of a second physical table. No name is drawn twice. So if a door was
// stopped for an hour, and then sends a request to the second table of a change that was taken back,
// it finds no table.
func SecondName(table string) string {
	var drawn [8]byte
	rand.Read(drawn[:])
	end := "." + hex.EncodeToString(drawn[:])
	return SecondPrefix + table[:min(len(table), longestName-len(SecondPrefix)-len(end))] + end
}
