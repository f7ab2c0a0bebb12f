// SPDX-License-Identifier: Apache-2.0

package throughput

import (
	"math"
	"time"
)

// Rate is a number of units a second. 0: none, or no limit.
type Rate struct {
	Read, Write float64
}

// Limits are the limits that all tables of a store have in common. The zero value has AWS's limits.
type Limits struct {
	// Partition is the limit of one partition; default 3,000 read and 1,000 write units. Source:
	// DynamoDB Developer Guide, "Best practices for designing and using partition keys"; Amazon
	// Keyspaces has the same limit.
	Partition Rate

	// Fresh is the throughput that a new on-demand table can take at once; default 12,000 read and
	// 4,000 write units. Source: "Understanding DynamoDB warm throughput".
	Fresh Rate

	// Account is the quota of an on-demand table or index; default 40,000 read and
	// 40,000 write units. Negative: none. Source: "Quotas in Amazon DynamoDB".
	Account Rate

	// Burst is the time for which unused provisioned throughput is saved for later; default 300 s.
	// Negative: none. Source: "Burst and adaptive capacity".
	Burst time.Duration

	// SplitAfter is the time for which a partition must be too hot before it is split; default 10
	// minutes. Negative: never. AWS gives no figure.
	SplitAfter time.Duration

	// PartitionBytes is the size at which a partition is split; default 10 GB.
	PartitionBytes int64

	// CollectionBytes is the largest size of an item collection (all items of a partition key, with
	// local indexes) in a table with local secondary indexes; default 10 GB. The store enforces it.
	// Source: "Local secondary indexes".
	CollectionBytes int64
}

// Defaults of Limits.
const (
	DefaultSplitAfter = 10 * time.Minute
	defaultBytes      = 10 << 30
)

// MaxPartitions is the largest number of partitions of a Model.
const MaxPartitions = 4096

// WithDefaults returns the limits with all values set.
func (l Limits) WithDefaults() Limits {
	throughput := func(t *Rate, read, write float64) {
		if t.Read == 0 {
			t.Read = read
		}
		if t.Write == 0 {
			t.Write = write
		}
	}
	throughput(&l.Partition, 3000, 1000)
	throughput(&l.Fresh, 12_000, 4_000)
	throughput(&l.Account, 40_000, 40_000)
	if l.Burst == 0 {
		l.Burst = 300 * time.Second
	}
	if l.SplitAfter == 0 {
		l.SplitAfter = DefaultSplitAfter
	}
	if l.PartitionBytes == 0 {
		l.PartitionBytes = defaultBytes
	}
	if l.CollectionBytes == 0 {
		l.CollectionBytes = defaultBytes
	}
	return l
}

// Settings are the declared settings of one table or index.
type Settings struct {
	// OnDemand: the billing mode is PAY_PER_REQUEST. Otherwise Provisioned applies.
	OnDemand    bool
	Provisioned Rate

	// Maximum is the declared maximum of an on-demand table; 0 or less: no limit.
	Maximum Rate

	// Warm is the declared warm throughput; 0 or less: none.
	Warm Rate

	// Whole: each partition key is in one partition only, as in tables with a local secondary
	// index.
	Whole bool
}

// Partitions returns the number of partitions that a table with these settings begins with.
func (l Limits) Partitions(s Settings) int {
	l = l.WithDefaults()
	at := s.Provisioned
	if s.OnDemand {
		at = l.Fresh
	}
	return l.needed(Rate{Read: max(at.Read, s.Warm.Read), Write: max(at.Write, s.Warm.Write)})
}

// needed returns the number of partitions that can take a throughput that is spread evenly.
func (l Limits) needed(t Rate) int {
	n := math.Ceil(max(t.Read/l.Partition.Read, t.Write/l.Partition.Write, 1))
	return int(min(n, MaxPartitions))
}
