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

	Columns   []ResultColumn // of the result; with JSON, a single one named "[json]"
	Wildcard  bool           // SELECT *
	Distinct  bool
	JSON      bool
	Selection eval.Selection

	// Fetch lists the columns that the execution reads. The selection, the filters, GroupBy and
	// Sort refer to them by position.
	Fetch []Fetched

	Where Where

	// NeedsIndex is set if only Index can answer Where (or filtering, if AllowFiltering is set
	// too).
	NeedsIndex bool
	Index      *schema.Index

	// A new group begins when the value of one of the GroupBy expressions changes, or when the
	// partition does. GroupBy leaves out the partition key's columns. Grouped is set if the
	// statement has a GROUP BY.
	Grouped bool
	GroupBy []eval.Expr

	// Reversed is set if the rows of a partition come in reverse clustering order.
	Reversed bool

	// Sort, if not empty, orders the rows of all partitions together (ORDER BY with IN on the
	// partition key).
	Sort []Sort

	// StaticRows is set if a partition with static content but no rows returns one row.
	StaticRows bool

	// StaticsOnly is set if only partition key and static columns are selected (SELECT DISTINCT):
	// the execution need not read rows.
	StaticsOnly bool

	Limit             eval.Expr // nil if absent
	PerPartitionLimit eval.Expr // nil if absent
	AllowFiltering    bool
}

// Sort is one key of an order over fetched columns.
type Sort struct {
	Cell int
	Desc bool // descending in the order of the column's type, whatever the clustering order

	// NullsLast sorts nulls last. The rows with a null have only static content.
	NullsLast bool
}

// BoundSelect is a SELECT with its bound values.
type BoundSelect struct {
	*Select
	Env *eval.Env

	// Keys are the partition keys by components: distinct, in the order in which Cassandra reads
	// them. If Scan is set, all partitions of Tokens are read instead.
	Keys   Tuples
	Scan   bool
	Tokens []TokenRange

	// Slices are the rows to read from each partition: disjoint, in clustering order. If there are
	// none, nothing is read (see Empty).
	Slices Slices

	// Filters are the other conditions that a row must satisfy; see Matches.
	Filters []Filter

	Limit             int // 0: no limit
	PerPartitionLimit int // 0: no limit
}

// Empty reports whether the statement can return no row of any partition.
func (b *BoundSelect) Empty() bool {
	return b.Slices.Len() == 0 || !b.Scan && b.Keys.Len() == 0 || b.Scan && len(b.Tokens) == 0
}

// AggregateWarning returns Cassandra's warning for an aggregation or a GROUP BY that reads several
// partitions, whatever the values of an IN; "" for other statements.
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
