// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Response is the body of an answer.
type Response interface {
	// AppendJSON appends the body.
	AppendJSON(dst []byte) []byte
}

// Empty is the body of operations that return nothing: TagResource, UntagResource.
type Empty struct{}

// AppendJSON implements Response. AWS, too, sends an empty body for these operations.
func (Empty) AppendJSON(dst []byte) []byte { return dst }

// ItemResponse is the answer to GetItem, PutItem, UpdateItem and DeleteItem.
type ItemResponse struct {
	Item       attribute.Encoded // GetItem; nil: there is none
	Attributes attribute.Encoded // of writes, as ReturnValues asks; nil: none
	Capacity   *ConsumedCapacity
	Metrics    *ItemCollectionMetrics
}

// AppendJSON implements Response.
func (r *ItemResponse) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if r.Item != nil {
		dst = append(member(dst, "Item"), r.Item...)
	}
	if r.Attributes != nil {
		dst = append(member(dst, "Attributes"), r.Attributes...)
	}
	if r.Capacity != nil {
		dst = r.Capacity.appendJSON(member(dst, "ConsumedCapacity"))
	}
	if r.Metrics != nil {
		dst = r.Metrics.appendJSON(member(dst, "ItemCollectionMetrics"))
	}
	return append(dst, '}')
}

// ItemsResponse is the answer to Query and Scan.
type ItemsResponse struct {
	Items        []attribute.Encoded
	CountOnly    bool // Select is COUNT: no Items
	Count        int
	ScannedCount int
	LastKey      attribute.Item // LastEvaluatedKey; nil: none
	Capacity     *ConsumedCapacity

	Sorted bool // each item is written as AppendItem does, with its names sorted
}

// AppendJSON implements Response.
func (r *ItemsResponse) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if !r.CountOnly {
		dst = appendItems(member(dst, "Items"), r.Items)
	}
	dst = strconv.AppendInt(member(dst, "Count"), int64(r.Count), 10)
	dst = strconv.AppendInt(member(dst, "ScannedCount"), int64(r.ScannedCount), 10)
	if r.LastKey != nil {
		dst = attribute.AppendItem(member(dst, "LastEvaluatedKey"), r.LastKey)
	}
	if r.Capacity != nil {
		dst = r.Capacity.appendJSON(member(dst, "ConsumedCapacity"))
	}
	return append(dst, '}')
}

// BatchGetResponse is the answer to BatchGetItem.
type BatchGetResponse struct {
	Tables      []BatchGetItems // one for each table of the request
	Unprocessed []BatchGetTable // with the keys that were not read
	Capacity    []ConsumedCapacity
}

// BatchGetItems holds the items that were found in one table.
type BatchGetItems struct {
	Table string
	Items []attribute.Encoded
}

// AppendJSON implements Response.
func (r *BatchGetResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Responses"), '{')
	for _, t := range r.Tables {
		dst = appendItems(member(dst, t.Table), t.Items)
	}
	dst = append(member(append(dst, '}'), "UnprocessedKeys"), '{')
	for i := range r.Unprocessed {
		dst = r.Unprocessed[i].AppendJSON(member(dst, r.Unprocessed[i].Table))
	}
	dst = appendCapacities(append(dst, '}'), r.Capacity)
	return append(dst, '}')
}

// BatchWriteResponse is the answer to BatchWriteItem.
type BatchWriteResponse struct {
	Unprocessed []BatchWriteTable // with the writes that were not done
	Capacity    []ConsumedCapacity
	Metrics     []TableMetrics
}

// AppendJSON implements Response.
func (r *BatchWriteResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "UnprocessedItems"), '{')
	for i := range r.Unprocessed {
		dst = r.Unprocessed[i].AppendJSON(member(dst, r.Unprocessed[i].Table))
	}
	dst = append(dst, '}')
	dst = appendMetrics(dst, r.Metrics)
	dst = appendCapacities(dst, r.Capacity)
	return append(dst, '}')
}

// TransactGetResponse is the answer to TransactGetItems.
type TransactGetResponse struct {
	Items    []attribute.Encoded // one for each get; nil: there is no item
	Capacity []ConsumedCapacity
}

// AppendJSON implements Response.
func (r *TransactGetResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Responses"), '[')
	for i, item := range r.Items {
		dst = element(dst, i)
		dst = append(dst, '{')
		if item != nil {
			dst = append(member(dst, "Item"), item...)
		}
		dst = append(dst, '}')
	}
	dst = appendCapacities(append(dst, ']'), r.Capacity)
	return append(dst, '}')
}

// TransactWriteResponse is the answer to TransactWriteItems.
type TransactWriteResponse struct {
	Capacity []ConsumedCapacity
	Metrics  []TableMetrics
}

// AppendJSON implements Response.
func (r *TransactWriteResponse) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendMetrics(dst, r.Metrics)
	dst = appendCapacities(dst, r.Capacity)
	return append(dst, '}')
}

func appendItems(dst []byte, items []attribute.Encoded) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		dst = element(dst, i)
		dst = append(dst, item...)
	}
	return append(dst, ']')
}

// member appends a name and a colon, and before them a comma unless the member is the first one.
func member(dst []byte, name string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	dst = jsontext.AppendString(dst, name)
	return append(dst, ':')
}

// element appends a comma if i is not 0, so that the i-th element of an array can follow.
func element(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
