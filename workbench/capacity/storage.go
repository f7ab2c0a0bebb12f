// SPDX-License-Identifier: Apache-2.0

package capacity

// Storage describes the limit of 10 GB. DynamoDB splits a larger partition by sort key. Only with a
// local secondary index is 10 GB the limit of an item collection. Keyspaces spreads a logical
// partition by itself.
type Storage struct {
	CollectionBytes int64   `json:"collection_bytes"`
	ShardFullHours  float64 `json:"shard_full_hours"` // until a shard holds that much, if each write is a new item
	WholeFullHours  float64 `json:"key_full_hours"`   // the same without shards
}

func (d demand) storage(r Request, n int) Storage {
	hours := CollectionBytes / (d.writes * float64(r.ItemBytes)) / 3600
	return Storage{CollectionBytes: CollectionBytes, ShardFullHours: hours * float64(n), WholeFullHours: hours}
}
