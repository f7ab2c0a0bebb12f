// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Request is the body of an operation.
type Request interface {
	// Operation is the operation's name, as in X-Amz-Target after the point.
	Operation() string
	// Decode reads and checks a body into the request, which must be new.
	// Errors are *exception.Error.
	Decode(d *Decoder, body []byte) error
	// AppendJSON appends the request's body, for a store that is not in this
	// process. Decoded, it is an equal request.
	AppendJSON(dst []byte) []byte
}

// Answered is a request whose answers can be read, as of a store that is not in
// this process.
type Answered interface {
	Request
	// DecodeResponse reads the body of an answer to the request. The response
	// shares the memory of body and d, as a request does; an error says that the
	// body is no answer.
	DecodeResponse(d *Decoder, body []byte) (Response, error)
}

// Decoder is the memory that requests are decoded into. Its zero value is ready;
// Reset lets it be used again once the request is done with.
type Decoder struct {
	reader    jsontext.Reader
	attribute attribute.Decoder
}

// Reset lets the decoder use the memory of its last request again.
func (d *Decoder) Reset() { d.attribute.Reset() }

// Target is the X-Amz-Target of an operation.
func Target(operation string) string {
	switch operation {
	case "DescribeStream", "GetRecords", "GetShardIterator", "ListStreams":
		return "DynamoDBStreams_20120810." + operation
	case "DescribePartitions":
		return PartitionsTarget
	case "Reshard":
		return ReshardTarget
	}
	return "DynamoDB_20120810." + operation
}

// New returns an empty request for an operation, or false if it is not known.
func New(operation string) (Request, bool) {
	switch operation {
	case "BatchExecuteStatement":
		return new(BatchExecuteStatement), true
	case "BatchGetItem":
		return new(BatchGetItem), true
	case "BatchWriteItem":
		return new(BatchWriteItem), true
	case "CreateTable":
		return new(CreateTable), true
	case "DeleteItem":
		return new(DeleteItem), true
	case "DeleteTable":
		return new(DeleteTable), true
	case "DescribeEndpoints":
		return new(DescribeEndpoints), true
	case "DescribeLimits":
		return new(DescribeLimits), true
	case "DescribePartitions":
		return new(DescribePartitions), true
	case "DescribeStream":
		return new(DescribeStream), true
	case "DescribeTable":
		return new(DescribeTable), true
	case "DescribeTimeToLive":
		return new(DescribeTimeToLive), true
	case "ExecuteStatement":
		return new(ExecuteStatement), true
	case "ExecuteTransaction":
		return new(ExecuteTransaction), true
	case "GetItem":
		return new(GetItem), true
	case "GetRecords":
		return new(GetRecords), true
	case "GetShardIterator":
		return new(GetShardIterator), true
	case "ListStreams":
		return new(ListStreams), true
	case "ListTables":
		return new(ListTables), true
	case "ListTagsOfResource":
		return new(ListTagsOfResource), true
	case "PutItem":
		return new(PutItem), true
	case "Query":
		return new(Query), true
	case "Reshard":
		return new(Reshard), true
	case "Scan":
		return new(Scan), true
	case "TagResource":
		return new(TagResource), true
	case "TransactGetItems":
		return new(TransactGetItems), true
	case "TransactWriteItems":
		return new(TransactWriteItems), true
	case "UntagResource":
		return new(UntagResource), true
	case "UpdateItem":
		return new(UpdateItem), true
	case "UpdateTable":
		return new(UpdateTable), true
	case "UpdateTimeToLive":
		return new(UpdateTimeToLive), true
	}
	return nil, false
}

// TableName is the name of a table that a request names by its name or its ARN.
func TableName(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return name
}
