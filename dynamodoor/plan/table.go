// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// These are hidden names.
const (
	// HiddenPrefix begins the names of hidden attributes.
	HiddenPrefix = "evenkeel."

	// PartitionKey is the physical tables' partition key.
	PartitionKey = HiddenPrefix + "pk"

	// indexPrefix begins the names of the attributes that hold the shards of items in sharded
	// indexes.
	indexPrefix = HiddenPrefix + "s."
)

// Table is a write-sharded table, or a plain one with sharded indexes. It is immutable.
type Table struct {
	Logical  *schema.Table // as the client knows it
	Physical string        // the physical table's name
	Layout   *shard.Layout // nil: the table itself is plain

	suffix     *shard.Suffix     // nil: the table was not sharded by hand
	located    map[string]int    // shards of items that a Search found, by address; nil: there was no Search
	hash, sort schema.Definition // a plain table may have no sort
	indexes    []index           // sharded global indexes, by name

	strict bool   // its layout was changed once: items that are not at their places are not shown
	from   *Table // during a change of the layout, the table in the old layout; else nil
}

// Spec describes a Table to open.
type Spec struct {
	Name     string
	Physical *schema.Table
	Hash     schema.Definition // the logical partition key; the physical table may not define it
	Layout   *shard.Layout     // nil: the table itself is plain
	Suffix   *shard.Suffix     // nil: the table was not sharded by hand
	Indexes  map[string]*shard.Layout
	Single   map[string]bool // the Indexes whose shard is their only partition key attribute
	Filling  map[string]bool // the Indexes in which items may have no shard yet
}

// Open returns the logical table of a physical one.
func Open(s Spec) (*Table, error) {
	t := &Table{Physical: s.Physical.Name, Layout: s.Layout, suffix: s.Suffix, hash: s.Hash}
	key := s.Physical.Key
	if t.hidesKey() && (len(key.Hash) != 1 || key.Hash[0] != PartitionKey || len(key.Range) != 1) {
		return nil, exception.Invalid("table %s is not one that evenkeel has made: its key is %s, not (%s, a sort key); "+
			"restore the physical table, or delete its entry in the catalogue", s.Physical.Name, key, PartitionKey)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Indexes)) {
		in := index{name: name, layout: s.Indexes[name], single: s.Single[name], filling: s.Filling[name]}
		physical, _ := s.Physical.Index(name)
		in.there = physical != nil && len(physical.Key.Hash) > 0 && physical.Key.Hash[0] == in.attribute()
		t.indexes = append(t.indexes, in)
	}
	t.Logical = t.logicalSchema(s.Name, s.Physical)
	t.sort = schema.Definition{Name: t.Logical.RangeName(), Type: t.Logical.Type(t.Logical.RangeName())}
	return t, nil
}

// WithSchema returns the table after a change of the physical one.
func (t *Table) WithSchema(physical *schema.Table) (*Table, error) {
	s := Spec{
		Name: t.Logical.Name, Physical: physical, Hash: t.hash, Layout: t.Layout, Suffix: t.suffix,
		Indexes: make(map[string]*shard.Layout), Single: make(map[string]bool), Filling: make(map[string]bool),
	}
	for _, ix := range t.indexes {
		s.Indexes[ix.name], s.Single[ix.name], s.Filling[ix.name] = ix.layout, ix.single, ix.filling
	}
	return Open(s)
}

// hidesKey reports whether the physical partition key is a hidden attribute.
func (t *Table) hidesKey() bool { return t.Layout != nil && t.suffix == nil }

// keyName returns the name of the physical partition key of a sharded table.
func (t *Table) keyName() string {
	if t.suffix != nil {
		return t.hash.Name
	}
	return PartitionKey
}

// Hash returns the definition of the logical partition key.
func (t *Table) Hash() schema.Definition { return t.hash }

