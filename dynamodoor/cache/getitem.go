// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

func (c *Cache) getItem(ctx context.Context, body, dst []byte) ([]byte, error) {
	r := c.reader()
	defer c.release(r)
	q := &r.get
	// The store reports the errors of a request.
	if q.Decode(&r.decoder, body) != nil || q.Consistent {
		return c.store.Do(ctx, "GetItem", body, dst)
	}
	a := &r.asked
	a.item(c.fence, principal.Of(ctx).ID, q.Table, q.Key, q.Projection)
	if text, ok := c.find(a); ok {
		c.hits.Add(1)
		return appendItem(dst, q, text), nil
	}
	c.misses.Add(1)
	defined := c.fence.Definition(a.table)
	got, err := c.share(ctx, "GetItem", body, dst, a.flight(c.fence), a.variant, a.key, func() cachefence.View { return c.fence.Item(a.table, a.hash) })
	if err != nil {
		return dst, err
	}
	text, ok := itemOf(got.answer)
	switch {
	case got.joined && ok:
		return appendItem(dst, q, text), nil
	case got.joined:
		return c.store.Do(ctx, "GetItem", body, dst) // an answer of an unknown form
	case ok:
		t := c.learn(ctx, q.Table, q.Key, defined)
		c.keep(a, got.began, text, t.expires(text, q.Projection, c.life(c.options.TTL), c.options.Now()))
	}
	return got.out, nil
}

// appendItem appends the answer to a GetItem that consumed no capacity.
func appendItem(dst []byte, q *api.GetItem, text []byte) []byte {
	dst = append(dst, '{')
	if text != nil {
		dst = append(append(dst, `"Item":`...), text...)
	}
	if q.Capacity != api.CapacityNone {
		if text != nil {
			dst = append(dst, ',')
		}
		dst = appendFreeCapacity(append(dst, `"ConsumedCapacity":`...), q.Table, q.Capacity)
	}
	return append(dst, '}')
}

// appendFreeCapacity appends the capacity of a read for which the store was not asked.
func appendFreeCapacity(dst []byte, table string, level api.ReturnConsumedCapacity) []byte {
	dst = jsontext.AppendString(append(dst, `{"TableName":`...), table)
	dst = append(dst, `,"CapacityUnits":0.0`...)
	if level == api.CapacityIndexes {
		dst = append(dst, `,"Table":{"CapacityUnits":0.0}`...)
	}
	return append(dst, '}')
}

// itemOf returns the item in an answer to GetItem, or nil if there is none. It returns false if the
// answer contains anything else.
func itemOf(answer []byte) (text []byte, ok bool) {
	var r jsontext.Reader
	r.Reset(answer)
	for r.Object(); r.Next(); {
		switch r.Name() {
		case "Item":
			if r.Peek() != jsontext.Object {
				return nil, false
			}
			text = r.Raw()
		case "ConsumedCapacity":
			r.Skip()
		default:
			return nil, false
		}
	}
	return text, r.End() == nil
}
