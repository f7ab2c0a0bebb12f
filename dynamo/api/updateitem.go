package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// UpdateItem changes the item with a key, or makes it.
type UpdateItem struct {
	Write
	Table     string
	Key       attribute.Item
	Update    *expression.Update // nil: nothing is changed, but the item exists afterwards
	Condition *expression.Condition
}

// Operation implements Request.
func (*UpdateItem) Operation() string { return "UpdateItem" }

// Decode implements Request.
func (q *UpdateItem) Decode(d *Decoder, body []byte) error { return nil }
