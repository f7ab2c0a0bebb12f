package api

import (
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// CreateTable makes a table.
type CreateTable struct {
	schema.Declaration
}

// Operation implements Request.
func (*CreateTable) Operation() string { return "CreateTable" }

// Decode implements Request.
func (q *CreateTable) Decode(d *Decoder, body []byte) error { return nil }
