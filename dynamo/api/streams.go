// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// The API of DynamoDB Streams, which has a target prefix of its own.

// ListStreams lists the streams that can be read.
type ListStreams struct {
	Table string // empty: the streams of all tables
	Limit int
	Start string // ExclusiveStartStreamArn; empty: from the first
}

// DescribeStream describes a stream and its shards.
type DescribeStream struct {
	ARN   string
	Limit int
	Start string // ExclusiveStartShardId; empty: from the first
	// ChildrenOf is the shard whose children alone are described (ShardFilter); empty: all shards.
	ChildrenOf string
}

// GetShardIterator creates an iterator: a position in a shard.
type GetShardIterator struct {
	ARN, Shard string
	Type       IteratorType
	Sequence   string // SequenceNumber; AtSequence and AfterSequence only
}

// IteratorType is the kind of position at which an iterator begins.
type IteratorType string

const (
	TrimHorizon   IteratorType = "TRIM_HORIZON"
	Latest        IteratorType = "LATEST"
	AtSequence    IteratorType = "AT_SEQUENCE_NUMBER"
	AfterSequence IteratorType = "AFTER_SEQUENCE_NUMBER"
)

// GetRecords reads records from an iterator on.
type GetRecords struct {
	Iterator string
	Limit    int
}

// Limits of the streams' requests.
const (
	MaxStreams = 100  // streams in an answer, and shards in one
	MaxRecords = 1000 // records in an answer
)

// Operation implements Request.
func (*ListStreams) Operation() string { return "ListStreams" }

// Operation implements Request.
func (*DescribeStream) Operation() string { return "DescribeStream" }

// Operation implements Request.
func (*GetShardIterator) Operation() string { return "GetShardIterator" }

// Operation implements Request.
func (*GetRecords) Operation() string { return "GetRecords" }

// streamsInput holds the members of the streams' requests as they came.
type streamsInput struct {
	table, arn, startARN, startShard, shard, kind, sequence, iterator text
	filter                                                            bool // ShardFilter was given
	filterType, filterShard                                           text
	limit                                                             integer
}

func (d *Decoder) readStream(body []byte) (in streamsInput, err error) {
	r := &d.reader
	if !d.begin(body) {
		return in, d.end()
	}
	texts := map[string]*text{
		"TableName": &in.table, "StreamArn": &in.arn, "ExclusiveStartStreamArn": &in.startARN, "ExclusiveStartShardId": &in.startShard,
		"ShardId": &in.shard, "ShardIteratorType": &in.kind, "SequenceNumber": &in.sequence, "ShardIterator": &in.iterator,
	}
	for r.Next() {
		switch to := texts[r.Name()]; {
		case r.Peek() == jsontext.Null:
			r.Skip()
		case to != nil:
			*to = readText(r)
		case r.Name() == "Limit":
			in.limit = readInteger(r, "Integer")
		case r.Name() == "ShardFilter":
			if !enterField(r, "ShardFilter") {
				continue
			}
			in.filter = true
			for r.Next() {
				switch r.Name() {
				case "Type":
					in.filterType = readText(r)
				case "ShardId":
					in.filterShard = readText(r)
				default:
					r.Skip()
				}
			}
		default:
			r.Skip()
		}
	}
	return in, d.end()
}

// Lengths of the streams' names.
const (
	minStreamARN, maxStreamARN = 37, 1024
	minShardID, maxShardID     = 28, 65
	minSequence, maxSequence   = 21, 40
	maxIterator                = 2048
)

func (c *constraints) text(t text, least, most int, at string) {
	if t.given {
		c.length(len(t.value), least, most, func() string { return t.value }, at)
	}
}

func (c *constraints) most(t integer, most int64) {
	c.atLeast(t, 1, "limit")
	c.atMost(t, most, "limit")
}

func (t integer) or(otherwise int) int {
	if t.given {
		return int(t.value)
	}
	return otherwise
}

// Decode implements Request.
func (q *ListStreams) Decode(d *Decoder, body []byte) error {
	in, err := d.readStream(body)
	if err != nil {
		return err
	}
	var c constraints
	c.name(in.table, minName, "tableName")
	c.text(in.startARN, minStreamARN, maxStreamARN, "exclusiveStartStreamArn")
	c.most(in.limit, MaxStreams)
	*q = ListStreams{Table: in.table.value, Limit: in.limit.or(MaxStreams), Start: in.startARN.value}
	return c.err()
}

