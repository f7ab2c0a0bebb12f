// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// index is the layout of a sharded global index.
type index struct {
	name    string
	layout  *shard.Layout
	single  bool // the shard is its only partition key attribute
	filling bool // some items may have no shard in it
	there   bool // the physical table has the index, in this layout
}

// attribute returns the name of the index's hidden partition key attribute, a number.
func (ix *index) attribute() string { return indexPrefix + ix.name }

// indexes are the sharded global indexes of a table, by name.
type indexes []index

// sharded returns the layout of a sharded index that the table has, or nil for others.
func (x indexes) sharded(name string) *index {
	if ix := x.declared(name); ix != nil && ix.there {
		return ix
	}
	return nil
}

// declared returns the layout of a sharded index that the table has or may get: items have their
// shards in it.
func (x indexes) declared(name string) *index {
	for i := range x {
		if x[i].name == name {
			return &x[i]
		}
	}
	return nil
}

// set adds the shards in indexes of the item with a key.
func (x indexes) set(k *keys, item, key attribute.Item) attribute.Item {
	for i := range x {
		item = item.With(x[i].attribute(), attribute.Int(int64(x[i].shardOf(k, key))))
	}
	return item
}

// shardOf returns the shard of an item in the index by the item's key. It depends on nothing
// that an update can change.
func (ix *index) shardOf(k *keys, key attribute.Item) int {
	hash, sort := k.of(key)
	if k.sort.Name == "" {
		return ix.layout.ShardOf(valueBytes(hash), valueBytes(hash))
	}
	return ix.layout.ShardOf(valueBytes(hash), valueBytes(hash), valueBytes(sort))
}

// checkSharded returns an error if an index cannot be sharded.
func checkSharded(table string, ix *schema.Index, in index) error {
	switch {
	case in.layout.Strategy == shard.Time:
		return refuse(table, "index %s: strategy 'time' is for tables; write shards=N", in.name)
	case in.layout.Strategy == shard.Rollover:
		return refuse(table, "index %s: strategy 'rollover' is for tables; write shards=N", in.name)
	case in.layout.Strategy != shard.Calculated:
		return refuse(table, "index %s: strategy 'random' would move an entry at each put; use 'calculated'", in.name)
	case in.single && (len(ix.Key.Hash) > 1 || len(ix.Key.Range) > 0):
		return refuse(table, "index %s: with keys=single its sort key is what is its partition key for the client, and so it can have no other attribute; "+
			"leave keys=single out, for an endpoint that takes several partition key attributes, or give the index one key attribute", in.name)
	case len(ix.Key.Hash) == schema.MaxKeyAttributes:
		return refuse(table, "index %s has %d partition key attributes, and no room for the shard; leave one out", in.name, len(ix.Key.Hash))
	case len(ix.Key.Range) > 1:
		return refuse(table, "index %s has %d sort key attributes, which this version does not merge; use one", in.name, len(ix.Key.Range))
	case len(indexPrefix)+len(in.name) > 255:
		return refuse(table, "index %s: the name leaves no room for that of the hidden attribute %s<IndexName>; use a shorter one", in.name, indexPrefix)
	}
	return nil
}

func localIndex(table, name string) error {
	return refuse(table, "local secondary index %s is spread with the table; leave the tag %s%s out", name, IndexTagPrefix, name)
}

// key returns the index's physical key for its logical key, and the definition of the additional
// attribute.
func (ix *index) key(logical []schema.KeyElement) ([]schema.KeyElement, schema.Definition) {
	key := append([]schema.KeyElement{{Name: ix.attribute(), Type: "HASH"}}, logical...)
	if ix.single {
		key[1].Type = "RANGE"
	}
	return key, schema.Definition{Name: ix.attribute(), Type: attribute.N}
}

// DeclareIndex returns the layout, of a global index that a client will create, that a tag on an
// existing table declares.
func DeclareIndex(t *schema.Table, name, value string) (layout *shard.Layout, single bool, err error) {
	if ix, local := t.Index(name); local {
		return nil, false, localIndex(t.Name, name)
	} else if ix != nil {
		return nil, false, refuse(t.Name, "index %s exists, and its entries are where they are: declare an index of another name, create it, and delete this one", name)
	}
	value, keys, err := cutKeys(t.Name, value)
	if err != nil {
		return nil, false, err
	}
	if layout, err = parseLayout(t.Name, value); err != nil {
		return nil, false, err
	}
	in := index{name: name, layout: layout, single: keys == singleKey}
	return layout, in.single, checkSharded(t.Name, &schema.Index{}, in)
}

// SameIndex reports whether a tag's value declares a layout.
func SameIndex(layout *shard.Layout, single bool, value string) bool {
	value, keys, err := cutKeys("", value)
	if err != nil {
		return false
	}
	l, err := parseLayout("", value)
	if err != nil {
		return false
	}
	l.By = nil // it is the sort key
	same := &shard.Layout{Strategy: layout.Strategy, Hash: layout.Hash, N: layout.N, Column: l.Column, Width: layout.Width, Numbers: layout.Numbers, Fill: layout.Fill, Max: layout.Max}
	return l.Equal(same) && single == (keys == singleKey)
}

// These are the values of an index tag's option keys. They say whether the endpoint takes indexes
// with several partition key attributes.
const (
	multipleKeys = "multi"
	singleKey    = "single"
)

// cutKeys cuts the option keys out of an index tag's value.
func cutKeys(table, value string) (rest, keys string, err error) {
	keys = multipleKeys
	words := strings.Fields(value)
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "keys=") })
	if i < 0 {
		return value, keys, nil
	}
	if keys = strings.TrimPrefix(words[i], "keys="); keys != singleKey && keys != multipleKeys {
		return "", "", refuse(table, "keys=%s: it is %s, where the shard is one more partition key attribute of the index, or %s, "+
			"where it is the only one, for endpoints that take no more", keys, multipleKeys, singleKey)
	}
	return strings.Join(slices.Delete(words, i, i+1), " "), keys, nil
}
