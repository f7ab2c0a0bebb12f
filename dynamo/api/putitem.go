package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// PutItem puts an item in the place of what has its key.
type PutItem struct {
	Write
	Table     string
	Item      attribute.Item
	Condition *expression.Condition
}

// Operation implements Request.
func (*PutItem) Operation() string { return "PutItem" }

// Decode implements Request.
func (q *PutItem) Decode(d *Decoder, body []byte) error { return nil }
