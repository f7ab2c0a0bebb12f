package api

import (
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// Query reads items of one partition of a table or index, in order.
type Query struct {
	Read
	KeyCondition *expression.KeyCondition
	Backward     bool // ScanIndexForward is false
}

// Operation implements Request.
func (*Query) Operation() string { return "Query" }

// Decode implements Request.
func (q *Query) Decode(d *Decoder, body []byte) error { return nil }
