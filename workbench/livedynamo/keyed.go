// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Keyed is what package inspection counts of an item. Its slices are valid until the function that
// received it returns.
type Keyed struct {
	Key     [][]byte   // the partition key's value, the sort key's if there is one: text, bytes, or the number as DynamoDB writes it
	Shard   int        // of a table that an evenkeel door shards; 0: none
	Token   int64      // identifies a physical partition key, also in a sharded table
	Bytes   int64      // as AWS bills it
	Entries [][][]byte // for each index, the values of its partition key; nil: the item is not in the index
}

// Keys scans a segment as Scan does, but passes what to count of each item.
func (t *Table) Keys(ctx context.Context, s Segment, limit int, each func(*Keyed) error) error {
	k := &Keyed{Entries: make([][][]byte, len(t.table.Indexes))}
	var token []byte
	_, err := t.Scan(ctx, s, limit, func(it attribute.Item) error {
		hash, _ := it.Get(t.table.Partition.Name)
		k.Key = append(k.Key[:0], []byte(hash.Text()))
		if t.table.Sort != nil {
			sort, _ := it.Get(t.table.Sort.Name)
			k.Key = append(k.Key, []byte(sort.Text()))
		}
		k.Shard = t.Shard(it)
		token = append(append(token[:0], k.Key[0]...), 0, byte(k.Shard), byte(k.Shard>>8))
		k.Token, k.Bytes = partitioner.Murmur3(token), int64(it.Size())
		for i := range t.table.Indexes {
			k.Entries[i] = entry(it, &t.table.Indexes[i])
		}
		return each(k)
	})
	return err
}

// entry returns an item's partition key in an index; nil: the item is not in the index.
func entry(it attribute.Item, ix *Index) [][]byte {
	var key [][]byte
	for i, k := range append(slices.Clip(ix.Partition), ix.Sort...) {
		v, ok := it.Get(k.Name)
		if !ok || v.Kind().String() != k.Kind {
			return nil
		}
		if i < len(ix.Partition) {
			key = append(key, []byte(v.Text()))
		}
	}
	return key
}
