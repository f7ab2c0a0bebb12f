// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"

	"github.com/evenkeel/evenkeel/cachefence"
)

// entry is a kept answer. It never changes.
type entry struct {
	asked   []byte // the whole read, and its account
	body    []byte // body of the RESULT
	at      uint64 // count of writes to the partition and its table for which the entry holds
	expires int64  // Unix nanoseconds
}

// entryBytes is the memory of an entry without its texts: the struct, the node of the cache and
// its slot in the hash table.
const entryBytes = 224

func (e *entry) weight() uint32 {
	n := len(e.asked) + len(e.body)
	return uint32(entryBytes + n + n/8) // the allocator rounds up
}

// asked describes what a read asks for.
type asked struct {
	text  []byte // account and request in one normal form
	hash  uint64 // hash of text, in the group of the partition
	part  uint64 // hash of the partition
	table *table
	epoch *cachefence.TableEpoch
}

// These are the kinds of hashed things.
const (
	kindPartition = 'p'
	kindRead      = 'r'
)

// find returns the kept answer, or false if there is none.
func (c *Cache) find(a *asked) ([]byte, bool) {
	e, ok := c.entries.GetIfPresent(a.hash)
	if !ok || !bytes.Equal(e.asked, a.text) || c.options.Now().UnixNano() >= e.expires {
		return nil, false
	}
	g := c.fence.Group(a.part)
	g.Lock()
	defer g.Unlock()
	return e.body, e.at == c.fence.Item(a.epoch, a.part).Count
}

// view returns the current view of a partition. The caller holds its group's lock.
func (c *Cache) view(a *asked) cachefence.View {
	return c.fence.Item(a.epoch, a.part).At(c.options.Now)
}

// keep keeps the store's answer to a read that began with the view then.
func (c *Cache) keep(a *asked, then cachefence.View, body []byte) {
	if !then.MayKeep() || !c.mayKeep(a) || int64(len(body)) > c.options.Size/16 {
		return
	}
	e := &entry{asked: a.text, body: bytes.Clone(body), at: then.Count, expires: c.options.Now().Add(c.options.TTL).UnixNano()}
	g := c.fence.Group(a.part)
	g.Lock()
	defer g.Unlock()
	if then.Holds(c.fence.Item(a.epoch, a.part)) {
		c.entries.Set(a.hash, e)
	}
}
