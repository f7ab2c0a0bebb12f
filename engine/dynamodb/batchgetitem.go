// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// maxAnswer is the largest number of bytes of items that a BatchGetItem reads. As with AWS, the
// remaining keys are unprocessed.
const maxAnswer = 16 << 20

func (rd *reader) batchGetItem(ctx context.Context, c *Call, q *api.BatchGetItem) (api.Response, error) {
	shapes := make([]*shape, len(q.Tables))
	for i := range q.Tables {
		g := &q.Tables[i]
		t, err := rd.tables.forItems(g.Table)
		if err != nil {
			return nil, err
		}
		shapes[i] = t.shape.Load()
		seen := make(map[string]bool, len(g.Keys))
		for _, key := range g.Keys {
			if err := shapes[i].Table.CheckKey(key); err != nil {
				return nil, err
			}
			c.key = shapes[i].appendItemKey(c.key[:0], key)
			if seen[string(c.key)] {
				return nil, exception.Invalid("Provided list of item keys contains duplicates")
			}
			seen[string(c.key)] = true
		}
	}
	r := &api.BatchGetResponse{}
	size := 0
	var refused error // of the last key that was throttled
	done := 0
	for i := range q.Tables {
		g := &q.Tables[i]
		found := api.BatchGetItems{Table: g.Table}
		var units api.Units
		left := *g
		left.Keys = nil
		for k, key := range g.Keys {
			if size >= maxAnswer {
				left.Keys = append(left.Keys, g.Keys[k:]...)
				break
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c.key = shapes[i].appendItemKey(c.key[:0], key)
			if shapes[i].model != nil {
				if err := rd.meter.admit(shapes[i], throughput.Read, c.key); err != nil {
					refused = err
					left.Keys = append(left.Keys, key)
					continue
				}
			}
			st, err := c.read(now{rd.space.Pebble}, c.key)
			if err != nil {
				return nil, err
			}
			done++
			size += st.size
			took := api.ReadUnits(st.size, g.Consistent)
			units += took
			if shapes[i].model != nil {
				rd.meter.spend(shapes[i], throughput.Read, c.key, took)
			}
			text, err := c.project(&st, g.Projection)
			if err != nil {
				return nil, err
			}
			if st.exists {
				found.Items = append(found.Items, text)
			}
		}
		if left.Keys != nil {
			r.Unprocessed = append(r.Unprocessed, left)
		}
		r.Tables = append(r.Tables, found)
		if q.Capacity != api.CapacityNone {
			r.Capacity = append(r.Capacity, *readCapacity(g.Table, q.Capacity, units))
		}
	}
	if done == 0 && refused != nil {
		return nil, refused
	}
	return r, nil
}
