// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Operation describes an operation. Operations lists all of them: a new operation is an entry
// there, and a file with its request.
type Operation struct {
	Name    string
	New     func() Request // returns an empty request; nil for an operation that is not known
	Service Service
	About   Subject
	Names   Naming
	Writes  bool  // it may change something
	Long    bool  // it may read many items, or wait
	Endless bool  // it may read a whole table, and so take longer than a connection may
	Fans    bool  // it may take several requests to the store
	Returns int64 // how many bytes its answer has at most, if it may be long; else 0
}

// Service is the prefix of X-Amz-Target before the name of the operation.
type Service string

const (
	DynamoDB Service = "DynamoDB_20120810."
	Streams  Service = "DynamoDBStreams_20120810." // an API of its own, which the same door serves
	Own      Service = "Evenkeel_20260101."        // operations that DynamoDB does not have
)

// Subject is the kind of thing that an operation is about.
type Subject uint8

const (
	Endpoint   Subject = iota // the endpoint, or not known
	Items                     // the request is an ItemRequest
	Statements                // PartiQL
	Tables                    // tables themselves
	Layouts                   // how a table is sharded
	Feeds                     // streams
)

// Naming is the place where a request names tables.
type Naming uint8

const (
	Nowhere      Naming = iota // in no place, or the place is not known
	ByTableName                // in TableName
	ByResource                 // in ResourceArn
	ByRequest                  // as names of the members of RequestItems
	ByAction                   // in TableName of each action of TransactItems
	InStatements               // in PartiQL
	InAsked                    // in the request that it is about
)

// Operations lists all operations. The limits of answers are DynamoDB's.
var Operations = []Operation{
	{Name: "GetItem", New: empty[GetItem], Service: DynamoDB, About: Items, Names: ByTableName, Returns: 400 << 10},
	{Name: "PutItem", New: empty[PutItem], Service: DynamoDB, About: Items, Names: ByTableName, Writes: true},
	{Name: "UpdateItem", New: empty[UpdateItem], Service: DynamoDB, About: Items, Names: ByTableName, Writes: true},
	{Name: "DeleteItem", New: empty[DeleteItem], Service: DynamoDB, About: Items, Names: ByTableName, Writes: true},
	{Name: "Query", New: empty[Query], Service: DynamoDB, About: Items, Names: ByTableName, Long: true, Fans: true, Returns: 1 << 20},
	{Name: "Scan", New: empty[Scan], Service: DynamoDB, About: Items, Names: ByTableName, Long: true, Fans: true, Returns: 1 << 20},
	{Name: "BatchGetItem", New: empty[BatchGetItem], Service: DynamoDB, About: Items, Names: ByRequest, Long: true, Fans: true, Returns: 16 << 20},
	{Name: "BatchWriteItem", New: empty[BatchWriteItem], Service: DynamoDB, About: Items, Names: ByRequest, Writes: true, Fans: true},
	{Name: "TransactGetItems", New: empty[TransactGetItems], Service: DynamoDB, About: Items, Names: ByAction, Long: true, Returns: 4 << 20},
	{Name: "TransactWriteItems", New: empty[TransactWriteItems], Service: DynamoDB, About: Items, Names: ByAction, Writes: true},
	{Name: "ExecuteStatement", New: empty[ExecuteStatement], Service: DynamoDB, About: Statements, Names: InStatements, Writes: true, Long: true, Fans: true, Returns: 1 << 20},
	{Name: "BatchExecuteStatement", New: empty[BatchExecuteStatement], Service: DynamoDB, About: Statements, Names: InStatements, Writes: true, Long: true, Fans: true, Returns: 10 << 20},
	{Name: "ExecuteTransaction", New: empty[ExecuteTransaction], Service: DynamoDB, About: Statements, Names: InStatements, Writes: true, Long: true, Fans: true, Returns: 4 << 20},
	{Name: "CreateTable", New: empty[CreateTable], Service: DynamoDB, About: Tables, Writes: true, Long: true},
	{Name: "UpdateTable", New: empty[UpdateTable], Service: DynamoDB, About: Tables, Names: ByTableName, Writes: true, Long: true},
	{Name: "DeleteTable", New: empty[DeleteTable], Service: DynamoDB, About: Tables, Names: ByTableName, Writes: true, Long: true},
	{Name: "DescribeTable", New: empty[DescribeTable], Service: DynamoDB, About: Tables, Names: ByTableName},
	{Name: "ListTables", New: empty[ListTables], Service: DynamoDB, About: Tables},
	{Name: "UpdateTimeToLive", New: empty[UpdateTimeToLive], Service: DynamoDB, About: Tables, Names: ByTableName, Writes: true},
	{Name: "DescribeTimeToLive", New: empty[DescribeTimeToLive], Service: DynamoDB, About: Tables, Names: ByTableName},
	{Name: "TagResource", New: empty[TagResource], Service: DynamoDB, About: Tables, Names: ByResource, Writes: true, Long: true, Endless: true},
	{Name: "UntagResource", New: empty[UntagResource], Service: DynamoDB, About: Tables, Names: ByResource, Writes: true, Long: true},
	{Name: "ListTagsOfResource", New: empty[ListTagsOfResource], Service: DynamoDB, About: Tables, Names: ByResource},
	{Name: "GetRecords", New: empty[GetRecords], Service: Streams, About: Feeds, Long: true, Returns: 1 << 20},
	{Name: "GetShardIterator", New: empty[GetShardIterator], Service: Streams, About: Feeds},
	{Name: "DescribeStream", New: empty[DescribeStream], Service: Streams, About: Feeds},
	{Name: "ListStreams", New: empty[ListStreams], Service: Streams, About: Feeds},
	{Name: "DescribePartitions", New: empty[DescribePartitions], Service: Own, About: Tables, Names: ByTableName},
	{Name: "Reshard", New: empty[Reshard], Service: Own, About: Layouts, Names: ByTableName, Writes: true},
	{Name: "Explain", New: empty[Explain], Service: Own, About: Layouts, Names: InAsked},
	{Name: "DescribeEndpoints", New: empty[DescribeEndpoints], Service: DynamoDB},
	{Name: "DescribeLimits", New: empty[DescribeLimits], Service: DynamoDB},
}

