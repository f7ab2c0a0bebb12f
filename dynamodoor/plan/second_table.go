// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// The items of a plain table have no shard in their key. So a plain table becomes a sharded one by
// moving its items to a second physical table. During the change, an item's old place is in the
// first table, in shard.PlainPlace; its new place is in the second table, in one of the shards.

// at returns the items of the physical table that has a shard.
func (s *stored) at(place int) *stored {
	if f := s.from; f != nil && f.IsPlain() != s.IsPlain() && f.IsPlain() == (place == shard.PlainPlace) {
		return f
	}
	return s
}

// Apart reports whether two layouts of a table are in two physical tables.
func (s *stored) Apart(o *Table) bool { return s.Physical != o.Physical }

// Second returns the table with a sharded layout, in another physical table with a TableId.
func (t *Table) Second(physical, id string, to Target) *Table {
	layout := to.Layout(to.Places, 0, t.Layout.Generation)
	second := *t
	second.stored = stored{Physical: physical, id: id, placement: place(t.name, t.keys, layout, nil)}
	second.strict = true
	return &second
}

// Plain returns a plain table as one that is becoming a sharded one.
func Plain(physical *schema.Table) (*Table, error) {
	hash := schema.Definition{Name: physical.HashName(), Type: physical.Type(physical.HashName())}
	return Open(Spec{Name: physical.Name, Physical: physical, ID: physical.ID, Hash: hash, Layout: shard.Plain()})
}

// CheckPlain returns an error if a plain table cannot be made a sharded one while it is in use.
func CheckPlain(t *schema.Table, shape Shape) error {
	switch {
	case len(t.Key.Range) == 0:
		return refuse(t.Name, "it has no sort key, so that nothing tells the shard of an item; put a random shard into the partition key, or copy the items into a table with a sort key")
	case len(t.Key.Hash) != 1 || len(t.Key.Range) != 1:
		return refuse(t.Name, "its key has more than two attributes")
	case shape.Shards > shard.MaxShards:
		return refuse(t.Name, "%d shards are more than a table can have; use at most %d", shape.Shards, shard.MaxShards)
	case len(t.Local)+len(t.Global) > 0:
		return refuse(t.Name, "it is a plain table with indexes, and is not made a sharded one while it is in use yet: its items move to another physical table, "+
			"and the entries of the indexes with them; delete the indexes for the change, or create a table with the tag %s, and copy the items", Tag)
	case t.Stream.Enabled:
		return refuse(t.Name, "it is a plain table with a stream: its items move to another physical table, and the stream would end; disable the stream, or create a table with the tag %s, and copy the items", Tag)
	case t.DeletionProtection:
		return refuse(t.Name, "it is protected against deletion: its items move to another physical table, and the plain one is deleted when it is empty; switch the protection off for the change")
	case t.Status != "" && t.Status != schema.Active:
		return exception.New(exception.ResourceInUse, "table %s is %s; try again when it is active", t.Name, t.Status)
	}
	return nil
}

// CheckReserved returns an error if a stored item of a plain table has an attribute whose name is
// reserved in sharded tables. stamped says that doors may have given items their stamps already.
func (t *Table) CheckReserved(item attribute.Item, stamped bool) error {
	for i := range item {
		if name := item[i].Name; strings.HasPrefix(name, HiddenPrefix) && !(stamped && name == Stamp) {
			return refuse(t.Logical.Name, "the item with the key %s has the attribute %s: names that begin with %s are reserved in sharded tables; give it another name", t.KeyOf(item), name, HiddenPrefix)
		}
	}
	return nil
}

// Stamped returns the request for the keys, in a segment, of items that doors have given stamps.
func (s *stored) Stamped(segment, segments int) *api.Scan {
	q := s.ScanKeys(segment, segments)
	q.Filter = mustBuild(func(b *expression.Builder) *expression.Condition {
		return b.Function("attribute_exists", expression.PathOperand(expression.Top(Stamp)))
	})
	return q
}

// Unstamped returns the update that removes the stamp of an item, if that has one.
func (s *stored) Unstamped(item attribute.Item) (*api.UpdateItem, error) {
	var b, when expression.Builder
	b.Remove(expression.Top(Stamp))
	u, err := b.Update()
	return &api.UpdateItem{
		Table: s.Physical, Key: s.StoredKey(item), Update: u, Condition: when.Function("attribute_exists", expression.PathOperand(expression.Top(Stamp))),
	}, err
}

// SecondOf returns the declaration of the second physical table of a plain one. It has the plain
// table's settings.
func SecondOf(t *schema.Table, name string, tags []schema.Tag) *schema.Declaration {
	sort := t.RangeName()
	d := &schema.Declaration{
		Name:        name,
		Definitions: []schema.Definition{{Name: PartitionKey, Type: attribute.S}, {Name: sort, Type: t.Type(sort)}},
		Key:         []schema.KeyElement{{Name: PartitionKey, Type: "HASH"}, {Name: sort, Type: "RANGE"}},
		Billing:     t.Billing,
		Class:       t.Class,
		Tags:        tags,
	}
	if t.Billing != schema.PayPerRequest {
		d.Provisioned = &schema.Throughput{Read: t.Provisioned.Read, Write: t.Provisioned.Write}
	}
	if t.OnDemand != (schema.Throughput{}) {
		most := t.OnDemand
		d.OnDemand = &most
	}
	if t.Encryption != (schema.Encryption{}) {
		same := t.Encryption
		d.Encryption = &same
	}
	return d
}

// LogicalARN turns the ARN of the physical table, or of a part of it, into that of the logical table.
func (s *stored) LogicalARN(arn string) string {
	before, after, found := strings.Cut(arn, "table/"+s.Physical)
	if !found || s.Physical == s.name {
		return arn
	}
	return before + "table/" + s.name + after
}
