// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// What a client sends is checked on the logical table, and then brought into its stored form.

// Key checks a logical key and returns the physical one.
func (t *Table) Key(key attribute.Item) (attribute.Item, error) {
	if err := t.Logical.CheckKey(key); err != nil {
		return nil, err
	}
	hash, _ := key.Get(t.hash.Name)
	if err := t.CheckHash(hash); err != nil {
		return nil, err
	}
	return t.physicalKey(key), nil
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
	if err := t.CheckHash(hash); err != nil {
		return nil, err
	}
	if err := t.checkCondition(condition); err != nil {
		return nil, err
	}
	if err := t.CheckTime(item); err != nil {
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
	physical, err := t.Key(key)
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
	if t.adopted != nil && u.Reads(t.hash.Name) {
		return nil, nil, t.adopted.readsHash()
	}
	if err := t.CheckTime(key); err != nil {
		return nil, nil, err
	}
	if u.OnlyRemoves() {
		return physical, u, nil
	}
	set := t.indexes.set(&t.keys, nil, key)
	if t.hidesKey() {
		hash, _ := key.Get(t.hash.Name)
		set = set.With(t.hash.Name, hash)
	}
	return physical, expression.SetAttributes(set, u), nil
}

// checkCondition refuses hidden attributes in a condition or a filter, and conditions that the
// store would answer wrongly.
func (t *Table) checkCondition(c *expression.Condition) error {
	if err := checkPaths(c.Paths()); err != nil {
		return err
	}
	if t.adopted != nil && c.Reads(t.hash.Name) {
		return t.adopted.readsHash()
	}
	return nil
}

// physicalRead returns the read on the physical table.
func (t *Table) physicalRead(r *api.Read, ix *schema.Index) (api.Read, error) {
	p := *r
	p.Table = t.Physical
	if err := checkPaths(slices.Values(r.Projection.Paths())); err != nil {
		return p, err
	}
	if err := t.checkCondition(r.Filter); err != nil {
		return p, err
	}
	if r.Start == nil {
		return p, nil
	}
	if t.drawn() {
		if _, _, err := t.adopted.start(r.Start); err != nil {
			return p, err
		}
	}
	p.Start = t.physicalStart(r.Start, ix)
	return p, nil
}
