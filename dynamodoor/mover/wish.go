// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// Wish is the number of shards that a client asks for: for each key, or for one key.
type Wish struct {
	Shards int    // 0: a plain table
	key    string // as attribute.KeyText writes it; "": all keys without places of their own
}

// has returns the places of a key and the highest place that it ever had. For "", it returns those
// of the keys without places of their own.
func has(e *catalog.Entry, key string) (shard.Range, int) {
	if o, ok := e.Own[key]; ok && key != "" {
		return o.Range, o.Used
	}
	l := e.Layout
	return shard.Range{N: l.N, Base: l.Base}, max(l.Used, l.Base+l.N)
}

// aim returns the change that fulfils a wish.
func (w Wish) aim(e *catalog.Entry) *catalog.Change {
	from, used := has(e, w.key)
	to := plan.Next(from, used, max(1, w.Shards))
	return &catalog.Change{Step: protocol.None.Next().String(), Shards: to.N, Base: to.Base, Key: w.key, Plain: w.Shards == 0}
}

// end gives an entry whose change is done its new layout. If the change was taken back, end begins
// another one.
func end(n *catalog.Entry) error {
	c := *n.Change
	back := Wish{From(n, c.Key), c.Key}
	_, used := has(n, c.Key)
	to := shard.Range{N: c.Shards, Base: c.Base}
	used = max(used, to.Last())
	n.Change = nil
	if c.Key != "" {
		if err := n.SetOwn(c.Key, catalog.Own{Range: to, Used: used}); err != nil {
			return err
		}
	} else {
		n.Layout.N, n.Layout.Base, n.Layout.Used, n.Plain = to.N, to.Base, used, c.Plain
	}
	if c.Back {
		n.Change = back.aim(n)
		n.Change.Hurry, n.Change.Paused, n.Change.Beyond = c.Hurry, c.Paused, c.Beyond
	}
	return nil
}

// From returns the number of shards of a key. For "", it returns that of the keys without places of
// their own. It returns 0 for a plain table.
func From(e *catalog.Entry, key string) int {
	if key == "" && e.Plain {
		return 0
	}
	r, _ := has(e, key)
	return r.N
}

// shardsText describes a number of shards in words.
func shardsText(n int) string {
	if n == 0 {
		return "a plain table"
	}
	return fmt.Sprintf("%d shards", n)
}

// Towards returns the number of shards that a change shall give; 0: a plain table.
func Towards(c *catalog.Change) int {
	if c.Plain {
		return 0
	}
	return c.Shards
}
