// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// A Scan, and a Query of an unsharded index, read physical items in the store's order. Each item
// appears once, whatever its shard is. Only keys change.

func scan(t *Table, q *api.Scan) (Plan, error) {
	if q.Start.Has(began) { // an answer during a change of the layout gave this position
		logical := *q
		logical.Start = visibleItem(q.Start)
		q = &logical
	}
	ix, err := q.Check(t.Logical)
	if err != nil {
		return nil, err
	}
	p := *q
	if p.Read, err = t.physicalRead(&q.Read, ix); err != nil {
		return nil, err
	}
	return reading(t, &p), nil
}

// queryIndex returns the plan of a Query of a global index that is not sharded.
func queryIndex(t *Table, q *api.Query, ix *schema.Index) (Plan, error) {
	if t.adopted != nil && ix.Key.Has(t.hash.Name) { // created without the door, or while the table was being adopted
		return nil, adoptedIndex(t.Logical.Name, ix, t.hash.Name)
	}
	p := *q
	var err error
	if p.Read, err = t.physicalRead(&q.Read, ix); err != nil {
		return nil, err
	}
	return reading(t, &p), nil
}

// reading returns the plan of a physical Query or Scan.
func reading(t *Table, q api.Request) *Direct {
	return &Direct{Request: q, of: func(int) *Table { return t }, answer: func(r api.Response) error {
		out, ok := r.(*api.ItemsResponse)
		if !ok {
			return exception.New(exception.InternalServerError, "an answer of type %T to a read", r)
		}
		for i := range out.Items {
			out.Items[i] = t.showSorted(out.Items[i], out.Sorted)
		}
		t.visibleCapacity(out.Capacity)
		if out.LastKey == nil || t.drawn() {
			return nil
		}
		if t.adopted != nil {
			if is := t.adopted.misplaced(out.LastKey); is != "" {
				return refuse(t.Logical.Name, "a page ends with an item that lies where no client finds it, and nothing can follow it: %s; "+
					"put it where the table's tag says, or delete it, at the endpoint", is)
			}
		}
		var err error
		out.LastKey, err = t.logicalKey(out.LastKey)
		return err
	}}
}
