// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// DescribePartitions asks for the partitions of a table or global index, the units that they take,
// and the keys that share them. It is not an operation of DynamoDB. An evenkeel door serves it
// if the door's engine enforces the store's limits.
type DescribePartitions struct {
	Table string
	Index string // empty: the table itself
}

// Operation implements Request.
func (*DescribePartitions) Operation() string { return "DescribePartitions" }

// Decode implements Request.
func (q *DescribePartitions) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, pTableName|pIndexName); err != nil {
		return err
	}
	var c constraints
	c.table(in.table, "tableName")
	c.name(in.index, minName, "indexName")
	q.Table, q.Index = in.table.value, in.index.value
	return c.err()
}

// AppendJSON implements Request.
func (q *DescribePartitions) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	if q.Index != "" {
		dst = appendStringMember(dst, "IndexName", q.Index)
	}
	return append(dst, '}')
}

// DecodeResponse implements Answered.
func (q *DescribePartitions) DecodeResponse(_ *Decoder, body []byte) (Response, error) {
	r := new(PartitionsResponse)
	return r, json.Unmarshal(body, r)
}

// PartitionsResponse is the answer to DescribePartitions. The members of its JSON have the fields'
// names.
type PartitionsResponse struct {
	TableName   string
	IndexName   string `json:",omitempty"`
	BillingMode string // PROVISIONED or PAY_PER_REQUEST
	Sharded     bool   `json:",omitempty"` // the keys are logical keys, with their shards

	PartitionReadUnits  float64 // the limit of one partition in a second
	PartitionWriteUnits float64
	SplitAfterSeconds   float64 // how long a partition must be too hot before it is split; negative: never

	Partitions []Partition
}

// Partition is a range of triples (hash of the partition key, partition key, sort key).
type Partition struct {
	Number int            // from 1, in the order of hashes
	From   *PartitionEdge `json:",omitempty"` // the beginning of the range; nil: the first hash
	Share  float64        // the part of all hashes that it holds
	Bytes  int64          // bytes written to it since the server started
	Since  time.Time      // when it was created or last split

	Read, Write PartitionUse

	// Keys holds partition keys in the partition: all that have items, if they are few, and the
	// most requested ones, hottest first.
	Keys []PartitionKeyUse
	// KeyCount is the number of partition keys with items. AtLeast says that there are more.
	KeyCount int
	AtLeast  bool `json:",omitempty"`
}

// PartitionEdge is the beginning of a partition.
type PartitionEdge struct {
	Hash  string          // 8 hexadecimal digits
	Token string          `json:",omitempty"` // the hash as a decimal token, if the table is a CQL table
	Shard int             `json:",omitempty"` // the key's shard, in a sharded table or index
	Key   json.RawMessage `json:",omitempty"` // the key in that hash, if the partition begins within a partition key: as many attributes as the beginning has
}

// PartitionUse is the load of a partition.
type PartitionUse struct {
	Units             float64 // in the last whole second
	Throttled         float64 // throttled requests in the last whole second
	UnitsTotal        float64
	ThrottledTotal    int64
	ThrottledOwnTotal int64 // the part of ThrottledTotal that met the partition's own limit, not the table's
}

// PartitionKeyUse is the load of one partition key in the last ten to twenty seconds.
type PartitionKeyUse struct {
	Key       json.RawMessage // as DynamoDB JSON: {"InvoiceNumber":{"S":"121212"}}
	Shard     int             `json:",omitempty"` // in a sharded table or index
	Units     float64
	Throttled int64 // throttled requests
}

// KeyTexts returns the values of a key as text, in the order of the JSON. Strings and numbers are
// returned as they are, binary values in Base64. If the JSON is not a key, KeyTexts returns it as
// it is.
func KeyTexts(key json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(key))
	var all []string
	for depth := 0; ; {
		token, err := d.Token()
		switch {
		case err == io.EOF && depth == 0:
			return all
		case err != nil:
			return []string{string(key)}
		case token == json.Delim('{'):
			depth++
		case token == json.Delim('}'):
			depth--
		case depth == 2 && d.More():
			// the name of a type; its value follows
		case depth == 2:
			all = append(all, fmt.Sprint(token))
		}
	}
}

// AppendJSON implements Response.
func (r *PartitionsResponse) AppendJSON(dst []byte) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		return append(dst, '{', '}') // cannot happen: the keys are JSON that this module has written
	}
	return append(dst, b...)
}
