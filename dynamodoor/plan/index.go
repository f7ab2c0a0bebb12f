// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
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

// sharded returns the layout of a sharded index that the table has, or nil for others.
func (t *Table) sharded(name string) *index {
	if ix := t.declared(name); ix != nil && ix.there {
		return ix
	}
	return nil
}

// declared returns the layout of a sharded index that the table has or may get: items have their
// shards in it.
func (t *Table) declared(name string) *index {
	for i := range t.indexes {
		if t.indexes[i].name == name {
			return &t.indexes[i]
		}
	}
	return nil
}

// checkSharded returns an error if an index cannot be sharded.
func checkSharded(table string, ix *schema.Index, in index) error {
	switch {
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

// Unspread returns the global indexes of a sharded table that are not sharded. A hot value of such
// an index's key throttles the table's writes, however well the table is spread.
func (t *Table) Unspread() []string {
	if t.Layout == nil {
		return nil
	}
	var names []string
	for i := range t.Logical.Global {
		if name := t.Logical.Global[i].Name; t.sharded(name) == nil {
			names = append(names, name)
		}
	}
	return names
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
	return err == nil && l.Equal(&shard.Layout{Strategy: layout.Strategy, Hash: layout.Hash, N: layout.N, Column: l.Column}) && single == (keys == singleKey)
}

// Unfilled returns the update that sets an item's shards in all indexes, if the item still exists,
// and the item's logical key. It returns nil unless the item lacks its right shard in an index that
// is being filled.
func (t *Table) Unfilled(physical attribute.Item) (q *api.UpdateItem, logical attribute.Item, err error) {
	if logical, err = t.logicalKey(physical); err != nil {
		return nil, nil, err
	}
	lacks := false
	for i := range t.indexes {
		has, _ := physical.Get(t.indexes[i].attribute())
		lacks = lacks || t.indexes[i].filling && !has.Equal(attribute.Int(int64(t.shardIn(&t.indexes[i], logical))))
	}
	if !lacks {
		return nil, nil, nil
	}
	names := t.keyNames()
	var b expression.Builder
	there := b.Function("attribute_exists", expression.PathOperand(expression.Top(names[0])))
	return &api.UpdateItem{
		Table: t.Physical, Key: physical.Only(names...), Update: expression.SetAttributes(t.withShards(nil, logical), nil), Condition: there,
	}, logical, b.Err()
}

// ScanUnfilled returns the request, for a segment, that reads the attributes that Unfilled needs.
func (t *Table) ScanUnfilled(segment, segments int) *api.Scan {
	names := t.keyNames()
	for i := range t.indexes {
		names = append(names, t.indexes[i].attribute())
	}
	return t.scanFor(names, segment, segments)
}

// keyNames returns the names of the physical key's attributes.
func (t *Table) keyNames() []string {
	names := []string{t.hash.Name}
	if t.hidesKey() {
		names[0] = PartitionKey
	}
	if t.sort.Name != "" {
		names = append(names, t.sort.Name)
	}
	return names
}

// scanFor returns a consistent request for some attributes of a segment of the table.
func (t *Table) scanFor(names []string, segment, segments int) *api.Scan {
	paths := make([]expression.Path, len(names))
	for i, n := range names {
		paths[i] = expression.Top(n)
	}
	return &api.Scan{Read: api.Read{Table: t.Physical, Projection: expression.Project(paths...), Consistent: true}, Segment: segment, Segments: segments}
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
