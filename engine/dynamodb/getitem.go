// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

func (rd *reader) getItem(c *Call, q *api.GetItem) (api.Response, error) {
	t, err := rd.tables.forItems(q.Table)
	if err != nil {
		return nil, err
	}
	sh := t.shape.Load()
	if err := sh.Table.CheckKey(q.Key); err != nil {
		return nil, err
	}
	if q.Projection != nil {
		if err := sh.Table.CheckPaths(slices.Values(q.Projection.Paths())); err != nil {
			return nil, err
		}
	}
	c.key = sh.appendItemKey(c.key[:0], q.Key)
	if sh.model != nil {
		if err := rd.meter.admit(sh, throughput.Read, c.key); err != nil {
			return nil, err
		}
	}
	st, err := c.read(now{rd.space.Pebble}, c.key)
	if err != nil {
		return nil, err
	}
	r := &c.item
	if r.Item, err = c.project(&st, q.Projection); err != nil {
		return nil, err
	}
	if sh.model != nil {
		rd.meter.spend(sh, throughput.Read, c.key, api.ReadUnits(st.size, q.Consistent))
	}
	if q.Capacity != api.CapacityNone {
		r.Capacity = readCapacity(q.Table, q.Capacity, api.ReadUnits(st.size, q.Consistent))
	}
	return r, nil
}

// find reads the item with a key. The caller has checked the key.
func (c *Call) find(from getter, sh *shape, key attribute.Item) (stored, error) {
	c.key = sh.appendItemKey(c.key[:0], key)
	return c.read(from, c.key)
}

// project returns the projected part of an item; nil if there is no item.
func (c *Call) project(st *stored, p *expression.Projection) (attribute.Encoded, error) {
	if !st.exists || p == nil {
		return st.text, nil
	}
	defer c.dropDecoded()
	item, err := c.decode(st)
	if err != nil {
		return nil, err
	}
	return attribute.AppendItem(nil, p.Apply(item)), nil
}

// readCapacity returns the capacity of a read of a table as the answer has it.
func readCapacity(name string, level api.ReturnConsumedCapacity, units api.Units) *api.ConsumedCapacity {
	return &api.ConsumedCapacity{Table: name, Units: units, Base: units, Detail: level == api.CapacityIndexes}
}
