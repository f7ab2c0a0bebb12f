// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"

	"github.com/evenkeel/evenkeel/shard/timebucket"
)

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

// parseTime parses and checks the options of strategy Time.
func (l *Layout) parseTime(m map[string]string) (err error) {
	for _, o := range []struct{ option, why string }{
		{optionHash, "in a bucket it is murmur3"},
		{optionBase, "shards are numbered by their bucket"},
		{optionEpochs, "each key has the same shards in each bucket"},
		{optionRowEpochs, "buckets are epochs of rows already"},
	} {
		if _, given := m[o.option]; given {
			return fmt.Errorf("write_sharding: '%s' means nothing under strategy 'time': %s; leave it out", o.option, o.why)
		}
	}
	if len(l.By) != 1 {
		return fmt.Errorf("write_sharding: strategy 'time' needs the one column that tells the time; add 'by': '…', the first clustering column")
	}
	width, given := m[optionBucket]
	if !given {
		return fmt.Errorf("write_sharding: strategy 'time' needs the length of a bucket; add 'bucket': '1h', for instance")
	}
	if l.Width, err = timebucket.Parse(width); err != nil {
		return fmt.Errorf("write_sharding: 'bucket': %w", err)
	}
	if err := l.Grid().Check(); err != nil {
		return fmt.Errorf("write_sharding: %w", err)
	}
	keep, given := m[optionKeep]
	if !given {
		return nil
	}
	if l.Keep, err = timebucket.Parse(keep); err != nil {
		return fmt.Errorf("write_sharding: 'keep': %w", err)
	}
	if l.Keep < l.Width {
		return fmt.Errorf("write_sharding: 'keep' is %s, shorter than a bucket, which is %s: whole buckets are dropped; take a longer 'keep', or shorter buckets", l.Keep, l.Width)
	}
	return nil
}
