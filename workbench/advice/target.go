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

// Name returns the store's name for people.
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

// units reports whether the store bills, and limits partitions, by request units.
func (t Target) units() bool { return t == Keyspaces || t == DynamoDB }

// nodes reports whether partitions live on the user's own nodes, so that their size matters.
func (t Target) nodes() bool { return t == Cassandra || t == Scylla }

func (t Target) store() capacity.Store { return capacity.Store(t) }

// These are limits of a partition. The first two are the rule of thumb of Cassandra's documentation
// and practice. The third is the limit of its storage format.
const (
	IdealBytes = 10 << 20
	MaxBytes   = 100 << 20
	MaxCells   = 2_000_000_000
)

// These are assumptions for what nobody states.
const (
	// HorizonYears is how far ahead the advice looks at limits: a table may keep its key that long.
	HorizonYears = 10
	// NodeWrites is the number of writes per second that a node is assumed to bear; measure yours
	// (--node-writes-per-second).
	NodeWrites = 10_000
	// Nodes, VNodes and RF describe the cluster on which heat and skew over nodes are judged. It has more
	// nodes if the writes need more.
	Nodes  = 6
	VNodes = 16
	RF     = 3
	// UnratedPerSecond is the rate of a query without a rate.
	UnratedPerSecond = 1
	// RangeShare is the assumed share of a partition that a range with unknown bounds selects.
	// ListValues is the assumed number of values of an IN with a marker. RangeBuckets is the
	// assumed number of time buckets of such a range.
	RangeShare   = 0.1
	ListValues   = 10
	RangeBuckets = 2
)

// A request costs a node this CPU time in seconds, measured on Cassandra 5.0.9 (docs/workbench.md).
const (
	cpuWrite     = 22e-6
	cpuPartition = 50e-6
	cpuRow       = 2.4e-6
)

// keptPart is the part of a partition's limit that a bucket may fill. The rest is for a rate that
// grows.
const keptPart = 0.8

// horizon is HorizonYears in seconds.
const horizon = HorizonYears * 365.25 * 86400

// A key has low cardinality if it has fewer partitions than lowCardinality (four for each of six
// nodes) and lowCardinalityRows rows or more for each.
const (
	lowCardinality     = 24
	lowCardinalityRows = 100
)

// A partition on the user's own nodes is too hot if it takes hotShare of all writes, and
// partitionPart of the writes that a node can take. Shards reduce it to shardShare each.
const (
	partitionPart = 0.2
	shardShare    = 0.05
)

// A key is hot if it has hotShare of the rows, and hotTimes the rows that it would have if all keys
// were equal. A key is skewed if the largest partition has skewed times the rows of the median.
const (
	hotShare = 0.1
	hotTimes = 5
	skewed   = 10
)

// Sizes reports whether the store limits the size of partitions.
func (t Target) Sizes() bool { return t.nodes() }
