// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// transactGetItems reads all items at one moment. The writes of a transaction become visible
// together.
func (rd *reader) transactGetItems(ctx context.Context, c *Call, q *api.TransactGetItems) (api.Response, error) {
	shapes := make([]*shape, len(q.Gets))
	for i := range q.Gets {
		t, err := rd.tables.forItems(q.Gets[i].Table)
		if err != nil {
			return nil, err
		}
		shapes[i] = t.shape.Load()
	}
	var wrong reasons
	seen, twice := make(map[string]bool, len(q.Gets)), false
	for i := range q.Gets {
		if err := shapes[i].Table.CheckKey(q.Gets[i].Key); err != nil {
			if err := wrong.add(len(q.Gets), i, err); err != nil {
				return nil, err
			}
			break
		}
		c.key = shapes[i].appendItemKey(c.key[:0], q.Gets[i].Key)
		twice = twice || seen[string(c.key)]
		seen[string(c.key)] = true
	}
	if err := wrong.cancelled(); err != nil {
		return nil, err
	}
	if twice {
		return nil, errTwice
	}
	for i := range q.Gets {
		if shapes[i].model == nil {
			continue
		}
		c.key = shapes[i].appendItemKey(c.key[:0], q.Gets[i].Key)
		if err := rd.meter.admit(shapes[i], throughput.Read, c.key); err != nil {
			if err := wrong.add(len(q.Gets), i, err); err != nil {
				return nil, err
			}
		}
	}
	if err := wrong.cancelled(); err != nil {
		return nil, err
	}
	snapshot := rd.space.Pebble.NewSnapshot()
	defer snapshot.Close()
	r := &api.TransactGetResponse{Items: make([]attribute.Encoded, len(q.Gets))}
	if q.Capacity != api.CapacityNone {
		r.Capacity = []api.ConsumedCapacity{}
	}
	size := 0
	for i := range q.Gets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g := &q.Gets[i]
		st, err := c.find(moment{snapshot}, shapes[i], g.Key)
		if err != nil {
			return nil, err
		}
		size += st.size
		if err := api.CheckTransactionSize(size); err != nil {
			return nil, err
		}
		if r.Items[i], err = c.project(&st, g.Projection); err != nil {
			return nil, err
		}
		units := api.ReadUnits(st.size, true).Transactional()
		if shapes[i].model != nil {
			rd.meter.spend(shapes[i], throughput.Read, c.key, units)
		}
		if q.Capacity != api.CapacityNone {
			cc := readCapacity(g.Table, q.Capacity, units)
			cc.Display = api.DisplayRead
			r.Capacity = addCapacity(r.Capacity, cc)
		}
	}
	return r, nil
}
