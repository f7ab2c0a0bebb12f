// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// Where is an analysed WHERE, by what its restrictions are for.
type Where struct {
	// Partition has one entry for each partition key column, nil where it is
	// not restricted by EQ or IN. It is nil as a whole unless all are: then
	// partitions are scanned.
	Partition []*Restriction

	// Token restricts the partition's token; nil when absent.
	Token *Restriction

	// Clustering are the restrictions that make the slices, in clustering order.
	Clustering []*Restriction

	// Filters are all other restrictions: what a row, once read, must satisfy.
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

// Restriction is all that a WHERE says of a column, or of several as a tuple.
type Restriction struct {
	Kind    RestrictionKind
	Columns []*schema.Column // several only for EQ, IN and Range; all of the key for a token's
	Tuple   bool             // written as a tuple; its terms are then of tuple types
	Cells   []int            // of Columns in Fetch, for filters

	// Term is the right side of EQ, Contains, ContainsKey, Entry and Like.
	Term eval.Expr
	Key  eval.Expr // Entry: the key

	// Terms is the list of IN; List is set instead for IN ?, a list of the
	// column's type or of tuples.
	Terms []eval.Expr
	List  eval.Expr

	// The ends of a Range; nil when open. They are in the order of the type, not
	// of a DESC clustering.
	Start, End                   eval.Expr
	StartInclusive, EndInclusive bool

	// StartTuple and EndTuple say whether that end was written as a tuple, of
	// the first of Columns; an end that was not is of the first column.
	StartTuple, EndTuple bool
}
