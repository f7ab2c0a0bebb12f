package plan

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// Hidden names.
const (
	// HiddenPrefix begins the names of attributes that are not the client's.
	HiddenPrefix = "evenkeel."

	// PartitionKey is the physical tables' partition key.
	PartitionKey = HiddenPrefix + "pk"
)

// Table is a write-sharded table. It does not change.
type Table struct {
	Logical  *schema.Table // as the client knows it
	Physical string        // the physical table's name
	Layout   *shard.Layout

	hash, sort schema.Definition
}

// NewTable returns the table that a physical one holds, in a layout. hash is the
// logical partition key, which the physical table does not define.
func NewTable(name string, physical *schema.Table, hash schema.Definition, layout *shard.Layout) (*Table, error) {
	if len(physical.Key.Hash) != 1 || physical.Key.Hash[0] != PartitionKey || len(physical.Key.Range) != 1 {
		return nil, exception.Invalid("table %s is not one that evenkeel has made: its key is %s, not (%s, a sort key); "+
			"restore the physical table, or delete its entry in the catalogue", physical.Name, physical.Key, PartitionKey)
	}
	t := &Table{Logical: logicalSchema(name, physical, hash), Physical: physical.Name, Layout: layout, hash: hash}
	t.sort = schema.Definition{Name: t.Logical.RangeName(), Type: t.Logical.Type(t.Logical.RangeName())}
	return t, nil
}

// WithSchema returns the table as it is after a change of the physical one.
func (t *Table) WithSchema(physical *schema.Table) (*Table, error) {
	return NewTable(t.Logical.Name, physical, t.hash, t.Layout)
}

// Hash is the definition of the logical partition key.
func (t *Table) Hash() schema.Definition { return t.hash }

// valueBytes is what is hashed of a key attribute's value.
func valueBytes(v attribute.Value) []byte {
	s := v.Text()
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// shards is how many a logical partition has.
func (t *Table) shards(hash attribute.Value) int { return t.Layout.Shards(valueBytes(hash)) }

// shardOf is the shard of an item, by its key.
func (t *Table) shardOf(hash, sort attribute.Value) int {
	return t.Layout.ShardOf(valueBytes(hash), valueBytes(sort))
}

// partition is the physical partition key of a shard of a logical partition.
func (t *Table) partition(hash attribute.Value, shard int) attribute.Value {
	return attribute.String(attribute.KeyText(hash) + "-" + strconv.Itoa(shard))
}

// partitionOf is the physical partition key of an item, by its key.
func (t *Table) partitionOf(key attribute.Item) attribute.Value {
	hash, _ := key.Get(t.hash.Name)
	sort, _ := key.Get(t.sort.Name)
	return t.partition(hash, t.shardOf(hash, sort))
}

// physicalKey is the physical key of an item, by its logical key or by itself; what
// else is in key stays, but for the logical partition key.
func (t *Table) physicalKey(key attribute.Item) attribute.Item {
	return key.Without(t.hash.Name).With(PartitionKey, t.partitionOf(key))
}

// physicalItem is the item as it is stored.
func (t *Table) physicalItem(item attribute.Item) attribute.Item {
	return item.With(PartitionKey, t.partitionOf(item))
}

// logicalKey is the logical key of a physical one; what else is in key stays.
func (t *Table) logicalKey(key attribute.Item) (attribute.Item, error) {
	v, ok := key.Get(PartitionKey)
	if !ok {
		return nil, exception.New(exception.InternalServerError, "a key of table %s without its partition", t.Logical.Name)
	}
	hash, err := t.logicalHash(v)
	if err != nil {
		return nil, err
	}
	return key.Without(PartitionKey).With(t.hash.Name, hash), nil
}

// logicalHash is the logical partition key of a physical one.
func (t *Table) logicalHash(v attribute.Value) (attribute.Value, error) {
	text := v.Text()
	i := strings.LastIndexByte(text, '-')
	if i < 0 {
		return attribute.Value{}, exception.New(exception.InternalServerError, "partition %q of table %s has no shard", text, t.Logical.Name)
	}
	return attribute.ParseKeyText(text[:i], t.hash.Type)
}

// logicalSchema is a physical table's schema as the client knows it.
func logicalSchema(name string, physical *schema.Table, hash schema.Definition) *schema.Table {
	t := *physical
	t.Name = name
	t.Key = schema.Key{Hash: []string{hash.Name}, Range: physical.Key.Range}
	t.Definitions = nil
	for _, d := range physical.Definitions {
		switch d.Name {
		case PartitionKey:
			t.Definitions = append(t.Definitions, hash)
		case hash.Name:
		default:
			t.Definitions = append(t.Definitions, d)
		}
	}
	t.Global = slices.Clone(physical.Global)
	for i := range t.Global {
		t.Global[i].Projection = logicalProjection(t.Global[i].Projection, hash.Name)
	}
	return &t
}

// physicalProjection is a global index's projection with the logical partition
// key, which is no key of the physical table.
func physicalProjection(p schema.Projection, key schema.Key, hash string) schema.Projection {
	if p.Type == schema.ProjectAll || key.Has(hash) {
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
