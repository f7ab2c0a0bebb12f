// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"bytes"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Item is an item of a DynamoDB table: its key as cells, the partition key's first; its bytes, as
// DynamoDB counts them; and for each index the values of the index's partition key, nil if the item
// is not in the index.
type Item struct {
	Token   int64 // of its physical partition
	Segment int   // in which it was read
	Shard   int   // of a table that an evenkeel door shards; 0: none
	Key     [][]byte
	Bytes   int64
	Indexes [][][]byte
}

// Item counts an item. Items of a partition follow each other.
func (c *Counter) Item(it *Item) {
	partition := it.Key[:len(c.table.PartitionKey)]
	c.scratch = partitioner.AppendComposite(c.scratch[:0], partition...)
	if !c.open || it.Token != c.now.Token || !bytes.Equal(c.scratch, c.key) {
		c.close()
		c.open = true
		c.key = append(c.key[:0], c.scratch...)
		c.now = Partition{Token: it.Token, Segment: it.Segment, Shard: it.Shard, Key: append(c.now.Key[:0], c.key)} // with one column, this is the key itself
		c.column(0, partition[0], partitioner.Hash(partition[0]))
	}
	c.Read += it.Bytes
	c.now.Rows++
	c.now.Bytes += it.Bytes
	for i, v := range it.Key[len(partition):] {
		h := partitioner.Hash(v)
		c.column(len(partition)+i, v, h)
		c.Tuples.Add(h)
	}
	for len(c.Tally.Indexes) < len(it.Indexes) {
		c.Tally.Indexes = append(c.Tally.Indexes, NewLogical())
	}
	for i, key := range it.Indexes {
		if key != nil {
			c.logical = partitioner.AppendComposite(c.logical[:0], key...)
			h := partitioner.Hash(c.logical)
			c.Tally.Indexes[i].add(h, Partition{Token: int64(h), Key: key, Rows: 1, Bytes: it.Bytes})
		}
	}
}
