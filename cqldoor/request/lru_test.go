// SPDX-License-Identifier: Apache-2.0

package request

import (
	"testing"
)

// TestLRUIsBoundedInBytes puts entries of many lengths.
func TestLRUIsBoundedInBytes(t *testing.T) {
	c := newLRU[int, int](10).bounded(100, func(_, v int) int { return v })
	for i := range 8 {
		c.put(i, 30)
	}
	if c.Len() != 3 || c.bytes != 90 {
		t.Errorf("%d entries of %d bytes", c.Len(), c.bytes)
	}
	c.put(7, 50) // replaces 30
	if _, ok := c.get(5); ok || c.bytes != 80 {
		t.Errorf("%d bytes", c.bytes)
	}
	c.put(9, 1000) // the latest stays
	if _, ok := c.get(9); !ok || c.Len() != 1 || c.bytes != 1000 {
		t.Errorf("%d entries of %d bytes", c.Len(), c.bytes)
	}
}
