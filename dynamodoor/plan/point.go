// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// These are the operations on single items. Each goes to the one shard that the key determines.

func (t *Table) getItem(q *api.GetItem) (Plan, error) {
	key, err := t.checkKey(q.Key)
	if err != nil {
		return nil, err
	}
	if err := checkPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	if err := t.Logical.CheckPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Key = t.Physical, key
	return t.direct(&p), nil
}

func (t *Table) putItem(q *api.PutItem) (Plan, error) {
	item, err := t.checkPut(q.Item, q.Condition)
	if err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Item = t.Physical, item
	if p.Condition, err = t.guard(q.Condition, q.Item); err != nil {
		return nil, err
	}
	return t.direct(&p), nil
}

func (t *Table) deleteItem(q *api.DeleteItem) (Plan, error) {
	key, err := t.checkKey(q.Key)
	if err != nil {
		return nil, err
	}
	if err := t.checkCondition(q.Condition); err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Key = t.Physical, key
	return t.direct(&p), nil
}

func (t *Table) updateItem(q *api.UpdateItem) (Plan, error) {
	key, update, err := t.checkUpdate(q.Key, q.Update, q.Condition)
	if err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Key, p.Update = t.Physical, key, update
	if p.Condition, err = t.guard(q.Condition, q.Key); err != nil {
		return nil, err
	}
	d := t.direct(&p)
	if q.Return != api.ReturnUpdatedOld && q.Return != api.ReturnUpdatedNew {
		return d, nil
	}
	// If the logical partition key is not a key of the physical table, the update sets it, too. The
	// client did not name it.
	answer := d.answer
	d.answer = func(r api.Response) error {
		if err := answer(r); err != nil {
			return err
		}
		out := r.(*api.ItemResponse)
		if out.Attributes == nil {
			return nil
		}
		also := ""
		if t.hidesKey() {
			also = t.hash.Name
		}
		if out.Attributes = strip(out.Attributes, also); string(out.Attributes) == "{}" {
			out.Attributes = nil
		}
		return nil
	}
	return d, nil
}

// checkKey returns the physical key for a logical one.
func (t *Table) checkKey(key attribute.Item) (attribute.Item, error) {
	if err := t.Logical.CheckKey(key); err != nil {
		return nil, err
	}
	hash, _ := key.Get(t.hash.Name)
	if err := t.checkHash(hash); err != nil {
		return nil, err
	}
	return t.physicalKey(key), nil
}

// checkHash returns an error if a partition key leaves no room for the shard, or already has one.
func (t *Table) checkHash(hash attribute.Value) error {
	if t.Layout == nil {
		return nil
	}
	if err := t.checkSuffix(hash); err != nil {
		return err
	}
	spread := t.Layout.Spread(valueBytes(hash))
	physical := t.partition(hash, spread.Last())
	if n := len(physical.Text()); n > attribute.MaxHashSize {
		return exception.InvalidParameters("Size of hashkey %s has exceeded the maximum size limit of %d bytes by %d bytes: "+
			"in a write-sharded table it includes the shard and what is before it, and binary is in base64url; use a shorter value",
			t.hash.Name, attribute.MaxHashSize, n-attribute.MaxHashSize)
	}
	return nil
}

// checkPut returns an item in its stored form.
func (t *Table) checkPut(item attribute.Item, condition *expression.Condition) (attribute.Item, error) {
	if err := t.Logical.CheckItem(item); err != nil {
		return nil, err
	}
	if err := checkItem(item); err != nil {
		return nil, err
	}
	hash, _ := item.Get(t.hash.Name)
	if err := t.checkHash(hash); err != nil {
		return nil, err
	}
	if err := t.checkCondition(condition); err != nil {
		return nil, err
	}
	physical := t.physicalItem(item)
	if physical.Size() > attribute.MaxItemSize {
		return nil, tooLarge("Item size has exceeded the maximum allowed size")
	}
	return physical, nil
}

// tooLarge returns AWS's error for an item that is too large only because of the hidden attributes.
func tooLarge(message string) error {
	return exception.Invalid("%s: in a write-sharded table it includes the hidden attributes %s…, or the shard in its key", message, HiddenPrefix)
}

// checkUpdate returns the physical key and update for logical ones. If the update creates an item,
// it must set the logical partition key, which is not part of the physical key, and the item's
// shards in indexes. An update that only removes attributes creates no item. It stays unchanged,
// because it would create an item if it set attributes. (An item from before an index was declared
// may still lack its shard in it. The door that fills the index sets that shard.)
func (t *Table) checkUpdate(key attribute.Item, u *expression.Update, condition *expression.Condition) (attribute.Item, *expression.Update, error) {
	physical, err := t.checkKey(key)
	if err != nil {
		return nil, nil, err
	}
	if err := t.Logical.CheckUpdate(u); err != nil {
		return nil, nil, err
	}
	if err := checkPaths(slices.Values(u.Changes().Paths())); err != nil {
		return nil, nil, err
	}
	if err := checkPaths(u.Operands()); err != nil {
		return nil, nil, err
	}
	if err := t.checkCondition(condition); err != nil {
		return nil, nil, err
	}
	if t.suffix != nil && u.Reads(t.hash.Name) {
		return nil, nil, t.readsHash()
	}
	if u.OnlyRemoves() {
		return physical, u, nil
	}
	set := t.withShards(nil, key)
	if t.hidesKey() {
		hash, _ := key.Get(t.hash.Name)
		set = set.With(t.hash.Name, hash)
	}
	return physical, expression.SetAttributes(set, u), nil
}

// direct returns the plan of a physical request that involves only this table.
func (t *Table) direct(q api.Request) *Direct {
	return &Direct{Request: q, answer: func(r api.Response) error { return t.visible(r) }, of: func(int) *Table { return t }}
}

// visible converts an answer about items of the table into the client's.
func (t *Table) visible(r api.Response) error {
	out, ok := r.(*api.ItemResponse)
	if !ok {
		return exception.New(exception.InternalServerError, "an answer of type %T to an operation on an item", r)
	}
	out.Item, out.Attributes = t.show(out.Item), t.show(out.Attributes)
	t.visibleCapacity(out.Capacity)
	if m := out.Metrics; m != nil {
		key, err := t.logicalKey(m.Key)
		if err != nil {
			return err
		}
		m.Key = key
	}
	return nil
}

func (t *Table) visibleCapacity(c *api.ConsumedCapacity) {
	if c != nil {
		c.Table = t.Logical.Name
	}
}
