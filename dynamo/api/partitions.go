// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// DescribePartitions asks which partitions a table or a global index has, what they
// take, and which keys share them. It is no operation of DynamoDB: an evenkeel
// door has it, under PartitionsTarget, where its engine keeps the store's limits.
type DescribePartitions struct {
	Table string
	Index string // empty: the table itself
}

// PartitionsTarget is the X-Amz-Target of DescribePartitions.
const PartitionsTarget = "Evenkeel_20260101.DescribePartitions"

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

// PartitionsResponse is the answer to DescribePartitions. Its JSON has the fields'
// names.
type PartitionsResponse struct {
	TableName   string
	IndexName   string `json:",omitempty"`
	BillingMode string // PROVISIONED or PAY_PER_REQUEST
	Sharded     bool   `json:",omitempty"` // the keys are logical ones, with their shards

	PartitionReadUnits  float64 // what one partition takes in a second
	PartitionWriteUnits float64
	SplitAfterSeconds   float64 // how long a partition is too hot before it is split; negative: never

	Partitions []Partition
}

// Partition is a range of (hash of the partition key, partition key, sort key).
type Partition struct {
	Number int            // from 1, in the order of the hashes
	From   *PartitionEdge `json:",omitempty"` // where it begins; none: at the first hash
	Share  float64        // its part of all hashes
	Bytes  int64          // written to it since the server started
	Since  time.Time      // when it became what it is: created or split

	Read, Write PartitionUse

	// Keys are partition keys in it: all that have items, if they are few, and those
	// that are asked for most, hottest first.
	Keys []PartitionKeyUse
	// KeyCount is how many have items; AtLeast: there are more.
	KeyCount int
	AtLeast  bool `json:",omitempty"`
}

// PartitionEdge is where a partition begins.
type PartitionEdge struct {
	Hash  string          // 8 hexadecimal digits
	Token string          `json:",omitempty"` // the same of a table of CQL, in decimal
	Shard int             `json:",omitempty"` // of the key, in a sharded table or index
	Key   json.RawMessage `json:",omitempty"` // within that hash, where it is in the midst of a partition key: as far as that goes
}

// PartitionUse is what was taken of a partition.
type PartitionUse struct {
	Units             float64 // in the last whole second
	Throttled         float64 // requests, in the last whole second
	UnitsTotal        float64
	ThrottledTotal    int64
	ThrottledOwnTotal int64 // of those, the ones that met the partition's own limit, not the table's
}

// PartitionKeyUse is what was asked of one partition key, in the last ten to twenty
// seconds.
type PartitionKeyUse struct {
	Key       json.RawMessage // as DynamoDB JSON: {"InvoiceNumber":{"S":"121212"}}
	Shard     int             `json:",omitempty"` // of a sharded table or index
	Units     float64
	Throttled int64 // requests
}

// KeyTexts are the values of a key as text, in the order that the JSON has them in:
// strings and numbers as they are, binary ones in Base64. What is no such key is its
// JSON.
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
			// the name of a type: its value follows
		case depth == 2:
			all = append(all, fmt.Sprint(token))
		}
	}
}

// AppendJSON implements Response.
func (r *PartitionsResponse) AppendJSON(dst []byte) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		return append(dst, '{', '}') // keys are JSON that this module has written
	}
	return append(dst, b...)
}
