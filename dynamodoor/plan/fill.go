// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// When a sharded index is declared on a table with items, a door sets the items' shards in it.

// ScanUnfilled returns the request, for a segment, that reads the attributes that Unfilled needs.
func (s *stored) ScanUnfilled(segment, segments int) *api.Scan {
	names := s.keyNames()
	for i := range s.indexes {
		names = append(names, s.indexes[i].attribute())
	}
	return s.scanFor(names, segment, segments)
}

// Unfilled returns the update that sets an item's shards in all indexes, if the item still exists,
// and the item's logical key. It returns nil unless the item lacks its right shard in an index that
// is being filled.
func (s *stored) Unfilled(physical attribute.Item) (q *api.UpdateItem, logical attribute.Item, err error) {
	if logical, err = s.logicalKey(physical); err != nil {
		return nil, nil, err
	}
	lacks := false
	for i := range s.indexes {
		has, _ := physical.Get(s.indexes[i].attribute())
		lacks = lacks || s.indexes[i].filling && !has.Equal(attribute.Int(int64(s.indexes[i].shardOf(&s.keys, logical))))
	}
	if !lacks {
		return nil, nil, nil
	}
	names := s.keyNames()
	var b expression.Builder
	there := b.Function("attribute_exists", expression.PathOperand(expression.Top(names[0])))
	return &api.UpdateItem{
		Table: s.Physical, Key: physical.Only(names...), Update: expression.SetAttributes(s.indexes.set(&s.keys, nil, logical), nil), Condition: there,
	}, logical, b.Err()
}
