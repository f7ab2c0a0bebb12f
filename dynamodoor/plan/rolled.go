// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"
	"sort"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard"
)

// The shards of a table of strategy rollover are consecutive ranges of the sort key. A partition key
// begins with one shard. When the last shard is full, the next one begins after the greatest sort
// key in it. So the place of an item is a function of its key and of the partition key's bounds:
// an item that is put again is at the place where it is. A directory has the bounds, which never
// change once items can be beyond them.

// Rolled says where the shards of a partition key begin. It is immutable. The zero Rolled is that
// of a key with one shard.
type Rolled struct {
	Bounds []attribute.Value // the first sort key of shard 2, of shard 3, and so on
	Held   attribute.Value   // items with this sort key or a greater one cannot be created yet; Invalid: all can
}

// shardOf returns the shard of an item by its sort key.
func (r *Rolled) shardOf(key attribute.Value) int {
	return 1 + sort.Search(len(r.Bounds), func(i int) bool {
		c, ok := attribute.Compare(r.Bounds[i], key)
		return !ok || c > 0
	})
}

// rolledIn returns the places of a partition key that can have items of an interval, in the order of the
// answer.
func (p *placement) rolledIn(hash attribute.Value, i interval, backward bool) []int {
	places := p.rolledOf(hash).shards(i, backward)
	for n := range places {
		places[n] += p.Layout.Base
	}
	return places
}

// shards returns the shards that can have items of an interval, in the order of the answer.
func (r *Rolled) shards(i interval, backward bool) []int {
	first, last := 1, len(r.Bounds)+1
	if bounded(i.low) {
		first = r.shardOf(i.low)
	}
	if bounded(i.high) {
		last = r.shardOf(i.high)
	}
	shards := []int{first} // if the interval is empty, the store says so
	for n := first + 1; n <= last; n++ {
		shards = append(shards, n)
	}
	if backward {
		slices.Reverse(shards)
	}
	return shards
}

// Holds reports whether an item cannot be created yet.
func (r *Rolled) Holds(key attribute.Value) bool {
	c, ok := attribute.Compare(r.Held, key)
	return bounded(r.Held) && ok && c <= 0
}

// Equal reports whether two partition keys have the same shards.
func (r *Rolled) Equal(o *Rolled) bool {
	return slices.EqualFunc(r.Bounds, o.Bounds, attribute.Value.Equal) && r.Held.Equal(o.Held)
}

// Rolls reports whether the table has the strategy rollover.
func (p *placement) Rolls() bool { return p.Layout != nil && p.Layout.Strategy == shard.Rollover }

// InDirectory reports whether a directory has the shards of a layout's partition keys.
func InDirectory(l *shard.Layout) bool {
	return l.Strategy == shard.Time || l.Strategy == shard.Rollover
}

// InDirectory reports whether a directory has the shards of the table's partition keys.
func (p *placement) InDirectory() bool { return p.Layout != nil && InDirectory(p.Layout) }

// Rolling returns the table for one request. rolled returns the bounds of a partition key, which also has a
// name in the directory.
func (t *Table) Rolling(rolled func(name string, hash attribute.Value) *Rolled) *Table {
	in := *t
	in.rolled = func(hash attribute.Value) *Rolled { return rolled(t.RolledName(hash), hash) }
	return &in
}

// RolledName returns the directory's name of a partition key under rollover.
func (s *stored) RolledName(hash attribute.Value) string { return s.directory().rolledName(hash) }

// rolledOf returns the bounds of a partition key.
func (p *placement) rolledOf(hash attribute.Value) *Rolled {
	if p.rolled == nil {
		return new(Rolled)
	}
	return p.rolled(hash)
}

// Filled is an item that a request may create in a table of strategy rollover.
type Filled struct {
	Table *Table
	Shard int  // where the request puts it, from 1 on; the place follows the layout's base
	Last  bool // it is the partition key's last shard
	Held  bool // the item cannot be created yet
	hash  attribute.Value
	sort  attribute.Value
}

