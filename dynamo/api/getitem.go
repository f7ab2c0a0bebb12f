package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// GetItem gets the item with a key.
type GetItem struct {
	Table      string
	Key        attribute.Item
	Projection *expression.Projection
	Consistent bool
	Capacity   ReturnConsumedCapacity
}

// Operation implements Request.
func (*GetItem) Operation() string { return "GetItem" }

// Decode implements Request.
func (q *GetItem) Decode(d *Decoder, body []byte) error { return nil }
