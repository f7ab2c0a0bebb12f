// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// entry is what the cache keeps under a hash: an item in each form in which clients asked for it,
// or the answer to a query. It is immutable; the cache replaces it.
type entry struct {
	key      []byte // item: the table and the key; query: the whole request
	at       uint64 // the count of writes to the table with which it is valid
	variants []variant
}

// variant is an item in the form for one principal and one projection.
type variant struct {
	who     []byte // the principal, the table's name in the request, the projection
	text    []byte // the item, or the answer to a query; nil: there is none
	expires int64  // Unix nanoseconds
}

// maxVariants is the largest number of forms of one item, because a hit searches them all.
const maxVariants = 64

// These are the sizes of an entry and a variant without their texts. They include the node of the
// cache, its place in the hash table, and the allocator's rounding.
const (
	entryBytes   = 160
	variantBytes = 96

	page = 8 << 10 // large texts take whole pages, others at most an eighth more
)

func (e *entry) weight() uint32 {
	n := entryBytes + len(e.key) + variantBytes*len(e.variants)
	for i := range e.variants {
		text := len(e.variants[i].who) + len(e.variants[i].text)
		if text += text / 8; text > 4*page {
			text = (text/page + 1) * page
		}
		n += text
	}
	return uint32(n)
}

// with returns the entry with one more variant, which replaces an older one of the same form.
func (e *entry) with(v variant, now int64) *entry {
	out := &entry{key: e.key, at: e.at, variants: make([]variant, 0, len(e.variants)+1)}
	for _, old := range e.variants {
		if now < old.expires && !bytes.Equal(old.who, v.who) {
			out.variants = append(out.variants, old)
		}
	}
	if len(out.variants) == maxVariants {
		out.variants = append(out.variants[:0], out.variants[1:]...)
	}
	out.variants = append(out.variants, v)
	return out
}

// These are kinds of entries. The kind is part of the hash.
const (
	kindItem  = 'i'
	kindQuery = 'q'
	kindBatch = 'b'
)

// asked is the object of a read: an item or a query.
type asked struct {
	hash    uint64
	key     []byte
	variant []byte // empty for queries
	table   *cachefence.TableEpoch
}

// item sets a to an item of a table as who sees it.
func (a *asked) item(f *counts, who, table string, key attribute.Item, p *expression.Projection) {
	name := api.TableName(table)
	a.key = appendItemKey(a.key[:0], name, key)
	a.hash = f.Hash(kindItem, a.key)
	a.table = f.Table(name)
	a.variant = appendVariant(a.variant[:0], who, table, p)
}

// flight returns the hash of the read among the reads under way. It covers the item as the
// principal sees it, and stays in the item's group.
func (a *asked) flight(f *counts) uint64 {
	return (f.Hash(kindItem, a.variant)^a.hash)&^(cachefence.Groups-1) | a.hash%cachefence.Groups
}

// appendItemKey appends the canonical text of a table's key: equal keys have equal texts.
func appendItemKey(dst []byte, table string, key attribute.Item) []byte {
	return attribute.AppendItem(appendText(dst, table), key)
}

func appendVariant(dst []byte, who, table string, p *expression.Projection) []byte {
	dst = appendText(appendText(dst, who), table)
	if p == nil {
		return dst
	}
	for _, path := range p.Paths() {
		dst = append(appendText(dst, path.Name), byte(len(path.Steps)))
		for _, s := range path.Steps {
			dst = binary.AppendVarint(dst, int64(s.Index))
			dst = appendText(dst, s.Field)
		}
	}
	return dst
}

// appendText appends a text together with its length, so that its end is known.
func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// find returns the text that the cache keeps for a read of an item. It returns false if there is
// none.
func (c *Cache) find(a *asked) (text []byte, ok bool) {
	e, ok := c.entries.GetIfPresent(a.hash)
	if !ok || !bytes.Equal(e.key, a.key) || e.at != c.fence.Wide(a.table).Count {
		return nil, false
	}
	for i := range e.variants {
		v := &e.variants[i]
		if bytes.Equal(v.who, a.variant) {
			return v.text, c.options.Now().UnixNano() < v.expires
		}
	}
	return nil, false
}

// view returns the current view of an item. The caller holds the mutex of its group.
func (c *Cache) view(a *asked) cachefence.View {
	return c.fence.Item(a.table, a.hash).At(c.options.Now)
}

// keep keeps the store's answer to a read that began at then: an item, or the fact that there is
// none. It copies the texts.
func (c *Cache) keep(a *asked, then cachefence.View, text []byte, expires int64) {
	now := c.options.Now().UnixNano()
	if !then.MayKeep() || now >= expires {
		return
	}
	e := &entry{}
	room := make([]byte, 0, len(a.key)+len(a.variant)+len(text))
	v := variant{expires: expires}
	room, e.key = piece(room, a.key)
	room, v.who = piece(room, a.variant)
	if text != nil {
		_, v.text = piece(room, text)
	}

	g := c.fence.Group(a.hash)
	g.Lock()
	defer g.Unlock()
	if !then.Holds(c.fence.Item(a.table, a.hash)) {
		return
	}
	e.at = then.Whole
	if old, ok := c.entries.GetEntryQuietly(a.hash); ok && old.Value.at == e.at && bytes.Equal(old.Value.key, e.key) {
		e.key, e.variants = old.Value.key, old.Value.variants
	}
	c.entries.Set(a.hash, e.with(v, now))
}

// piece appends p to room and returns room and the appended piece.
func piece(room, p []byte) ([]byte, []byte) {
	n := len(room)
	room = append(room, p...)
	return room, room[n:len(room):len(room)]
}

// life returns the time at which an entry expires that the cache keeps from now on.
func (c *Cache) life(ttl time.Duration) int64 { return c.options.Now().Add(ttl).UnixNano() }
