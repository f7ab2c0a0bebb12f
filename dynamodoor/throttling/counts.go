// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"cmp"
	"slices"
	"sync"
)

// MaxTables is the number of tables that are counted by name. MaxKeys is the number of keys that
// are counted.
const (
	MaxTables = 200
	MaxKeys   = 50
)

// Other is the name under which tables beyond MaxTables are counted.
const Other = "other"

// TableCount is the number of times that requests on a table met a limit.
type TableCount struct {
	Table string // "": the request names no table, or several
	What
	Times int64
}

// KeyCount is the number of times that requests on a partition key met a limit since the key has
// been counted.
type KeyCount struct {
	Table, Key string
	What
	Times int64
}

// counts holds the counts of a Store.
type counts struct {
	mu     sync.Mutex
	named  map[string]bool
	tables map[TableCount]int64 // by the count without Times
	keys   map[KeyCount]*times  // the same
}

// times is the count of a key. weight is at least the number of times that the key has been
// throttled since the start, because it includes the weight of the key that it replaced.
type times struct{ own, weight int64 }

func newCounts() *counts {
	return &counts{named: map[string]bool{}, tables: map[TableCount]int64{}, keys: map[KeyCount]*times{}}
}

// add counts one limit. key is empty if it is unknown.
func (c *counts) add(table, key string, w What) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if table != "" && !c.named[table] {
		if len(c.named) >= MaxTables {
			table, key, w.Index = Other, "", ""
		} else {
			c.named[table] = true
		}
	}
	c.tables[TableCount{Table: table, What: w}]++
	if key == "" {
		return
	}
	k := KeyCount{Table: table, Key: key, What: w}
	n := c.keys[k]
	if n == nil {
		n = &times{weight: c.room()}
		c.keys[k] = n
	}
	n.own++
	n.weight++
}

// room makes room for one more key and returns the weight of the key that it removed.
func (c *counts) room() int64 {
	if len(c.keys) < MaxKeys {
		return 0
	}
	var least KeyCount
	weight := int64(-1)
	for k, n := range c.keys {
		if weight < 0 || n.weight < weight {
			least, weight = k, n.weight
		}
	}
	delete(c.keys, least)
	return weight
}

// forget removes a table's counts.
func (c *counts) forget(table string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.named[table] {
		return
	}
	delete(c.named, table)
	for k := range c.tables {
		if k.Table == table {
			delete(c.tables, k)
		}
	}
	for k := range c.keys {
		if k.Table == table {
			delete(c.keys, k)
		}
	}
}

func (c *counts) byTable() []TableCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]TableCount, 0, len(c.tables))
	for k, n := range c.tables {
		k.Times = n
		all = append(all, k)
	}
	return all
}

// byKey returns the keys, those that were throttled most often first.
func (c *counts) byKey() []KeyCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]KeyCount, 0, len(c.keys))
	for k, n := range c.keys {
		k.Times = n.own
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b KeyCount) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key))
	})
	return all
}
