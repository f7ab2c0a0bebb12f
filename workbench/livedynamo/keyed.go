// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Keyed is what an item is counted by. Its slices are good until the function that
// was given it returns.
type Keyed struct {
	Key     [][]byte   // the partition key's value, the sort key's if there is one: text, bytes, or the number as DynamoDB writes it
	Shard   int        // of a table that an evenkeel door shards; 0: none
	Token   int64      // tells physical partition keys apart: those of a sharded table, too
	Bytes   int64      // as AWS bills it
	Entries [][][]byte // of each index, the values of its partition key; nil where the item is not in it
}

// Keys is Scan by what items are counted by.
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

// entry is an item's partition key in an index, nil where it is not in it.
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
