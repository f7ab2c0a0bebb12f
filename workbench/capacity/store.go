// SPDX-License-Identifier: Apache-2.0

package capacity

import "fmt"

// Store is the store whose limits apply.
type Store string

const (
	DynamoDB  Store = "dynamodb"
	Keyspaces Store = "keyspaces"
)

// These are the units that both stores give one partition per second, and the sizes by which they
// count.
const (
	PartitionWriteUnits = 1000
	PartitionReadUnits  = 3000
	writeUnitBytes      = 1 << 10 // a write is rounded up to a multiple of this
	readUnitBytes       = 4 << 10 // a read, too; eventually consistent reads count half
)

// FreshPartitions is the assumed number of partitions of a new on-demand table, in both stores: it
// sustains 4,000 writes and 12,000 reads per second at once, as four full partitions would.
const FreshPartitions = 4

// CollectionBytes is the size at which DynamoDB splits a partition (10 GB).
const CollectionBytes = 10 << 30

// hiddenName is the HASH attribute of a write-sharded DynamoDB table.
const hiddenName = "evenkeel.pk"

// limits holds a store's limits for one item.
type limits struct {
	name     string // for people
	item     string // the store's word for an item
	maxItem  int
	maxKey   int
	maxWhy   string
	eventual string // the store's word for an eventually consistent read
	strong   string
}

var stores = map[Store]limits{
	DynamoDB: {
		name: "DynamoDB", item: "item", maxItem: 400 << 10, maxKey: 2048, maxWhy: "an item has at most 400 KB",
		eventual: "eventually consistent", strong: "strongly consistent",
	},
	Keyspaces: {
		name: "Amazon Keyspaces", item: "row", maxItem: 1 << 20, maxKey: 2048, maxWhy: "a row has at most 1 MB",
		eventual: "LOCAL_ONE", strong: "LOCAL_QUORUM",
	},
}

// Name returns the store's name for people.
func (s Store) Name() string { return stores[s].name }

// Item returns the store's word for an item.
func (s Store) Item() string { return stores[s].item }

// MaxItem returns how many bytes an item may have.
func (s Store) MaxItem() int { return stores[s].maxItem }

// Read returns the store's word for reads of that consistency.
func (s Store) Read(strong bool) string {
	if strong {
		return stores[s].strong
	}
	return stores[s].eventual
}

// hidden returns how many bytes sharding adds to each item with n shards, and whether the key
// itself is repeated in addition.
//
// DynamoDB: the attribute evenkeel.pk holds key, "-" and shard beside the key
// attribute: name, dash, digits, key. Keyspaces: a partition-key column of type
// int: 4 bytes and 3 of metadata ("Estimate row size in Amazon Keyspaces").
func (s Store) hidden(n int) (fixed int, repeatsKey bool) {
	if s == Keyspaces {
		return 4 + 3, false
	}
	return len(hiddenName) + 1 + len(fmt.Sprint(n)), true
}

// HiddenName returns the name of the column or attribute that sharding adds.
func (s Store) HiddenName() string {
	if s == Keyspaces {
		return "shard"
	}
	return hiddenName
}
