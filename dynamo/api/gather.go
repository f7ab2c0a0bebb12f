// SPDX-License-Identifier: Apache-2.0

package api

import "github.com/evenkeel/evenkeel/dynamo/attribute"

// Gather is a Query that reads several partitions of a table as one. Items come in the order of
// their sort keys. Items with equal sort keys come in the order of the partitions. Limit and the
// size of a page count the items of all partitions together.
//
// Clients cannot send it. A door sends it to a store in its own process, instead of a Query for
// each partition.
type Gather struct {
	// Query reads the first partition. It has no index, no filter and no projection.
	Query *Query
	// Partitions are the values of the partition key, each once.
	Partitions []attribute.Value
	// InOrder says that the partitions follow each other in the answer: the answer has all items of a
	// partition before the items of the next one. So the store reads one partition after the other, and only as
	// many as the page needs.
	InOrder bool
}

// Gathered is the answer to a Gather.
type Gathered struct {
	Items    []attribute.Encoded
	Sizes    []int             // of the items
	More     bool              // the page is full, so more items may follow
	Read     int               // number of items that were read in all partitions
	Vain     []int             // if the Gather is InOrder: the indices of the partitions that have no items in the range
	Capacity *ConsumedCapacity // of all partitions together
}
