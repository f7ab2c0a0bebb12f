// SPDX-License-Identifier: Apache-2.0

package advice

import "github.com/evenkeel/evenkeel/workbench/capacity"

// Target is the store that the table is for.
type Target string

const (
	Cassandra Target = "cassandra"
	Scylla    Target = "scylla"
	Keyspaces Target = "keyspaces"
	DynamoDB  Target = "dynamodb"
)

// Name is the store's name for people.
func (t Target) Name() string {
	switch t {
	case Scylla:
		return "ScyllaDB"
	case Keyspaces:
		return "Amazon Keyspaces"
	case DynamoDB:
		return "DynamoDB"
	}
	return "Apache Cassandra"
}

// units says whether the store bills, and limits partitions, by request units.
func (t Target) units() bool { return t == Keyspaces || t == DynamoDB }

// nodes says whether a partition lives on nodes of the user's own, whose size
// matters.
func (t Target) nodes() bool { return t == Cassandra || t == Scylla }

func (t Target) store() capacity.Store { return capacity.Store(t) }

// Limits of a partition. The first two are the rule of thumb of Cassandra's
// documentation and practice, the third its storage format's bound.
const (
	IdealBytes = 10 << 20
	MaxBytes   = 100 << 20
	MaxCells   = 2_000_000_000
)

// What is assumed where nobody says.
const (
	// HorizonYears is how far ahead limits are looked at: who lives with a key,
	// lives with it that long.
	HorizonYears = 10
	// NodeWrites is what a node is taken to bear in writes a second; measure yours
	// (--node-writes-per-second).
	NodeWrites = 10_000
	// Nodes, VNodes and RF are the cluster on which skew over nodes is shown.
	Nodes  = 6
	VNodes = 16
	RF     = 3
	// UnratedPerSecond is the rate of a query that says none.
	UnratedPerSecond = 1
	// RangeShare is the part of a partition that a range with bounds unknown is taken
	// to select, ListValues how many values an IN with a marker has, RangeBuckets over
	// how many time buckets such a range goes.
	RangeShare   = 0.1
	ListValues   = 10
	RangeBuckets = 2
)

// What a request costs a node, in seconds of CPU: measured on Cassandra 5.0.9
// (docs/workbench.md).
const (
	cpuWrite     = 22e-6
	cpuPartition = 50e-6
	cpuRow       = 2.4e-6
)

// What a bucket may fill of a partition's limit: the rest is for a rate that grows.
const keptPart = 0.8

// horizon is HorizonYears in seconds.
const horizon = HorizonYears * 365.25 * 86400

// Fewer partitions than these, with many rows each, are low cardinality: four for
// each of six nodes.
const (
	lowCardinality     = 24
	lowCardinalityRows = 100
)

// A partition on nodes of one's own is too hot where it takes hotShare of all writes,
// and this part of what a node bears; shards bring it down to shardShare each.
const (
	partitionPart = 0.2
	shardShare    = 0.05
)

// A key is hot where it has this share of the rows, and this many times what it
// would have if all keys were alike; skewed where the largest partition has this
// many times the rows of the median.
const (
	hotShare = 0.1
	hotTimes = 5
	skewed   = 10
)

// Sizes says whether partitions have limits of size in the store.
func (t Target) Sizes() bool { return t.nodes() }
