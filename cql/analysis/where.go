// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// Where is an analysed WHERE. Its restrictions are grouped by their use.
type Where struct {
	// Partition has one entry for each partition key column. It is nil unless EQ or IN restricts
	// all of them; then the execution scans partitions.
	Partition []*Restriction

	// Token restricts the partition's token; nil if absent.
	Token *Restriction

	// Clustering holds the restrictions that make the slices, in clustering order.
	Clustering []*Restriction

	// Filters holds all other restrictions. A row is tested with them after it is read.
	Filters []*Restriction
}

// RestrictionKind is the kind of a restriction.
type RestrictionKind uint8

// The kinds of restrictions.
const (
	EQ          RestrictionKind = iota + 1 // c = t, (a, b) = t
	IN                                     // c IN (…), (a, b) IN (…)
	Range                                  // c > s AND c <= e, (a, b) > s
	Contains                               // c CONTAINS t
	ContainsKey                            // c CONTAINS KEY t
	Entry                                  // c[k] = t
	Like                                   // c LIKE t
)

// Restriction is all that a WHERE says about a column, or about several columns as a tuple.
type Restriction struct {
	Kind    RestrictionKind
	Columns []*schema.Column // several only for EQ, IN and Range; the whole partition key for a token
	Tuple   bool             // written as a tuple; its terms then have tuple types
	Cells   []int            // positions of Columns in Fetch, for filters

	// Term is the right side of EQ, Contains, ContainsKey, Entry and Like.
	Term eval.Expr
	Key  eval.Expr // Entry: the key

	// Terms is the list of an IN. For IN ?, List is set instead: a list of the column's type or of
	// tuples.
	Terms []eval.Expr
	List  eval.Expr

	// Start and End are the ends of a Range; nil if open. They are in the order of the type, even
	// if the clustering order is DESC.
	Start, End                   eval.Expr
	StartInclusive, EndInclusive bool

	// StartTuple and EndTuple are set if that end was written as a tuple, of the first of Columns.
	// Any other end is of the first column.
	StartTuple, EndTuple bool
}
