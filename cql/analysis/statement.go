// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Statement is an analysed statement: *Select, *Write or *Batch.
type Statement interface {
	Head() *Header
}

// Header holds what all statements have.
type Header struct {
	Keyspace string
	Table    *schema.Table // for a batch, the table of its first statement; nil if it has none

	// Binds are the statement's markers in order, as in the PREPARED metadata.
	Binds []Bind

	// PartitionKeyBinds are the indexes in Binds of the partition key's components, in the key's
	// order; nil unless each component is one plain marker.
	PartitionKeyBinds []int
}

// Head implements Statement.
func (h *Header) Head() *Header { return h }

// Bind is one bind marker.
type Bind struct {
	Keyspace, Table string
	Name            string // "c", "in(c)", "[limit]", "partition key token", …
	Type            *value.Type
}

// ResultColumn is one column of a result, as in the RESULT metadata.
type ResultColumn struct {
	Name string
	Type *value.Type
}

// Fetched is a column that the execution reads. Its index in Fetch is the index of the cell.
type Fetched struct {
	Column *schema.Column
	Times  bool // the statement asks for write times or times to live
}
