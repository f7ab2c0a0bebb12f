package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// BatchGetItem gets up to 100 items.
type BatchGetItem struct {
	Tables   []BatchGetTable // in the order of the request
	Capacity ReturnConsumedCapacity
}

// BatchGetTable is what a BatchGetItem asks of one table.
type BatchGetTable struct {
	Table      string
	Keys       []attribute.Item
	Projection *expression.Projection
	Consistent bool
	Raw        []byte // the table's part of the request, for UnprocessedKeys
}

// Operation implements Request.
func (*BatchGetItem) Operation() string { return "BatchGetItem" }

// Decode implements Request.
func (q *BatchGetItem) Decode(d *Decoder, body []byte) error { return nil }

// AppendJSON appends the table's part of a request, with the keys that are in it.
func (t *BatchGetTable) AppendJSON(dst []byte) []byte { return dst }
