// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"fmt"
	"testing"
)

// TestCountsAreBounded checks that, however many tables and keys there are, only a few are kept,
// nothing goes uncounted, and the hot key is among them.
func TestCountsAreBounded(t *testing.T) {
	c := newCounts()
	w := What{Cause: Partition, Write: true}
	const each = 20
	for i := range each * MaxKeys {
		c.add("hot", fmt.Sprint("cold", i), w)
		c.add("hot", "the popular one", w)
	}
	for i := range 2 * MaxTables {
		c.add(fmt.Sprint("table", i), "k", w)
	}
	total := int64(0)
	for _, n := range c.byTable() {
		total += n.Times
	}
	if n := len(c.byTable()); n > MaxTables+1 || total != 2*each*MaxKeys+2*MaxTables {
		t.Errorf("%d tables with %d in all", n, total)
	}
	keys := c.byKey()
	if len(keys) != MaxKeys || keys[0].Key != "the popular one" || keys[0].Times != each*MaxKeys {
		t.Errorf("%d keys: %+v", len(keys), keys[0])
	}
	for _, k := range keys[1:] {
		if k.Times > 2 {
			t.Errorf("%+v was throttled once", k)
		}
	}
	c.forget("hot")
	for _, k := range c.byKey() {
		if k.Table == "hot" {
			t.Errorf("%+v is of a table that has gone", k)
		}
	}
}
