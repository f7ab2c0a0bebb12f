// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"cmp"
	"slices"
	"sync"
)

// MaxTables is how many tables are counted by name; MaxKeys how many keys are.
const (
	MaxTables = 200
	MaxKeys   = 50
)

// Other is the name under which tables beyond MaxTables are counted.
const Other = "other"

// TableCount is how often requests on a table met a limit.
type TableCount struct {
	Table string // "" where the request names none, or several
	What
	Times int64
}

// KeyCount is how often requests about a partition key met a limit, since the key is
// among those that are counted.
type KeyCount struct {
	Table, Key string
	What
	Times int64
}

// counts are what a Store has counted.
type counts struct {
	mu     sync.Mutex
	named  map[string]bool
	tables map[TableCount]int64 // by the count without Times
	keys   map[KeyCount]*times  // the same
}

// times is a key's count. weight is never less than how often the key was throttled since
// the start: it has the weight of the key whose place it took.
type times struct{ own, weight int64 }

func newCounts() *counts {
	return &counts{named: map[string]bool{}, tables: map[TableCount]int64{}, keys: map[KeyCount]*times{}}
}

// add counts. key may be empty: it is not known.
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

// room makes room for one more key, and returns the weight of the one that left.
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

// forget lets a table leave.
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

// byKey are the keys, those first that were throttled most often.
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