// empty returns an empty request.
func empty[T any, P interface {
	*T
	Request
}]() Request {
	return P(new(T))
}

var (
	unknown = Operation{Service: DynamoDB}
	byName  = func() map[string]*Operation {
		m := make(map[string]*Operation, len(Operations))
		for i := range Operations {
			m[Operations[i].Name] = &Operations[i]
		}
		return m
	}()
)

// OperationOf returns the operation with a name. If the name is not known, it returns an operation
// without a name.
func OperationOf(name string) *Operation {
	if o := byName[name]; o != nil {
		return o
	}
	return &unknown
}

// Is reports whether the operation is about one of some subjects.
func (o *Operation) Is(subjects ...Subject) bool { return slices.Contains(subjects, o.About) }

// Target returns the X-Amz-Target of an operation.
func Target(operation string) string { return string(OperationOf(operation).Service) + operation }

// Targeted returns the name of the operation that X-Amz-Target names. ok says that the target has
// the prefix of the operation's service; an operation that is not known must have DynamoDB's.
func Targeted(target string) (operation string, ok bool) {
	prefix, operation, _ := strings.Cut(target, ".")
	return operation, prefix+"." == string(OperationOf(operation).Service)
}

// New returns an empty request for an operation, or false if it is not known.
func New(operation string) (Request, bool) {
	if o := OperationOf(operation); o.New != nil {
		return o.New(), true
	}
	return nil, false
}

// ItemRequest is a request on items.
type ItemRequest interface {
	Request
	// EachTable calls visit with each name, or ARN, of a table in the request.
	EachTable(visit func(name string))
	// Instead returns a request of the same operation on the same tables, with another key in
	// the place of each of its keys and items, and another index in the place of a read's.
	Instead(key attribute.Item, index string) Request
	// Describe describes the request in a line or, if it has many parts, in several.
	Describe() string
}

// EachTable calls visit with each name, or ARN, of a table in a request on items.
func EachTable(q Request, visit func(name string)) {
	if on, ok := q.(ItemRequest); ok {
		on.EachTable(visit)
	}
}

// StatementsOf returns the statements of a request of PartiQL.
func StatementsOf(q Request) (all []Statement) {
	switch q := q.(type) {
	case *ExecuteStatement:
		all = append(all, q.Statement)
	case *BatchExecuteStatement:
		for i := range q.Statements {
			all = append(all, q.Statements[i].Statement)
		}
	case *ExecuteTransaction:
		all = q.Statements
	}
	return all
}

// TableName returns the name of a table from its name or its ARN.
func TableName(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return name
}