// Partition returns the directory's name of the item's partition key.
func (f *Filled) Partition() string { return f.Table.directory().rolledName(f.hash) }

// Stays reports whether the item is where it was put if the partition key has these bounds.
func (f *Filled) Stays(r *Rolled) bool { return r.shardOf(f.sort) == f.Shard && !r.Holds(f.sort) }

// HeldIn reports whether the item cannot be created if the partition key has these bounds.
func (f *Filled) HeldIn(r *Rolled) bool { return r.Holds(f.sort) }

// FirstOf returns an item in the first shard of a partition key, without its sort key.
func (t *Table) FirstOf(hash attribute.Value) *Filled { return &Filled{Table: t, Shard: 1, hash: hash} }

// filledBy returns the item that a request may create, or none if the table has another strategy.
func (t *Table) filledBy(key attribute.Item) []Filled {
	if !t.Rolls() {
		return nil
	}
	hash, sort := t.of(key)
	r := t.rolledOf(hash)
	at := r.shardOf(sort)
	return []Filled{{Table: t, Shard: at, Last: at == len(r.Bounds)+1, Held: r.Holds(sort), hash: hash, sort: sort}}
}

// HasShard reports whether a shard of a partition key has room in the physical one.
func (p *placement) HasShard(hash attribute.Value, shard int) bool {
	return len(p.partition(hash, p.Layout.Base+shard).Text()) <= attribute.MaxHashSize
}

// Roll reports whether the item's partition key can have another shard after the item's.
func (f *Filled) Roll() bool {
	return f.Shard < f.Table.Layout.Max && f.Table.HasShard(f.hash, f.Shard+1)
}

// Greatest returns the request for the item with the greatest sort key in the item's shard.
func (f *Filled) Greatest() *api.Query {
	k := expression.KeyRange{Hash: []attribute.Value{f.Table.partition(f.hash, f.Table.Layout.Base+f.Shard)}}
	return &api.Query{
		Read:     api.Read{Table: f.Table.Physical, Consistent: true, Limit: 1, Projection: expression.Project(expression.Top(f.Table.sort.Name))},
		Backward: true, KeyCondition: k.Condition([]string{PartitionKey}, []string{f.Table.sort.Name}),
	}
}

// In returns the same item in another shard of its partition key.
func (f Filled) In(shard int) *Filled {
	f.Shard = shard
	return &f
}

// Next returns the greatest sort key in an answer to Greatest, and the first one after it. They are
// Invalid if the shard is empty, or if no sort key follows.
func (f *Filled) Next(r *api.ItemsResponse) (greatest, next attribute.Value, err error) {
	for _, text := range r.Items {
		item, err := new(attribute.Decoder).Item(bytes.Clone(text)) // the value outlives the answer
		if err != nil {
			return greatest, next, err
		}
		greatest, _ = item.Get(f.Table.sort.Name)
		if is := after(greatest); is.Text() != greatest.Text() {
			next = is
		}
	}
	return greatest, next, nil
}

// These are the options of strategy rollover.
const (
	optionRows  = "rows"
	optionMax   = "max"
	optionBytes = "bytes"
)

// rolledLayout returns the layout of strategy rollover that options describe.
func rolledLayout(table string, options map[string]string) (*shard.Layout, error) {
	switch _, bytes := options[optionBytes]; {
	case bytes:
		return nil, refuse(table, "bytes: an update does not tell how large its item is; leave bytes out, and write how many items fill a shard: rows=100000, for instance")
	case options[optionRows] == "":
		return nil, refuse(table, "strategy 'rollover' needs to know how many items fill a shard; add rows=100000, for instance")
	}
	l, err := shard.Parse(options)
	if err != nil {
		return nil, refuse(table, "%s", parseReason(err))
	}
	return l, nil
}