// Decode implements Request.
func (q *DescribeStream) Decode(d *Decoder, body []byte) error {
	in, err := d.readStream(body)
	if err != nil {
		return err
	}
	var c constraints
	c.notNull(in.arn.given, "streamArn")
	c.text(in.arn, minStreamARN, maxStreamARN, "streamArn")
	c.text(in.startShard, minShardID, maxShardID, "exclusiveStartShardId")
	c.most(in.limit, MaxStreams)
	if in.filter {
		c.notNull(in.filterType.given, "shardFilter.type")
	}
	c.enum(in.filterType, "shardFilter.type", "CHILD_SHARDS")
	c.text(in.filterShard, minShardID, maxShardID, "shardFilter.shardId")
	if err := c.err(); err != nil {
		return err
	}
	*q = DescribeStream{ARN: in.arn.value, Limit: in.limit.or(MaxStreams), Start: in.startShard.value, ChildrenOf: in.filterShard.value}
	return checkStreamARN(q.ARN)
}

// checkStreamARN returns an error if a text is not an ARN.
func checkStreamARN(arn string) error {
	if !strings.HasPrefix(arn, "arn:") {
		return exception.Invalid("Invalid StreamArn")
	}
	return nil
}

// Decode implements Request.
func (q *GetShardIterator) Decode(d *Decoder, body []byte) error {
	in, err := d.readStream(body)
	if err != nil {
		return err
	}
	var c constraints
	c.notNull(in.arn.given, "streamArn")
	c.text(in.arn, minStreamARN, maxStreamARN, "streamArn")
	c.notNull(in.shard.given, "shardId")
	c.text(in.shard, minShardID, maxShardID, "shardId")
	c.notNull(in.kind.given, "shardIteratorType")
	c.enum(in.kind, "shardIteratorType", string(AfterSequence), string(Latest), string(AtSequence), string(TrimHorizon))
	c.text(in.sequence, minSequence, maxSequence, "sequenceNumber")
	if err := c.err(); err != nil {
		return err
	}
	*q = GetShardIterator{ARN: in.arn.value, Shard: in.shard.value, Type: IteratorType(in.kind.value), Sequence: in.sequence.value}
	// These messages are DynamoDB Local's: nobody has published those of the service.
	if (q.Type == AtSequence || q.Type == AfterSequence) && !in.sequence.given {
		return exception.InvalidParameters("Invalid SequenceNumber")
	}
	if (q.Type == TrimHorizon || q.Type == Latest) && in.sequence.given {
		return exception.InvalidParameters("SequenceNumber should not be passed for this iterator type")
	}
	return checkStreamARN(q.ARN)
}

// Decode implements Request.
func (q *GetRecords) Decode(d *Decoder, body []byte) error {
	in, err := d.readStream(body)
	if err != nil {
		return err
	}
	var c constraints
	c.notNull(in.iterator.given, "shardIterator")
	c.text(in.iterator, 1, maxIterator, "shardIterator")
	c.most(in.limit, MaxRecords)
	if err := c.err(); err != nil {
		return err
	}
	*q = GetRecords{Iterator: in.iterator.value, Limit: in.limit.or(MaxRecords)}
	return nil
}

// AppendJSON implements Request.
func (q *ListStreams) AppendJSON(dst []byte) []byte {
	dst = appendGiven(append(dst, '{'), "TableName", q.Table)
	dst = appendGiven(dst, "ExclusiveStartStreamArn", q.Start)
	return append(appendIntMember(dst, "Limit", int64(q.Limit)), '}')
}

// AppendJSON implements Request.
func (q *DescribeStream) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "StreamArn", q.ARN)
	dst = appendGiven(dst, "ExclusiveStartShardId", q.Start)
	if q.ChildrenOf != "" {
		dst = appendStringMember(append(member(dst, "ShardFilter"), '{'), "Type", "CHILD_SHARDS")
		dst = append(appendStringMember(dst, "ShardId", q.ChildrenOf), '}')
	}
	return append(appendIntMember(dst, "Limit", int64(q.Limit)), '}')
}

// AppendJSON implements Request.
func (q *GetShardIterator) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "StreamArn", q.ARN)
	dst = appendStringMember(dst, "ShardId", q.Shard)
	dst = appendStringMember(dst, "ShardIteratorType", string(q.Type))
	return append(appendGiven(dst, "SequenceNumber", q.Sequence), '}')
}

// AppendJSON implements Request.
func (q *GetRecords) AppendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "ShardIterator", q.Iterator)
	return append(appendIntMember(dst, "Limit", int64(q.Limit)), '}')
}

// appendGiven appends a member if its value is not empty.
func appendGiven(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return appendStringMember(dst, name, s)
}

