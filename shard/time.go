// SPDX-License-Identifier: Apache-2.0

package shard

import "github.com/evenkeel/evenkeel/shard/timebucket"

// Grid returns the buckets of a layout of strategy Time.
func (l *Layout) Grid() timebucket.Grid { return timebucket.Grid{Width: l.Width, Shards: l.N} }

// SortKey returns the form of the time in the sort key of a DynamoDB table of strategy Time.
func (l *Layout) SortKey() timebucket.Kind {
	switch {
	case l.Numbers != 0:
		return l.Numbers
	case l.Width%timebucket.Day == 0:
		return timebucket.DateText
	}
	return timebucket.DateTime
}

// OfSortKey returns the shard of an item of a DynamoDB table of strategy Time. sort is its sort key:
// a text's UTF-8 or a number's decimal digits.
func (l *Layout) OfSortKey(sort []byte) int {
	return l.InBucket(l.Grid().OfValue(l.SortKey(), sort), sort)
}

// InBucket returns the shard of a row under Time, among the places of a bucket. clustering holds
// the canonical serialized values of all clustering columns, in their order. It is not used if a
// bucket has one shard. The places of a table of DynamoDB that got its buckets while it was in use begin
// after its Base; see Lot.
func (l *Layout) InBucket(bucket int64, clustering ...[]byte) int {
	if l.N == 1 {
		return l.Base + l.Grid().Place(bucket, 0)
	}
	return l.Base + l.Grid().Place(bucket, Murmur3.shard(clustering, l.N)-1)
}
