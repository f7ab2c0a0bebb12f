// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// Search is the plan of a request on items whose shards the application drew. The door looks for
// the items in all shards and then sends the request to their places. For an item that does not
// exist, the request goes to the shard of its sort key's hash and creates it there. So doors that
// create an item at the same time, and clients that retry, use the same shard.
//
// The caller sends the requests of Gets, passes each answer to Found, one at a time, and carries
// out Plan. If that fails with a condition and Guarded returns true, the item may have been deleted
// since it was found: see Same.
type Search struct {
	request  api.Request
	capacity api.ReturnConsumedCapacity
	sought   []sought
	tables   map[string]*Table         // the request's tables, by the names in the request and by their physical names
	located  map[string]map[string]int // shards by physical table and address
	guarded  bool
	taken    map[string]*api.ConsumedCapacity // consumed capacity by physical table
}

// sought is an item to look for, by its logical key.
type sought struct {
	table *Table
	key   attribute.Item
}

// getsPerRequest is the largest number of keys in a BatchGetItem.
const getsPerRequest = 100

// search returns the plan of a request whose items must be looked for.
func search(q api.Request, capacity api.ReturnConsumedCapacity, tables Tables, items ...sought) (Plan, error) {
	s := &Search{
		request: q, capacity: capacity, tables: make(map[string]*Table), located: make(map[string]map[string]int), taken: make(map[string]*api.ConsumedCapacity),
	}
	// The request on the found items uses the same tables.
	api.EachTable(q, func(name string) {
		if t := tables(name); t != nil {
			s.tables[name], s.tables[t.Physical] = t, t
		}
	})
	seen := make(map[string]bool)
	for _, it := range items {
		if _, err := it.table.Key(it.key); err != nil {
			return nil, err
		}
		hash, sort := it.table.of(it.key)
		if at := it.table.Physical + "/" + address(hash, sort); !seen[at] {
			seen[at] = true
			s.sought = append(s.sought, it)
		}
	}
	return s, nil
}

// Gets returns the requests that look for the items. It yields them one at a time, because many
// items and shards need very many requests.
func (s *Search) Gets() iter.Seq[*api.BatchGetItem] {
	return func(yield func(*api.BatchGetItem) bool) {
		get, room := &api.BatchGetItem{Capacity: s.capacity}, getsPerRequest
		for _, it := range s.sought {
			t := it.table
			hash, sort := t.of(it.key)
			for _, shard := range t.shards(hash) {
				if room == 0 {
					if !yield(get) {
						return
					}
					get, room = &api.BatchGetItem{Capacity: s.capacity}, getsPerRequest
				}
				i := slices.IndexFunc(get.Tables, func(in api.BatchGetTable) bool { return in.Table == t.Physical })
				if i < 0 {
					i = len(get.Tables)
					keys := expression.Project(expression.Top(t.hash.Name), expression.Top(t.sort.Name))
					get.Tables = append(get.Tables, api.BatchGetTable{Table: t.Physical, Projection: keys, Consistent: true})
				}
				get.Tables[i].Keys = append(get.Tables[i].Keys, t.key(t.partition(hash, shard), sort))
				room--
			}
		}
		yield(get)
	}
}

// searchPut returns the plan of a put whose item must be looked for.
func searchPut(t *Table, q *api.PutItem, tables Tables) (Plan, error) {
	if err := t.Logical.CheckItem(q.Item); err != nil {
		return nil, err
	}
	return search(q, q.Capacity, tables, sought{t, q.Item.Only(t.Logical.Key.Names(nil)...)})
}

