// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"bytes"

	"github.com/evenkeel/evenkeel/partitioner"
)

// Item is an item of a DynamoDB table: its key as cells, the partition key's first;
// how many bytes it has, as DynamoDB counts them; and of each index the values of its
// partition key, nil where the item is not in it.
type Item struct {
	Token   int64 // of its physical partition
	Segment int   // that it was read in
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
		c.now = Partition{Token: it.Token, Segment: it.Segment, Shard: it.Shard, Key: append(c.now.Key[:0], c.key)} // one column: the key as it is
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