// StreamTable returns the name of the table in the ARN of a stream, or in an iterator.
func StreamTable(arn string) string {
	_, after, ok := strings.Cut(arn, ":table/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(after, "/")
	return name
}

// StreamName returns the text TABLE/stream/LABEL from the ARN of a stream, or from an iterator.
func StreamName(arn string) string {
	_, after, _ := strings.Cut(arn, ":table/")
	name, _, _ := strings.Cut(after, "|")
	return name
}

// StreamSummary describes a stream in a list.
type StreamSummary struct{ ARN, Table, Label string }

// StreamsResponse is the answer to ListStreams.
type StreamsResponse struct {
	Streams []StreamSummary
	Last    string // LastEvaluatedStreamArn; empty: none
}

// AppendJSON implements Response.
func (r *StreamsResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Streams"), '[')
	for i, s := range r.Streams {
		dst = element(dst, i)
		dst = appendStringMember(append(dst, '{'), "StreamArn", s.ARN)
		dst = appendStringMember(dst, "TableName", s.Table)
		dst = append(appendStringMember(dst, "StreamLabel", s.Label), '}')
	}
	return append(appendGiven(append(dst, ']'), "LastEvaluatedStreamArn", r.Last), '}')
}

// StreamShard is a shard of a stream.
type StreamShard struct {
	ID, Parent       string
	Starting, Ending string // sequence numbers; Ending is empty while the shard is open
}

// StreamResponse is the answer to DescribeStream.
type StreamResponse struct {
	StreamSummary
	Status  string // ENABLED or DISABLED
	View    string
	Created time.Time
	Key     schema.Key
	Shards  []StreamShard
	Last    string // LastEvaluatedShardId; empty: none
}

// AppendJSON implements Response.
func (r *StreamResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "StreamDescription"), '{')
	dst = appendStringMember(dst, "StreamArn", r.ARN)
	dst = appendStringMember(dst, "StreamLabel", r.Label)
	dst = appendStringMember(dst, "StreamStatus", r.Status)
	dst = appendStringMember(dst, "StreamViewType", r.View)
	dst = appendTime(member(dst, "CreationRequestDateTime"), r.Created)
	dst = appendStringMember(dst, "TableName", r.Table)
	dst = append(member(appendKey(dst, r.Key), "Shards"), '[')
	for i, s := range r.Shards {
		dst = element(dst, i)
		dst = appendStringMember(append(dst, '{'), "ShardId", s.ID)
		dst = appendStringMember(append(member(dst, "SequenceNumberRange"), '{'), "StartingSequenceNumber", s.Starting)
		dst = append(appendGiven(dst, "EndingSequenceNumber", s.Ending), '}')
		dst = append(appendGiven(dst, "ParentShardId", s.Parent), '}')
	}
	return append(appendGiven(append(dst, ']'), "LastEvaluatedShardId", r.Last), '}', '}')
}

// IteratorResponse is the answer to GetShardIterator.
type IteratorResponse struct{ Iterator string }

// AppendJSON implements Response.
func (r *IteratorResponse) AppendJSON(dst []byte) []byte {
	return append(appendStringMember(append(dst, '{'), "ShardIterator", r.Iterator), '}')
}

// Event is the kind of change in a stream record.
type Event string

const (
	EventInsert Event = "INSERT"
	EventModify Event = "MODIFY"
	EventRemove Event = "REMOVE"
)

// StreamRecord is a change of an item.
type StreamRecord struct {
	ID       string // eventID
	Event    Event
	Region   string
	At       time.Time
	Keys     attribute.Encoded
	New, Old attribute.Encoded // nil: not part of the record
	Sequence string
	Size     int // SizeBytes
	View     string
	Service  bool // the item was removed by Time to Live
}

// RecordsResponse is the answer to GetRecords.
type RecordsResponse struct {
	Records []StreamRecord
	Next    string // NextShardIterator; empty: the shard has no more records
}

// AppendJSON implements Response.
func (r *RecordsResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Records"), '[')
	for i := range r.Records {
		dst = element(dst, i)
		dst = r.Records[i].appendJSON(dst)
	}
	return append(appendGiven(append(dst, ']'), "NextShardIterator", r.Next), '}')
}

func (r *StreamRecord) appendJSON(dst []byte) []byte {
	dst = appendStringMember(append(dst, '{'), "eventID", r.ID)
	dst = appendStringMember(dst, "eventName", string(r.Event))
	dst = append(dst, `,"eventVersion":"1.1","eventSource":"aws:dynamodb"`...)
	dst = appendStringMember(dst, "awsRegion", r.Region)
	dst = append(member(dst, "dynamodb"), '{')
	// Whole seconds, as in AWS.
	dst = strconv.AppendInt(member(dst, "ApproximateCreationDateTime"), r.At.Unix(), 10)
	dst = append(member(dst, "Keys"), r.Keys...)
	if r.New != nil {
		dst = append(member(dst, "NewImage"), r.New...)
	}
	if r.Old != nil {
		dst = append(member(dst, "OldImage"), r.Old...)
	}
	dst = appendStringMember(dst, "SequenceNumber", r.Sequence)
	dst = appendIntMember(dst, "SizeBytes", int64(r.Size))
	dst = append(appendStringMember(dst, "StreamViewType", r.View), '}')
	if r.Service {
		dst = append(dst, `,"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}`...)
	}
	return append(dst, '}')
}