// Found notes the items in an answer to one of Gets. It returns the request for the keys that the
// answer left out, or nil if there are none. It keeps nothing of the answer.
func (s *Search) Found(get *api.BatchGetItem, r *api.BatchGetResponse) (rest *api.BatchGetItem, err error) {
	var d attribute.Decoder
	for _, found := range r.Tables {
		t := s.tables[found.Table]
		if t == nil {
			return nil, fmt.Errorf("an answer about table %s, which was not asked for", found.Table)
		}
		for _, text := range found.Items {
			item, err := d.Item(text)
			if err != nil {
				return nil, fmt.Errorf("table %s has an item that is none: %w", found.Table, err)
			}
			if err := s.locate(t, item); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.Capacity {
		c := &r.Capacity[i]
		if s.taken[c.Table] == nil {
			s.taken[strings.Clone(c.Table)] = &api.ConsumedCapacity{Detail: c.Detail, Display: c.Display}
		}
		s.taken[c.Table].Add(c)
	}
	if len(r.Unprocessed) == 0 {
		return nil, nil
	}
	rest = &api.BatchGetItem{Capacity: get.Capacity}
	for _, left := range r.Unprocessed {
		i := slices.IndexFunc(get.Tables, func(asked api.BatchGetTable) bool { return asked.Table == left.Table })
		if i < 0 {
			return nil, fmt.Errorf("an answer about table %s, which was not asked for", left.Table)
		}
		again := get.Tables[i]
		again.Keys = nil
		for _, k := range left.Keys {
			again.Keys = append(again.Keys, keep(k))
		}
		rest.Tables = append(rest.Tables, again)
	}
	return rest, nil
}

// locate notes the shard of an item.
func (s *Search) locate(t *Table, physical attribute.Item) error {
	v, sort := t.of(physical)
	hash, shard, err := t.cut(v)
	if err != nil {
		return err
	}
	in := s.located[t.Physical]
	if in == nil {
		in = make(map[string]int)
		s.located[t.Physical] = in
	}
	at := address(hash, sort)
	if other := in[at]; other != 0 && other != shard {
		return exception.Invalid("table %s has the item %s, %s twice, as %s and as %s: it is declared write-once, and which of them is meant nobody can tell; "+
			"delete one of them at the endpoint", t.Logical.Name, hash.Text(), sort.Text(), t.partition(hash, other).Text(), t.partition(hash, shard).Text())
	}
	in[at] = shard
	s.guarded = s.guarded || shard != t.shardOf(hash, sort)
	return nil
}

// Guarded reports whether the plan's writes have the condition that an item is still where it was
// found.
func (s *Search) Guarded() bool { return s.guarded }

// Same reports whether another search found the same items in the same shards.
func (s *Search) Same(other *Search) bool {
	return maps.EqualFunc(s.located, other.located, maps.Equal[map[string]int, map[string]int])
}

// Plan returns the plan of the request on the found items.
func (s *Search) Plan() (Plan, error) {
	return Make(s.request, func(name string) *Table {
		t := s.tables[name]
		if t == nil || !t.drawn() {
			return t
		}
		at := *t
		if at.located = s.located[t.Physical]; at.located == nil {
			at.located = make(map[string]int)
		}
		return &at
	})
}

// Answer adds the capacity that the search consumed to the client's answer.
func (s *Search) Answer(r api.Response) {
	switch r := r.(type) {
	case *api.ItemResponse:
		if r.Capacity != nil {
			s.addTo(r.Capacity)
		}
	case *api.BatchGetResponse:
		s.addToAll(r.Capacity)
	case *api.BatchWriteResponse:
		s.addToAll(r.Capacity)
	case *api.TransactGetResponse:
		s.addToAll(r.Capacity)
	}
}

func (s *Search) addToAll(all []api.ConsumedCapacity) {
	for i := range all {
		s.addTo(&all[i])
	}
}

func (s *Search) addTo(c *api.ConsumedCapacity) {
	if t := s.tables[api.TableName(c.Table)]; t != nil && s.taken[t.Physical] != nil {
		c.Add(s.taken[t.Physical])
	}
}

// Err implements Plan.
func (s *Search) Err(err error) error { return err }

// String implements Plan.
func (s *Search) String() string {
	var lines []string
	for get := range s.Gets() {
		lines = append(lines, get.Describe())
	}
	return strings.Join(append(lines, "then, where that is: "+s.request.(api.ItemRequest).Describe()), "\n")
}

// drawnTransaction returns the error for a transaction that would have to look for items. If a
// client repeated it with its token, the physical request could differ.
func drawnTransaction(t *Table) error {
	return exception.InvalidParameters("table %s was sharded by hand at random, so that an item is looked for in all shards; in a TransactWriteItems "+
		"it takes only a Put without a condition; use UpdateItem, DeleteItem or PutItem", t.Logical.Name)
}
