package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// TransactGetItems gets up to 100 items as they are at one moment.
type TransactGetItems struct {
	Gets     []TransactGet
	Capacity ReturnConsumedCapacity
}

// TransactGet is one item to get.
type TransactGet struct {
	Table      string
	Key        attribute.Item
	Projection *expression.Projection
}

// Operation implements Request.
func (*TransactGetItems) Operation() string { return "TransactGetItems" }

// Decode implements Request.
func (q *TransactGetItems) Decode(d *Decoder, body []byte) error { return nil }
