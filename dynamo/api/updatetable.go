package api

import (
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// UpdateTable changes a table's settings or its global secondary indexes.
type UpdateTable struct {
	Table string
	schema.Change
}

// Operation implements Request.
func (*UpdateTable) Operation() string { return "UpdateTable" }

// Decode implements Request.
func (q *UpdateTable) Decode(d *Decoder, body []byte) error { return nil }
