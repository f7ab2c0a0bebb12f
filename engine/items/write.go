// SPDX-License-Identifier: Apache-2.0

package items

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/engine/capacity"
	"github.com/evenkeel/evenkeel/engine/items/stream"
)

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
func (s *Store) write(c *Call, b *pebble.Batch, sh *shape, key []byte, old *stored, item attribute.Item) (spent, error) {
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
		if ch, differs := sh.stream.Change(sh.Table.Key, before, item, c.service, s.options.Clock()); differs {
			c.changes = append(c.changes, ch)
		}
	}
	if len(sh.indexes) > 0 {
		sp.indexes = make([]api.Units, len(sh.indexes))
	}
	for i := range sh.indexes {
		if sp.indexes[i], err = s.writeEntry(c, b, sh, &sh.indexes[i], before, item); err != nil {
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
func (s *Store) writeEntry(c *Call, b *pebble.Batch, sh *shape, ix *index, before, after attribute.Item) (units api.Units, err error) {
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
func (s *Store) commit(c *Call, b *pebble.Batch, leave func()) error {
	h := &c.held
	h.addUnsynced(1)
	defer h.addUnsynced(-1)
	stream.Flow(c.changes, 1)
	defer stream.Flow(c.changes, -1)
	var err error
	c.key, err = s.streams.Apply(b, c.changes, c.key)
	h.unlock()
	leave()
	if err != nil {
		return err
	}
	return s.space.Wait(b)
}

// refuse releases the locks and waits until all that was read under them is durable. A crash must
// not take back what a client was told.
func (s *Store) refuse(h *held, leave func()) error {
	unsynced := h.unsynced()
	h.unlock()
	leave()
	if unsynced {
		return s.space.Settle()
	}
	return nil
}

// single is a write of one item.
type single struct {
	api.Write
	table     string
	key       attribute.Item // has at least the table's key
	condition *expression.Condition

	// check returns an error if the table does not allow the request.
	check func(sh *shape) error

	// blind says that the written item does not depend on the existing one.
	blind bool
	// apply returns the item after the write; nil if there is none.
	apply func(sh *shape, old attribute.Item) (attribute.Item, error)
	// changes is the projection to the attributes of UPDATED_OLD and UPDATED_NEW.
	changes *expression.Projection
}

// writeSingle carries out a write to one item and answers it.
func (s *Store) writeSingle(c *Call, w *single) (api.Response, error) {
	t, err := s.tables.forItems(w.table)
	if err != nil {
		return nil, err
	}
	sh, err := t.enter()
	if err != nil {
		return nil, err
	}
	if err := w.check(sh); err != nil {
		t.leave()
		return nil, err
	}
	c.key = sh.appendItemKey(c.key[:0], w.key)
	if sh.model != nil {
		if err := s.meter.admit(sh, capacity.Write, c.key); err != nil {
			t.leave()
			return nil, err
		}
	}
	h := &c.held
	h.lock(&s.locks, c.key)
	var old stored
	if !w.blind || w.condition != nil || sh.needsOld() || w.Return != api.ReturnNone || w.Capacity != api.CapacityNone || sh.model != nil {
		if old, err = c.read(now{s.space.Pebble}, c.key); err != nil {
			h.unlock()
			t.leave()
			return nil, err
		}
	}
	item, err := s.decide(c, sh, w, &old)
	if err != nil {
		if sh.model != nil && exception.Of(err).Kind == exception.ConditionalCheckFailed {
			s.meter.spend(sh, capacity.Write, c.key, api.WriteUnits(old.size, 0))
		}
		if settled := s.refuse(h, t.leave); settled != nil {
			return nil, settled
		}
		return nil, err
	}
	b := s.space.Pebble.NewBatch()
	defer b.Close()
	sp, err := s.write(c, b, sh, c.key, &old, item)
	if err != nil {
		err = fmt.Errorf("write an item: %w", err)
	} else if sh.model != nil {
		err = s.meter.afford(c.charges)
	}
	if err != nil {
		h.unlock()
		t.leave()
		return nil, err
	}
	if b.Empty() { // the item did not exist and does not exist now
		err = s.refuse(h, t.leave)
	} else {
		err = s.commit(c, b, t.leave)
	}
	if err != nil {
		return nil, err
	}
	return s.answerSingle(c, sh, w, &old, item, sp)
}

// decide computes the item after the write.
func (s *Store) decide(c *Call, sh *shape, w *single, old *stored) (attribute.Item, error) {
	if w.blind && w.condition == nil {
		return w.apply(sh, nil)
	}
	before, err := c.decode(old)
	if err != nil {
		return nil, err
	}
	if !w.condition.Match(before) {
		return nil, failed(old, w.ReturnOnFailure)
	}
	return w.apply(sh, before)
}

// failed returns the error of a condition that does not hold.
func failed(old *stored, show bool) *exception.Error {
	e := exception.New(exception.ConditionalCheckFailed, "The conditional request failed")
	if show && old.exists {
		e.Item = append([]byte(nil), old.text...)
	}
	return e
}

// answerSingle returns the answer to a write.
func (s *Store) answerSingle(c *Call, sh *shape, w *single, old *stored, item attribute.Item, sp spent) (api.Response, error) {
	r := &c.item
	switch w.Return {
	case api.ReturnAllOld:
		if old.exists {
			r.Attributes = old.text
		}
	case api.ReturnAllNew:
		if item != nil {
			r.Attributes = attribute.AppendItem(nil, item)
		}
	case api.ReturnUpdatedOld:
		before, err := c.decode(old)
		if err != nil {
			return nil, err
		}
		r.Attributes = changed(w.changes, before)
	case api.ReturnUpdatedNew:
		r.Attributes = changed(w.changes, item)
	}
	if w.Capacity != api.CapacityNone {
		r.Capacity = sp.consumed(sh, w.Capacity, w.table)
	}
	if w.Metrics && len(sh.Table.Local) > 0 {
		m, err := s.metrics(sh, w.key)
		if err != nil {
			return nil, err
		}
		r.Metrics = m
	}
	return r, nil
}

// changed returns the part of an item that an update names; nil if there is none.
func changed(changes *expression.Projection, item attribute.Item) attribute.Encoded {
	if changes == nil || item == nil {
		return nil
	}
	part := changes.Apply(item)
	if len(part) == 0 {
		return nil
	}
	return attribute.AppendItem(nil, part)
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
