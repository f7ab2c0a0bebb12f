package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// DeleteItem deletes the item with a key, if there is one.
type DeleteItem struct {
	Write
	Table     string
	Key       attribute.Item
	Condition *expression.Condition
}

// Operation implements Request.
func (*DeleteItem) Operation() string { return "DeleteItem" }

// Decode implements Request.
func (q *DeleteItem) Decode(d *Decoder, body []byte) error { return nil }
