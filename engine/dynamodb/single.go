// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

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
func (wr *writer) writeSingle(c *Call, w *single) (api.Response, error) {
	t, err := wr.tables.forItems(w.table)
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
		if err := wr.meter.admit(sh, throughput.Write, c.key); err != nil {
			t.leave()
			return nil, err
		}
	}
	h := &c.held
	h.lock(wr.locks, c.key)
	var old stored
	if !w.blind || w.condition != nil || sh.needsOld() || w.Return != api.ReturnNone || w.Capacity != api.CapacityNone || sh.model != nil {
		if old, err = c.read(now{wr.space.Pebble}, c.key); err != nil {
			h.unlock()
			t.leave()
			return nil, err
		}
	}
	item, err := w.decide(c, sh, &old)
	if err != nil {
		if sh.model != nil && exception.Of(err).Kind == exception.ConditionalCheckFailed {
			wr.meter.spend(sh, throughput.Write, c.key, api.WriteUnits(old.size, 0))
		}
		if settled := wr.refuse(h, t.leave); settled != nil {
			return nil, settled
		}
		return nil, err
	}
	b := wr.space.Pebble.NewBatch()
	defer b.Close()
	sp, err := wr.write(c, b, sh, c.key, &old, item)
	if err != nil {
		err = fmt.Errorf("write an item: %w", err)
	} else if sh.model != nil {
		err = wr.meter.afford(c.charges)
	}
	if err != nil {
		h.unlock()
		t.leave()
		return nil, err
	}
	if b.Empty() { // the item did not exist and does not exist now
		err = wr.refuse(h, t.leave)
	} else {
		err = wr.commit(c, b, t.leave)
	}
	if err != nil {
		return nil, err
	}
	return wr.answerSingle(c, sh, w, &old, item, sp)
}

// decide computes the item after the write.
func (w *single) decide(c *Call, sh *shape, old *stored) (attribute.Item, error) {
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
func (wr *writer) answerSingle(c *Call, sh *shape, w *single, old *stored, item attribute.Item, sp spent) (api.Response, error) {
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
		m, err := metrics(wr.space, sh, w.key)
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
