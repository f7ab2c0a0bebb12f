package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// BatchWriteItem puts and deletes up to 25 items.
type BatchWriteItem struct {
	Tables   []BatchWriteTable // in the order of the request
	Capacity ReturnConsumedCapacity
	Metrics  bool // ReturnItemCollectionMetrics is SIZE
}

// BatchWriteTable is what a BatchWriteItem does to one table.
type BatchWriteTable struct {
	Table  string
	Writes []BatchWrite
}

// BatchWrite is one put or delete: one of Item and Key is not nil.
type BatchWrite struct {
	Item attribute.Item // to put
	Key  attribute.Item // to delete
}

// Operation implements Request.
func (*BatchWriteItem) Operation() string { return "BatchWriteItem" }

// Decode implements Request.
func (q *BatchWriteItem) Decode(d *Decoder, body []byte) error { return nil }

// AppendJSON appends the table's part of a request.
func (t *BatchWriteTable) AppendJSON(dst []byte) []byte { return dst }
