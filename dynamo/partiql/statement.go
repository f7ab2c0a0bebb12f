// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// Kind is the kind of a statement.
type Kind uint8

const (
	Select Kind = iota
	Insert
	Update
	Delete
	Exists // the condition of an action in a transaction of writes
)

// Statement is a parsed statement with the values of its parameters.
type Statement struct {
	kind     Kind
	table    string
	index    string // empty: the table itself
	columns  []column
	where    condition // nil: none
	order    []orderTerm
	item     attribute.Item   // Insert
	changes  []change         // Update
	returns  api.ReturnValues // ReturnNone: no RETURNING
	returned bool             // there is a RETURNING
}

// Kind returns what the statement does.
func (s *Statement) Kind() Kind { return s.kind }

// Table returns the name of the statement's table.
func (s *Statement) Table() string { return s.table }

// column is a selected path and its name in the answer.
type column struct {
	path expression.Path
	name string
}

type orderTerm struct {
	name string
	desc bool
}

// change is one SET or REMOVE.
type change struct {
	path     expression.Path
	remove   bool
	function string // set_add, set_delete, list_append; empty: none
	operator string // + or -; empty: none
	args     [2]operand
}

// condition is a condition of WHERE: one of the types below.
type condition interface{}

type (
	and     []condition
	or      []condition
	not     struct{ condition }
	compare struct {
		operator    string // =, <>, <, <=, > or >=
		left, right operand
	}
	between struct{ value, low, high operand }
	in      struct {
		value operand
		list  []operand
	}
	call struct {
		function string // in lower case
		args     []operand
	}
)

// operand is a path or a literal, or the size of one of these.
type operand struct {
	path    expression.Path
	literal attribute.Value // Invalid: a path
	size    bool
}

func (o *operand) isLiteral() bool { return o.literal.Kind() != attribute.Invalid && !o.size }

// isAttribute reports whether the operand is a whole attribute.
func (o *operand) isAttribute() bool {
	return o.literal.Kind() == attribute.Invalid && !o.size && len(o.path.Steps) == 0
}
