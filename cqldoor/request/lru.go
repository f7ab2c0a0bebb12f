// SPDX-License-Identifier: Apache-2.0

package request

import (
	"container/list"
	"sync"
)

// lru is a map of bounded size that drops the least recently used entries. It is safe for
// concurrent use.
type lru[K comparable, V any] struct {
	mu    sync.Mutex
	size  int
	items map[K]*list.Element
	order list.List // of *item, most recently used first

	// weigh, if not nil, returns the bytes that an entry takes. All entries together take at most most bytes.
	weigh func(K, V) int
	most  int
	bytes int
}

// bounded limits the bytes of all entries together to most, and returns the map. The latest entry stays even
// if it is larger.
func (c *lru[K, V]) bounded(most int, weigh func(K, V) int) *lru[K, V] {
	c.most, c.weigh = most, weigh
	return c
}

type item[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](size int) *lru[K, V] {
	return &lru[K, V]{size: size, items: make(map[K]*list.Element)}
}

func (c *lru[K, V]) get(k K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[k]
	if !ok {
		return v, false
	}
	if c.order.Front() != e {
		c.order.MoveToFront(e)
	}
	return e.Value.(*item[K, V]).value, true
}

func (c *lru[K, V]) put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store(k, v)
}

func (c *lru[K, V]) getOr(k K, make func() V) V {
	if v, ok := c.get(k); ok {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[k]; ok {
		return e.Value.(*item[K, V]).value
	}
	v := make()
	c.store(k, v)
	return v
}

// each calls f for all values, in any order.
func (c *lru[K, V]) each(f func(V)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.items {
		f(e.Value.(*item[K, V]).value)
	}
}

func (c *lru[K, V]) store(k K, v V) {
	if e, ok := c.items[k]; ok {
		c.bytes += c.weight(k, v) - c.weight(k, e.Value.(*item[K, V]).value)
		e.Value.(*item[K, V]).value = v
		c.order.MoveToFront(e)
	} else {
		c.bytes += c.weight(k, v)
		c.items[k] = c.order.PushFront(&item[K, V]{k, v})
	}
	for c.order.Len() > c.size || c.bytes > c.most && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*item[K, V])
		c.bytes -= c.weight(last.key, last.value)
		delete(c.items, last.key)
	}
}

func (c *lru[K, V]) weight(k K, v V) int {
	if c.weigh == nil {
		return 0
	}
	return c.weigh(k, v)
}

// Len returns the number of entries.
func (c *lru[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.items)
}