// valueBytes returns the bytes of a key attribute's value that are hashed.
func valueBytes(v attribute.Value) []byte {
	s := v.Text()
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// shards returns the shards of a logical partition. During a change of the layout, it returns those
// in both layouts.
func (t *Table) shards(hash attribute.Value) []int {
	s := t.Layout.Spread(valueBytes(hash))
	if t.from == nil {
		return s.Places()
	}
	return t.from.placesBeside(t, hash)
}

// shardOf returns the shard of an item by its key.
func (t *Table) shardOf(hash, sort attribute.Value) int {
	return t.Layout.ShardOf(valueBytes(hash), valueBytes(sort))
}

// partition returns the physical partition key of a shard of a logical partition.
func (t *Table) partition(hash attribute.Value, shard int) attribute.Value {
	if t.suffix != nil {
		return attribute.String(t.suffix.Join(hash.Text(), shard))
	}
	return attribute.String(attribute.KeyText(hash) + "-" + strconv.Itoa(shard))
}

// shardIn returns the shard of an item in a sharded index by the item's key. It depends on nothing
// that an update can change.
func (t *Table) shardIn(ix *index, key attribute.Item) int {
	hash, _ := key.Get(t.hash.Name)
	if t.sort.Name == "" {
		return ix.layout.ShardOf(valueBytes(hash), valueBytes(hash))
	}
	sort, _ := key.Get(t.sort.Name)
	return ix.layout.ShardOf(valueBytes(hash), valueBytes(hash), valueBytes(sort))
}

// partitionOf returns the physical partition key of an item by its key.
func (t *Table) partitionOf(key attribute.Item) attribute.Value {
	hash, _ := key.Get(t.hash.Name)
	sort, _ := key.Get(t.sort.Name)
	if t.located != nil {
		if shard, found := t.located[address(hash, sort)]; found {
			return t.partition(hash, shard)
		}
	}
	return t.partition(hash, t.shardOf(hash, sort))
}

// physicalKey returns the physical key of an item for its logical key. It keeps other attributes of
// key. The physical partition key replaces the logical one.
func (t *Table) physicalKey(key attribute.Item) attribute.Item {
	if t.Layout == nil {
		return key
	}
	return key.Without(t.hash.Name).With(t.keyName(), t.partitionOf(key))
}

// physicalItem returns the item in its stored form.
func (t *Table) physicalItem(item attribute.Item) attribute.Item {
	out := t.withShards(item, item)
	if t.Layout != nil {
		out = out.With(t.keyName(), t.partitionOf(item))
	}
	return out
}

// withShards adds the shards in indexes of the item with a key.
func (t *Table) withShards(item, key attribute.Item) attribute.Item {
	for i := range t.indexes {
		item = item.With(t.indexes[i].attribute(), attribute.Int(int64(t.shardIn(&t.indexes[i], key))))
	}
	return item
}

// logicalKey returns the logical key for a physical one. It keeps other attributes of key except
// hidden ones.
func (t *Table) logicalKey(key attribute.Item) (attribute.Item, error) {
	v, ok := key.Get(t.keyName())
	key = visibleItem(key)
	if t.Layout == nil {
		return key, nil
	}
	if !ok {
		return nil, exception.New(exception.InternalServerError, "a key of table %s without its partition", t.Logical.Name)
	}
	hash, _, err := t.cut(v)
	if err != nil {
		return nil, err
	}
	return key.With(t.hash.Name, hash), nil
}

// cut returns the logical partition key and the shard of a physical one. A key of a table sharded
// by hand without a suffix stays unchanged, in shard 0.
func (t *Table) cut(v attribute.Value) (hash attribute.Value, shard int, err error) {
	text := v.Text()
	if t.suffix != nil {
		key, shard, ok := t.cutSuffix(text)
		if !ok {
			return v, 0, nil
		}
		return attribute.String(key), shard, nil
	}
	i := strings.LastIndexByte(text, '-')
	if i < 0 {
		return hash, 0, exception.New(exception.InternalServerError, "partition %q of table %s has no shard", text, t.Logical.Name)
	}
	if shard, err = strconv.Atoi(text[i+1:]); err != nil {
		return hash, 0, exception.New(exception.InternalServerError, "partition %q of table %s has no shard", text, t.Logical.Name)
	}
	hash, err = attribute.ParseKeyText(text[:i], t.hash.Type)
	return hash, shard, err
}

// logicalSchema returns a physical table's schema as the client knows it.
func (t *Table) logicalSchema(name string, physical *schema.Table) *schema.Table {
	out := *physical
	out.Name = name
	if t.hidesKey() {
		out.Key = schema.Key{Hash: []string{t.hash.Name}, Range: physical.Key.Range}
	}
	out.Definitions = nil
	for _, d := range physical.Definitions {
		switch {
		case d.Name == PartitionKey:
			out.Definitions = append(out.Definitions, t.hash)
		case strings.HasPrefix(d.Name, HiddenPrefix), t.hidesKey() && d.Name == t.hash.Name:
		default:
			out.Definitions = append(out.Definitions, d)
		}
	}
	out.Local = slices.Clone(physical.Local)
	for i := range out.Local {
		if t.hidesKey() {
			out.Local[i].Key.Hash = out.Key.Hash
			out.Local[i].Projection = logicalProjection(out.Local[i].Projection, t.hash.Name)
		}
	}
	out.Global = slices.Clone(physical.Global)
	for i := range out.Global {
		ix := &out.Global[i]
		switch sharded := t.sharded(ix.Name) != nil; {
		case sharded && len(ix.Key.Hash) > 1:
			ix.Key.Hash = ix.Key.Hash[1:]
		case sharded:
			ix.Key = schema.Key{Hash: ix.Key.Range}
		}
		if t.hidesKey() {
			ix.Projection = logicalProjection(ix.Projection, t.hash.Name)
		}
	}
	return &out
}

// physicalProjection returns an index's projection with the logical partition key, unless it is
// there already. It is not a key of the physical table.
func physicalProjection(p schema.Projection, key schema.Key, hash string) schema.Projection {
	if p.Type == schema.ProjectAll || key.Has(hash) || slices.Contains(p.NonKey, hash) {
		return p
	}
	return schema.Projection{Type: schema.ProjectInclude, NonKey: append(slices.Clone(p.NonKey), hash)}
}

func logicalProjection(p schema.Projection, hash string) schema.Projection {
	i := slices.Index(p.NonKey, hash)
	if i < 0 {
		return p
	}
	p.NonKey = slices.Delete(slices.Clone(p.NonKey), i, i+1)
	if len(p.NonKey) == 0 {
		p = schema.Projection{Type: schema.ProjectKeysOnly}
	}
	return p
}
