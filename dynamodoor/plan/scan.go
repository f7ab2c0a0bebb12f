// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// A Scan, and a Query of an unsharded index, read physical items in the store's order. Each item
// appears once, whatever its shard is. Only keys change.

func (t *Table) scan(q *api.Scan) (Plan, error) {
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
	return t.reading(&p), nil
}

// queryIndex returns the plan of a Query of a global index that is not sharded.
func (t *Table) queryIndex(q *api.Query, ix *schema.Index) (Plan, error) {
	if t.suffix != nil && ix.Key.Has(t.hash.Name) { // created without the door, or while the table was being adopted
		return nil, adoptedIndex(t.Logical.Name, ix, t.hash.Name)
	}
	p := *q
	var err error
	if p.Read, err = t.physicalRead(&q.Read, ix); err != nil {
		return nil, err
	}
	return t.reading(&p), nil
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
		if _, _, err := t.drawnStart(r.Start); err != nil {
			return p, err
		}
	}
	p.Start = t.physicalStart(r.Start, ix)
	return p, nil
}

// physicalStart returns an ExclusiveStartKey of the physical table or its index. The logical
// partition key stays in it only if it is a key there. If the application drew the shards, the
// client's key is already the physical one from an answer.
func (t *Table) physicalStart(start attribute.Item, ix *schema.Index) attribute.Item {
	p := start
	if ix != nil {
		if in := t.sharded(ix.Name); in != nil {
			p = p.With(in.attribute(), attribute.Int(int64(t.shardIn(in, start))))
		}
	}
	if t.Layout == nil || t.drawn() {
		return p
	}
	return t.startIn(p, ix, t.partitionOf(start))
}

// startIn returns a start key of the physical table or its index, in a partition.
func (t *Table) startIn(start attribute.Item, ix *schema.Index, partition attribute.Value) attribute.Item {
	p := start.With(t.keyName(), partition)
	if t.suffix != nil || ix != nil && !t.local(ix) && ix.Key.Has(t.hash.Name) {
		return p
	}
	return p.Without(t.hash.Name)
}

// local reports whether an index is a local one. It returns false for nil, which means the table
// itself.
func (t *Table) local(ix *schema.Index) bool {
	if ix == nil {
		return false
	}
	_, local := t.Logical.Index(ix.Name)
	return local
}

// reading returns the plan of a physical Query or Scan.
func (t *Table) reading(q api.Request) *Direct {
	return &Direct{Request: q, of: func(int) *Table { return t }, answer: func(r api.Response) error {
		out, ok := r.(*api.ItemsResponse)
		if !ok {
			return exception.New(exception.InternalServerError, "an answer of type %T to a read", r)
		}
		for i := range out.Items {
			out.Items[i] = t.show(out.Items[i])
		}
		t.visibleCapacity(out.Capacity)
		if out.LastKey == nil || t.drawn() {
			return nil
		}
		if t.suffix != nil {
			if is := t.misplaced(out.LastKey); is != "" {
				return refuse(t.Logical.Name, "a page ends with an item that lies where no client finds it, and nothing can follow it: %s; "+
					"put it where the table's tag says, or delete it, at the endpoint", is)
			}
		}
		var err error
		out.LastKey, err = t.logicalKey(out.LastKey)
		return err
	}}
}
