// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/engine/dynamodb/stream"
)

// writer carries out writes of items: each changes the item and all entries that depend on it.
type writer struct {
	*base
	locks   *stripes
	streams *stream.Store
}

// spent is the capacity units that a write took: from the table and, in the order of the shape,
// from its indexes.
type spent struct {
	base    api.Units
	indexes []api.Units
}

// needsOld reports whether a write to the table must read the item that it replaces, to update
// other entries.
func (sh *shape) needsOld() bool {
	return len(sh.indexes) > 0 || sh.expiry != "" || sh.stream != nil
}

// write adds to the batch the change of the item at key from old to item; nil deletes it. The
// caller holds the item's lock.
func (wr *writer) write(c *Call, b *pebble.Batch, sh *shape, key []byte, old *stored, item attribute.Item) (spent, error) {
	size := 0
	if item != nil {
		size = item.Size()
		c.value = appendValue(c.value[:0], item, size)
		if err := b.Set(key, c.value, nil); err != nil {
			return spent{}, err
		}
	} else if old.exists {
		if err := b.Delete(key, nil); err != nil {
			return spent{}, err
		}
	}
	sp := spent{base: api.WriteUnits(old.size, size)}
	if sh.model != nil {
		c.owe(sh, nil, key, sp.base, size-old.size)
	}
	if !sh.needsOld() {
		return sp, nil
	}
	before, err := c.decode(old)
	if err != nil {
		return sp, err
	}
	if sh.stream != nil {
		if ch, differs := sh.stream.Change(sh.Table.Key, before, item, c.service, wr.clock()); differs {
			c.changes = append(c.changes, ch)
		}
	}
	if len(sh.indexes) > 0 {
		sp.indexes = make([]api.Units, len(sh.indexes))
	}
	for i := range sh.indexes {
		if sp.indexes[i], err = c.writeEntry(b, sh, &sh.indexes[i], before, item); err != nil {
			return sp, err
		}
	}
	return sp, sh.writeExpiry(b, before, item, key)
}

// entryOf is the entry of an item in an index: its key and its attributes. in says whether the item
// has an entry.
type entryOf struct {
	key  []byte
	item attribute.Item
	in   bool
}

func (sh *shape) entry(ix *index, item attribute.Item) (e entryOf) {
	if item == nil {
		return e
	}
	e.key, e.in = appendEntry(sh.prefix(nil, ix.id), sh.Table.Key, ix, item)
	e.item = item
	if e.in && ix.projected != nil {
		e.item = item.Only(ix.projected...)
	}
	return e
}

// writeEntry updates an item's entry in an index. If the entry's attributes do not change, it is
// neither written nor paid for. If its key changes, that takes two writes.
func (c *Call) writeEntry(b *pebble.Batch, sh *shape, ix *index, before, after attribute.Item) (units api.Units, err error) {
	was, is := sh.entry(ix, before), sh.entry(ix, after)
	moved := was.in && is.in && !bytes.Equal(was.key, is.key)
	wasSize, isSize := 0, 0
	if was.in {
		wasSize = was.item.Size()
	}
	if was.in && (!is.in || moved) {
		if err := b.Delete(was.key, nil); err != nil {
			return 0, err
		}
		units += api.WriteUnits(wasSize, 0)
		if sh.model != nil {
			c.owe(sh, ix, was.key, units, -wasSize)
		}
	}
	if !is.in {
		return units, nil
	}
	isSize = is.item.Size()
	var more api.Units
	if was.in && !moved {
		// Compares the bytes, not the values: 1 and 1.0 have the same text already.
		if bytes.Equal(attribute.AppendItem(nil, was.item), attribute.AppendItem(nil, is.item)) {
			return units, nil
		}
		more = api.WriteUnits(wasSize, isSize)
	} else {
		more = api.WriteUnits(0, isSize)
		wasSize = 0
	}
	if sh.model != nil {
		c.owe(sh, ix, is.key, more, isSize-wasSize)
	}
	c.value = appendValue(c.value[:0], is.item, isSize)
	return units + more, b.Set(is.key, c.value, nil)
}

// commit makes the batch visible, releases the locks, and waits until the batch is durable. leave
// lets others change the tables.
func (wr *writer) commit(c *Call, b *pebble.Batch, leave func()) error {
	h := &c.held
	h.addUnsynced(1)
	defer h.addUnsynced(-1)
	stream.Flow(c.changes, 1)
	defer stream.Flow(c.changes, -1)
	var err error
	c.key, err = wr.streams.Apply(b, c.changes, c.key)
	h.unlock()
	leave()
	if err != nil {
		return err
	}
	return wr.space.Wait(b)
}

// refuse releases the locks and waits until everything that was read under them is durable. A crash
// must not undo what the answer shows to the client.
func (wr *writer) refuse(h *held, leave func()) error {
	unsynced := h.unsynced()
	h.unlock()
	leave()
	if unsynced {
		return wr.space.Settle()
	}
	return nil
}

// consumed returns the capacity as the answer has it.
func (sp *spent) consumed(sh *shape, level api.ReturnConsumedCapacity, name string) *api.ConsumedCapacity {
	cc := &api.ConsumedCapacity{Table: name, Units: sp.base, Base: sp.base, Detail: level == api.CapacityIndexes}
	for i, u := range sp.indexes {
		cc.Units += u
		if u == 0 {
			continue
		}
		of := api.IndexCapacity{Index: sh.indexes[i].Name, Units: u}
		if sh.indexes[i].local {
			cc.Local = append(cc.Local, of)
		} else {
			cc.Global = append(cc.Global, of)
		}
	}
	return cc
}
