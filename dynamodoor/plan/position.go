// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// position is what a client's position says beyond the logical key.
type position struct {
	marked    bool            // it says the following
	began     int64           // the generation in which the read began
	partition attribute.Value // the physical partition key; Invalid: it is in the plain table
	place     int             // its shard
}

// position parses a position. The logical one is without hidden attributes.
func (p *placement) position(start attribute.Item) (at position, logical attribute.Item, err error) {
	logical = visibleItem(start)
	v, marked := start.Get(began)
	if !marked {
		return at, logical, nil
	}
	at.marked = true
	at.partition, _ = start.Get(PartitionKey)
	at.began, err = strconv.ParseInt(v.Text(), 10, 64)
	if err != nil || v.Kind() != attribute.N {
		return at, nil, errStart
	}
	if !bounded(at.partition) {
		at.place = shard.PlainPlace
		return at, logical, nil
	}
	if at.partition.Kind() != attribute.S {
		return at, nil, errStart
	}
	hash, place, err := p.cut(at.partition)
	if asked, _ := logical.Get(p.hash.Name); err != nil || !asked.Equal(hash) {
		return at, nil, errStart
	}
	at.place = place
	return at, logical, nil
}

// mark adds to a logical position the physical partition key, if that is hidden, and the generation
// in which the read began.
func mark(logical attribute.Item, partition attribute.Value, generation int64) attribute.Item {
	if bounded(partition) {
		logical = logical.With(PartitionKey, partition)
	}
	return logical.With(began, attribute.Int(generation))
}

// Began returns the generation in which the read with a position began; 0: before any change.
func (p *placement) Began(start attribute.Item) (int64, error) {
	at, _, err := p.position(start)
	return at.began, err
}

// physicalStart returns an ExclusiveStartKey of the physical table or its index. The logical
// partition key stays in it only if it is a key there. If the application drew the shards, the
// client's key is already the physical one from an answer.
func (t *Table) physicalStart(start attribute.Item, ix *schema.Index) attribute.Item {
	if t.Layout == nil || t.drawn() {
		return t.inIndex(start, ix)
	}
	return t.physicalStartIn(start, ix, t.partitionOf(start))
}

// physicalStartIn does what physicalStart does, for an item in a partition.
func (t *Table) physicalStartIn(start attribute.Item, ix *schema.Index, partition attribute.Value) attribute.Item {
	return t.startIn(t.inIndex(start, ix), ix, partition)
}

// inIndex adds the shard in a sharded index to a key.
func (s *stored) inIndex(key attribute.Item, ix *schema.Index) attribute.Item {
	if ix != nil {
		if in := s.indexes.sharded(ix.Name); in != nil {
			return key.With(in.attribute(), attribute.Int(int64(in.shardOf(&s.keys, key))))
		}
	}
	return key
}

// startIn returns a start key of the physical table or its index, in a partition.
func (t *Table) startIn(start attribute.Item, ix *schema.Index, partition attribute.Value) attribute.Item {
	p := start.With(t.keyName(), partition)
	if !t.hidesKey() || ix != nil && !isLocal(t.Logical, ix) && ix.Key.Has(t.hash.Name) {
		return p
	}
	return p.Without(t.hash.Name)
}
