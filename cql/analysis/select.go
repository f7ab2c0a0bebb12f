// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// Select is an analysed SELECT.
type Select struct {
	Header

	Columns   []ResultColumn // of the result; one named "[json]" when JSON
	Wildcard  bool           // SELECT *
	Distinct  bool
	JSON      bool
	Selection eval.Selection

	// Fetch are the columns that the execution reads: what the selection, the
	// filters, GroupBy and Sort refer to by position.
	Fetch []Fetched

	Where Where

	// NeedsIndex says that Where can only be answered by Index (or by filtering
	// where AllowFiltering is set too).
	NeedsIndex bool
	Index      *schema.Index

	// GroupBy are the expressions whose change, like that of the partition,
	// begins a new group; the partition key's columns are left out. Grouped is
	// true when the statement has a GROUP BY at all.
	Grouped bool
	GroupBy []eval.Expr

	// Reversed says that rows of a partition come in reverse clustering order.
	Reversed bool

	// Sort, when not empty, orders the rows of all partitions together (ORDER BY
	// with IN on the partition key).
	Sort []Sort

	// StaticRows says that a partition with static content and no rows gives a
	// row of its own.
	StaticRows bool

	// StaticsOnly says that only partition key and static columns are selected
	// (SELECT DISTINCT): rows need not be read.
	StaticsOnly bool

	Limit             eval.Expr // nil when absent
	PerPartitionLimit eval.Expr // nil when absent
	AllowFiltering    bool
}

// Sort is one key of an order over fetched columns.
type Sort struct {
	Cell int
	Desc bool // descending in the column's type's order, whatever the clustering order

	// NullsLast says where null goes: rows of nothing but static content.
	NullsLast bool
}

// BoundSelect is a SELECT with its values.
type BoundSelect struct {
	*Select
	Env *eval.Env

	// Keys are the partition keys by components, in the order Cassandra reads
	// them, distinct. When Scan is set, all partitions of Tokens are read instead.
	Keys   Tuples
	Scan   bool
	Tokens []TokenRange

	// Slices are the rows read of each partition, in clustering order, disjoint.
	// None: nothing is read (Empty).
	Slices Slices

	// Filters are what a row must satisfy beside; see Matches.
	Filters []Filter

	Limit             int // 0: none
	PerPartitionLimit int // 0: none
}

// Empty says that nothing can be selected.
func (b *BoundSelect) Empty() bool {
	return b.Slices.Len() == 0 || !b.Scan && b.Keys.Len() == 0 || b.Scan && len(b.Tokens) == 0
}

// AggregateWarning is what Cassandra warns of where an aggregation or a GROUP BY reads
// several partitions, whichever values an IN has; "" elsewhere.
func (b *BoundSelect) AggregateWarning() string {
	onKey := func(r *Restriction) bool { return r.Columns[0].Kind == schema.PartitionKey }
	switch {
	case !b.Selection.Aggregated && !b.Grouped:
	case !b.Scan && slices.ContainsFunc(b.Where.Partition, func(r *Restriction) bool { return r.Kind == IN }):
		return "Aggregation query used on multiple partition keys (IN restriction)"
	case b.Scan && b.Where.Token == nil && !slices.ContainsFunc(b.Where.Filters, onKey):
		return "Aggregation query used without partition key"
	}
	return ""
}
