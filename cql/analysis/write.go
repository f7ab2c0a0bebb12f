// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// WriteKind is the kind of a write.
type WriteKind uint8

// The kinds of writes.
const (
	Insert WriteKind = iota + 1
	Update
	Delete
)

func (k WriteKind) String() string { return [...]string{"", "INSERT", "UPDATE", "DELETE"}[k] }

// Scope is the part of the data that a write changes.
type Scope uint8

// The scopes of writes.
const (
	// ScopeRows writes cells of rows. An INSERT also makes the row exist (its row marker), unless
	// it writes static columns only.
	ScopeRows Scope = iota + 1
	// ScopeStatic writes cells of the static row only.
	ScopeStatic
	// ScopeDeleteRows deletes whole rows.
	ScopeDeleteRows
	// ScopeDeleteSlices deletes ranges of rows.
	ScopeDeleteSlices
	// ScopeDeletePartition deletes whole partitions.
	ScopeDeletePartition
)

// Write is an analysed INSERT, UPDATE or DELETE.
type Write struct {
	Header
	Kind  WriteKind
	Scope Scope
	Where Where // that of an INSERT is made from its values

	// Operations change regular and static columns; empty if rows, slices or partitions are
	// deleted.
	Operations []Operation

	JSON      eval.Expr // INSERT JSON: Bind makes Where and Operations
	JSONUnset bool      // INSERT JSON with DEFAULT UNSET

	IfExists    bool
	IfNotExists bool
	Conditions  []Condition

	// Fetch lists the columns that a conditional write reads to decide and to report: those of the
	// conditions, or all columns for IF EXISTS and IF NOT EXISTS. The primary key's columns come
	// first if they are reported.
	Fetch []Fetched

	Timestamp eval.Expr // nil if absent
	TTL       eval.Expr // nil if absent
	Counter   bool      // the table is a counter table

	rangeOfColumns bool // the statement deletes columns from a range of rows: an error at execution
}

// Conditional reports whether the write is a lightweight transaction.
func (w *Write) Conditional() bool {
	return w.IfExists || w.IfNotExists || len(w.Conditions) > 0
}

// OperationKind is the kind of an operation.
type OperationKind uint8

// The kinds of operations.
const (
	Set             OperationKind = iota + 1 // c = Term (null deletes; a collection is replaced)
	SetElement                               // c[Key] = Term
	SetField                                 // c.Field = Term
	Append                                   // list: c = c + Term
	Prepend                                  // list: c = Term + c
	Put                                      // set, map: c = c + Term
	Discard                                  // list, set, map: c = c - Term
	CounterAdd                               // c = c + Term
	CounterSubtract                          // c = c - Term
	DeleteColumn                             // DELETE c
	DeleteElement                            // DELETE c[Key]
	DeleteField                              // DELETE c.Field
	AddToValue                               // c = c + Term of a number or text, in a conditional update
)

// Operation is one change of a column.
type Operation struct {
	Kind   OperationKind
	Column *schema.Column
	Key    eval.Expr // an element's key
	Field  int       // a field's index
	Term   eval.Expr
}

// BoundWrite is a write with its bound values. Every mutation of Mutations (or the deletion that
// Scope names) applies to every row of every partition named.
type BoundWrite struct {
	*Write
	Env *eval.Env

	Scope Scope  // as in Write; known only here for INSERT JSON
	Keys  Tuples // partition keys by components
	// Rows are clustering keys. A table without clustering columns has one empty key, even if the
	// partition is deleted.
	Rows Tuples
	// Slices are the ranges of ScopeDeleteSlices.
	Slices Slices

	Mutations  []Mutation
	Conditions []BoundCondition

	Timestamp *int64 // microseconds; nil if the statement has none
	TTL       *int32 // seconds; nil if the statement has none (the table's default applies), 0 for no expiry
}

// MutationKind is the kind of a mutation.
type MutationKind uint8

// The kinds of mutations.
const (
	// PutCell writes an atomic cell; a nil Value deletes it.
	PutCell MutationKind = iota + 1
	// PutCells writes cells of a collection or UDT; a nil Cell.Value deletes that cell. With Clear,
	// all earlier cells are deleted first.
	PutCells
	// ClearCells deletes all cells of a collection or UDT, at the write's own timestamp: DELETE c.
	// (PutCells with Clear deletes earlier cells at one microsecond less, as an overwrite does.)
	ClearCells
	// AddCounter adds Delta.
	AddCounter
	// SetIndex replaces the list's element at Index. DeleteIndex deletes it. DiscardValues deletes
	// elements equal to one of Cells' values. All three read the list first.
	SetIndex
	DeleteIndex
	DiscardValues
	// AddToCell adds Value to the current number or text (eval.Add), if there is one.
	AddToCell
)

// Mutation is one change of a column, with its values.
type Mutation struct {
	Kind   MutationKind
	Column *schema.Column // its Kind tells whether it is static
	Value  []byte         // PutCell, SetIndex
	Clear  bool           // PutCells
	Cells  Cells          // PutCells, DiscardValues
	Delta  int64          // AddCounter
	Index  int32          // SetIndex, DeleteIndex
}
