// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// The sources of a limit and of the error message beyond it.
const (
	// documented: "Constraints in Amazon DynamoDB", the API reference.
	documented = "documented"
	// modelled: the lengths in the model of the service, which its SDKs have (dynamodb/2012-08-10,
	// streams.dynamodb/2012-08-10), and the words that all of the service's generated checks use.
	modelled = "modelled"
	// recorded: answers of DynamoDB itself that others have published (the tests of dynalite,
	// Alternator and the Parity Suite; ACK's notes of 2026-10; the DAX client, which contains its
	// texts).
	recorded = "recorded"
	// own: nobody has published the answer of DynamoDB.
	own = "own"
)

// limit is one of the API's limits. A request at the limit is accepted as far as that can be
// decided without a table. A request with one more is refused with an error's kind and text.
type limit struct {
	what  string
	most  int
	from  string // the source of the limit
	op    string
	body  func(n int) string
	kind  exception.Kind
	says  string // "…" stands for any text
	words string // the source of the error's words; empty: from
}

func name(n int) string { return strings.Repeat("n", n) }

// each returns a list of n texts, joined.
func each(n int, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ",")
}

const pk = `"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"`

func update(expression, more string) string {
	return fmt.Sprintf(`{"TableName":"abc","Key":{"pk":{"S":"x"}},"UpdateExpression":%q%s}`, expression, more)
}

// index returns a global index that projects some attributes.
func index(i, projected int) string {
	return fmt.Sprintf(`{"IndexName":"idx%d","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":[%s]}}`,
		i, each(projected, func(k int) string { return fmt.Sprintf(`"x%d_%d"`, i, k) }))
}

const tooLong = "1 validation error detected: Value '…' at '%s' failed to satisfy constraint: Member must have length less than or equal to %d"

var limits = []limit{
	// Expressions.
	{"bytes of an expression", 4096, documented, "UpdateItem", func(n int) string { return update("SET a"+strings.Repeat(" ", n-12)+"= b + c", "") },
		exception.Validation, "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size; expression size: 4097", recorded},
	{"operators of an expression", 300, documented, "Scan", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","FilterExpression":"%s a < b"}`, strings.Repeat("NOT ", n-1))
	}, exception.Validation, "Invalid FilterExpression: The expression contains too many operators; operator count: 301", recorded},
	{"operands of IN", 100, documented, "Scan", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","FilterExpression":"a IN (%s)"}`, each(n, func(i int) string { return fmt.Sprintf("b%d", i) }))
	}, exception.Validation, "Invalid FilterExpression: The IN operator is provided with too many operands; number of operands: 101", recorded},
	{"levels of a value in UpdateItem", 32, documented, "UpdateItem", func(n int) string {
		value := strings.Repeat(`{"L":[`, n-1) + `{"S":"x"}` + strings.Repeat(`]}`, n-1)
		return update("SET a = :v", `,"ExpressionAttributeValues":{":v":`+value+`}`)
	}, exception.Validation, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit", recorded},
	{"levels of a path", 32, documented, "GetItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","Key":{"pk":{"S":"x"}},"ProjectionExpression":"a%s"}`, strings.Repeat("[0]", n-1))
	}, exception.Validation, "Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33", recorded},
	{"bytes of a name's placeholder", 255, documented, "UpdateItem", func(n int) string {
		return update("REMOVE #"+name(n-1), fmt.Sprintf(`,"ExpressionAttributeNames":{"#%s":"a"}`, name(n-1)))
	}, exception.Validation, "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256", recorded},
	{"bytes of a value's placeholder", 255, documented, "UpdateItem", func(n int) string {
		return update("SET a = :"+name(n-1), fmt.Sprintf(`,"ExpressionAttributeValues":{":%s":{"S":"x"}}`, name(n-1)))
	}, exception.Validation, "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;", recorded},
	{"bytes of a name", 65535, documented, "UpdateItem", func(n int) string {
		return update("REMOVE #n", fmt.Sprintf(`,"ExpressionAttributeNames":{"#n":"%s"}`, name(n)))
	}, exception.Validation, "ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than 65536 bytes for key #n", recorded},
	{"bytes of all names", 2 << 20, documented, "Scan", func(n int) string {
		const many = 64
		var paths []string
		names := each(many, func(i int) string {
			placeholder := fmt.Sprintf("#%02d", i)
			paths = append(paths, placeholder)
			size := n/many - 3
			if i == 0 {
				size += n % many
			}
			return fmt.Sprintf(`"%s":"%02d%s"`, placeholder, i, name(size-2))
		})
		return fmt.Sprintf(`{"TableName":"abc","ProjectionExpression":"%s","ExpressionAttributeNames":{%s}}`, strings.Join(paths, ","), names)
	}, exception.Validation, "ExpressionAttributeNames exceeds max size", recorded},
	{"bytes of all values", 2 << 20, documented, "Scan", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","FilterExpression":"a = :v","ExpressionAttributeValues":{":v":{"S":"%s"}}}`, name(n-2))
	}, exception.Validation, "ExpressionAttributeValues exceeds max size", recorded},
	{"bytes of names and values", 2 << 20, documented, "Scan", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","FilterExpression":"#a = :v","ExpressionAttributeNames":{"#a":"a"},"ExpressionAttributeValues":{":v":{"S":"%s"}}}`, name(n-5))
	}, exception.Validation, "Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds max size", recorded},

	// Items.
	{"bytes of an item", 400 << 10, documented, "PutItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","Item":{"pk":{"S":"x"},"v":{"S":"%s"}}}`, name(n-4))
	}, exception.Validation, "Item size has exceeded the maximum allowed size", recorded},
	{"bytes of an attribute's name", 65535, documented, "PutItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","Item":{"pk":{"S":"x"},"%s":{"S":"x"}}}`, name(n))
	}, exception.Validation, "Attribute name is too large, must be less than 65536 bytes", recorded},
	{"bytes of a name to get", 65535, documented, "GetItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","Key":{"pk":{"S":"x"}},"AttributesToGet":["%s"]}`, name(n))
	}, exception.Validation, "1 validation error detected: Value '…' at 'attributesToGet' failed to satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to 65535, Member must have length greater than or equal to 0]", modelled},
	{"bytes of a name to update", 65535, documented, "UpdateItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","Key":{"pk":{"S":"x"}},"AttributeUpdates":{"%s":{"Action":"DELETE"}}}`, name(n))
	}, exception.Validation, "1 validation error detected: Value '…' at 'attributeUpdates' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 65535, Member must have length greater than or equal to 0]", modelled},
	{"digits of a number", 38, documented, "PutItem", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","Item":{"pk":{"N":"%s"}}}`, strings.Repeat("7", n))
	}, exception.Validation, "Attempting to store more than 38 significant digits in a Number", recorded},

	// Batches and transactions.
	{"items of BatchGetItem", 100, documented, "BatchGetItem", func(n int) string {
		return fmt.Sprintf(`{"RequestItems":{"abc":{"Keys":[%s]},"def":{"Keys":[{"pk":{"S":"x"}}]}}}`, each(n-1, func(i int) string { return fmt.Sprintf(`{"pk":{"S":"%d"}}`, i) }))
	}, exception.Validation, "Too many items requested for the BatchGetItem call", recorded},
	{"keys of BatchGetItem in one table", 100, documented, "BatchGetItem", func(n int) string {
		return fmt.Sprintf(`{"RequestItems":{"abc":{"Keys":[%s]}}}`, each(n, func(i int) string { return fmt.Sprintf(`{"pk":{"S":"%d"}}`, i) }))
	}, exception.Validation, "1 validation error detected: Value at 'RequestItems.abc.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100", recorded},
	{"writes of BatchWriteItem in one table", 25, documented, "BatchWriteItem", func(n int) string {
		return fmt.Sprintf(`{"RequestItems":{"abc":[%s]}}`, each(n, func(i int) string { return fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"}}}}`, i) }))
	}, exception.Validation, "1 validation error detected: Value '…' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]", recorded},
	{"writes of BatchWriteItem", 25, documented, "BatchWriteItem", func(n int) string {
		return fmt.Sprintf(`{"RequestItems":{"abc":[%s],"def":[{"DeleteRequest":{"Key":{"pk":{"S":"x"}}}}]}}`, each(n-1, func(i int) string { return fmt.Sprintf(`{"PutRequest":{"Item":{"pk":{"S":"%d"}}}}`, i) }))
	}, exception.Validation, "Too many items requested for the BatchWriteItem call", recorded},
	{"items of TransactGetItems", 100, documented, "TransactGetItems", func(n int) string {
		return fmt.Sprintf(`{"TransactItems":[%s]}`, each(n, func(i int) string { return fmt.Sprintf(`{"Get":{"TableName":"abc","Key":{"pk":{"S":"%d"}}}}`, i) }))
	}, exception.Validation, fmt.Sprintf(tooLong, "transactItems", 100), recorded},
	{"actions of TransactWriteItems", 100, documented, "TransactWriteItems", func(n int) string {
		return fmt.Sprintf(`{"TransactItems":[%s]}`, each(n, func(i int) string { return fmt.Sprintf(`{"Put":{"TableName":"abc","Item":{"pk":{"S":"%d"}}}}`, i) }))
	}, exception.Validation, fmt.Sprintf(tooLong, "transactItems", 100), recorded},
	{"bytes of a transaction's items", 4 << 20, documented, "TransactWriteItems", func(n int) string {
		const many = 16
		return fmt.Sprintf(`{"TransactItems":[%s]}`, each(many, func(i int) string {
			size := n/many - 5
			if i == 0 {
				size += n % many
			}
			return fmt.Sprintf(`{"Put":{"TableName":"abc","Item":{"pk":{"S":"%02d"},"v":{"S":"%s"}}}}`, i, name(size))
		}))
	}, exception.Validation, "Transaction payload size cannot exceed 4MB. Payload Size: : Transaction payload size cannot exceed 4MB. Payload Size: 4194305", recorded},
	{"characters of ClientRequestToken", 36, documented, "TransactWriteItems", func(n int) string {
		return fmt.Sprintf(`{"ClientRequestToken":"%s","TransactItems":[{"Put":{"TableName":"abc","Item":{"pk":{"S":"x"}}}}]}`, name(n))
	}, exception.Validation, fmt.Sprintf(tooLong, "clientRequestToken", 36), modelled},

	// PartiQL.
	{"characters of a statement", 8192, modelled, "ExecuteStatement", func(n int) string { return fmt.Sprintf(`{"Statement":"%s"}`, name(n)) },
		exception.Validation, fmt.Sprintf(tooLong, "statement", 8192), ""},
	{"statements of BatchExecuteStatement", 25, documented, "BatchExecuteStatement", func(n int) string {
		return fmt.Sprintf(`{"Statements":[%s]}`, each(n, func(int) string { return `{"Statement":"SELECT"}` }))
	}, exception.Validation, fmt.Sprintf(tooLong, "statements", 25), modelled},
	{"statements of ExecuteTransaction", 100, documented, "ExecuteTransaction", func(n int) string {
		return fmt.Sprintf(`{"TransactStatements":[%s]}`, each(n, func(int) string { return `{"Statement":"SELECT"}` }))
	}, exception.Validation, fmt.Sprintf(tooLong, "transactStatements", 100), modelled},
	{"characters of NextToken", 32768, modelled, "ExecuteStatement", func(n int) string { return fmt.Sprintf(`{"Statement":"SELECT","NextToken":"%s"}`, name(n)) },
		exception.Validation, fmt.Sprintf(tooLong, "nextToken", 32768), ""},

	// Pages.
	{"segments of a Scan", 1_000_000, documented, "Scan", func(n int) string { return fmt.Sprintf(`{"TableName":"abc","Segment":0,"TotalSegments":%d}`, n) },
		exception.Validation, "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000", recorded},
	{"names of ListTables", 100, documented, "ListTables", func(n int) string { return fmt.Sprintf(`{"Limit":%d}`, n) },
		exception.Validation, "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100", recorded},
	{"records of GetRecords", 1000, documented, "GetRecords", func(n int) string { return fmt.Sprintf(`{"ShardIterator":"x","Limit":%d}`, n) },
		exception.Validation, "1 validation error detected: Value '1001' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 1000", ""},
	{"shards of DescribeStream", 100, documented, "DescribeStream", func(n int) string {
		return fmt.Sprintf(`{"StreamArn":"arn:%s","Limit":%d}`, name(40), n)
	}, exception.Validation, "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100", own},

	// Tables.
	{"characters of a table's name", 255, documented, "CreateTable", func(n int) string { return fmt.Sprintf(`{"TableName":"%s",%s}`, name(n), pk) },
		exception.Validation, fmt.Sprintf(tooLong, "tableName", 255), recorded},
	{"characters of a key's name", 255, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s}`, strings.ReplaceAll(pk, "pk", name(n)))
	},
		exception.Validation, "2 validation errors detected: Value '…' at 'attributeDefinitions.1.member.attributeName' failed to satisfy constraint: Member must have length less than or equal to 255; " +
			"Value '…' at 'keySchema.1.member.attributeName' failed to satisfy constraint: Member must have length less than or equal to 255", modelled},
	{"key attributes of a table", 2, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[%s],"KeySchema":[{"AttributeName":"k0","KeyType":"HASH"},%s]}`,
			each(n, func(i int) string { return fmt.Sprintf(`{"AttributeName":"k%d","AttributeType":"S"}`, i) }), each(n-1, func(i int) string { return fmt.Sprintf(`{"AttributeName":"k%d","KeyType":"RANGE"}`, i+1) }))
	}, exception.Validation, fmt.Sprintf(tooLong, "keySchema", 2), recorded},
	{"characters of an index's name", 255, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"GlobalSecondaryIndexes":[%s]}`, pk, strings.Replace(index(0, 1), "idx0", name(n), 1))
	}, exception.Validation, fmt.Sprintf(tooLong, "globalSecondaryIndexes.1.member.indexName", 255), modelled},
	{"global indexes", 20, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"GlobalSecondaryIndexes":[%s]}`, pk, each(n, func(i int) string { return index(i, 1) }))
	}, exception.Validation, "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of 20", recorded},
	{"local indexes", 5, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"LocalSecondaryIndexes":[%s]}`, each(n, func(i int) string {
			return fmt.Sprintf(`{"IndexName":"idx%d","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}`, i)
		}))
	}, exception.Validation, "One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds per-table limit of 5", recorded},
	{"attributes that an index projects", 20, modelled, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"GlobalSecondaryIndexes":[%s]}`, pk, index(0, n))
	}, exception.Validation, fmt.Sprintf(tooLong, "globalSecondaryIndexes.1.member.projection.nonKeyAttributes", 20), recorded},
	{"attributes that all indexes project", 100, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"GlobalSecondaryIndexes":[%s,%s]}`, pk, each(5, func(i int) string { return index(i, 19) }), index(5, n-95))
	}, exception.Validation, "One or more parameter values were invalid: Number of NonKeyAttributes of all indexes exceeds the per-table limit of 100", own},
	{"partition key attributes of an index", 4, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[%s],"Projection":{"ProjectionType":"ALL"}}]}`,
			strings.Replace(pk, `[{"AttributeName"`, `[`+each(n, func(i int) string { return fmt.Sprintf(`{"AttributeName":"k%d","AttributeType":"S"}`, i) })+`,{"AttributeName"`, 1),
			each(n, func(i int) string { return fmt.Sprintf(`{"AttributeName":"k%d","KeyType":"HASH"}`, i) }))
	}, exception.Validation, "One or more parameter values were invalid: The KeySchema exceeds the maximum allowed number of HASH key attributes", recorded},
	{"indexes that are created or deleted at a time", 1, documented, "UpdateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","GlobalSecondaryIndexUpdates":[%s]}`, each(n, func(i int) string { return fmt.Sprintf(`{"Delete":{"IndexName":"idx%d"}}`, i) }))
	}, exception.LimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table", recorded},
	{"units of throughput", 1_000_000_000_000, recorded, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"ProvisionedThroughput":{"ReadCapacityUnits":%d,"WriteCapacityUnits":1}}`, strings.Replace(pk, "PAY_PER_REQUEST", "PROVISIONED", 1), n)
	}, exception.Validation, "Given value 1000000000001 for ReadCapacityUnits is out of bounds", ""},
	{"characters of the attribute of Time to Live", 255, modelled, "UpdateTimeToLive", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"%s"}}`, name(n))
	}, exception.Validation, fmt.Sprintf(tooLong, "timeToLiveSpecification.attributeName", 255), ""},

	// Tags.
	{"tags of a table that is made", 50, documented, "CreateTable", func(n int) string {
		return fmt.Sprintf(`{"TableName":"abc",%s,"Tags":[%s]}`, pk, each(n, func(i int) string { return fmt.Sprintf(`{"Key":"%d","Value":""}`, i) }))
	}, exception.Validation, "Number of Tags exceed the current limit for the provided ResourceArn", recorded},
	{"tags to remove", 50, recorded, "UntagResource", func(n int) string {
		return fmt.Sprintf(`{%s,"TagKeys":[%s]}`, arn, each(n, func(i int) string { return fmt.Sprintf(`"%d"`, i) }))
	}, exception.Validation, "Number of Tags exceed the current limit for the provided ResourceArn", ""},
	{"characters of a tag's key", 128, documented, "TagResource", func(n int) string {
		return fmt.Sprintf(`{%s,"Tags":[{"Key":"%s","Value":"v"}]}`, arn, strings.Repeat("é", n))
	},
		exception.Validation, "The Tag Key provided is invalid, Key: …", recorded},
	{"characters of a tag's value", 256, documented, "TagResource", func(n int) string {
		return fmt.Sprintf(`{%s,"Tags":[{"Key":"k","Value":"%s"}]}`, arn, strings.Repeat("é", n))
	},
		exception.Validation, "The Tag Value provided is invalid, Value: …", recorded},
	{"characters of a key to remove", 128, recorded, "UntagResource", func(n int) string { return fmt.Sprintf(`{%s,"TagKeys":["%s"]}`, arn, name(n)) },
		exception.Validation, "The Tag Key provided is invalid, Key: …", ""},
}

const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abc"`

// The test covers every limit of the API that can be checked without a table. A request at the
// limit passes, and one beyond it is refused in these words. TestLimits of engine/dynamodb covers the
// limits that need a table.
func TestLimits(t *testing.T) {
	for _, l := range limits {
		t.Run(strings.ReplaceAll(l.what, " ", "_"), func(t *testing.T) {
			if err := refuse(l.op, []byte(l.body(l.most))); err != nil {
				t.Errorf("%d are refused: %.300v", l.most, err)
			}
			err := refuse(l.op, []byte(l.body(l.most+1)))
			if err == nil {
				t.Fatalf("%d are accepted", l.most+1)
			}
			e := exception.Of(err)
			if e.Kind != l.kind || !alike(e.Message, l.says) {
				t.Errorf("%d (%s, %s):\n got %s: %.600s\nwant %s: %s", l.most+1, l.from, l.words, e.Kind, e.Message, l.kind, l.says)
			}
		})
	}
}

// alike reports whether a text matches a form, in which … stands for any text.
func alike(text, form string) bool {
	parts := strings.Split(form, "…")
	if !strings.HasPrefix(text, parts[0]) || !strings.HasSuffix(text, parts[len(parts)-1]) {
		return false
	}
	for _, p := range parts {
		_, after, ok := strings.Cut(text, p)
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// Other recorded answers of AWS, most of them about declarations and changes of tables, whose words
// older recordings do not have.
func TestRecorded(t *testing.T) {
	provisioned := strings.Replace(pk, `"BillingMode":"PAY_PER_REQUEST"`, `"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`, 1)
	const invalid = "One or more parameter values were invalid: "
	for _, c := range []struct{ op, body, says string }{
		{"CreateTable", `{"TableName":"abc","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"pk","AttributeType":"N"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`,
			"Attribute Name is duplicated: pk"},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y","x"]}}]}`,
			invalid + "Duplicate element in NonKeyAttributes: x"},
		{"CreateTable", `{"TableName":"abc",` + provisioned + `,"GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`,
			invalid + "ProvisionedThroughput is not specified for index: idx"},
		{"CreateTable", `{"TableName":"abc",` + provisioned + `,"OnDemandThroughput":{"MaxWriteRequestUnits":5}}`,
			invalid + "MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"OnDemandThroughput":{"MaxReadRequestUnits":-1}}`,
			invalid + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"OnDemandThroughput":{}}`, ""},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"Tags":[{"Key":"aws:foo","Value":"v"}]}`, "Tag Key cannot be prefixed with aws:, Key: aws:foo"},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"Tags":[{"Key":"dup","Value":"v"},{"Key":"dup","Value":"w"}]}`, "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup"},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"StreamSpecification":{"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}}`,
			invalid + "Table is being created with a stream disabled, UpdateViewType should not be specified"},
		{"UpdateTable", `{"TableName":"abc","OnDemandThroughput":{"MaxReadRequestUnits":-1}}`, ""},
		{"UpdateTable", `{"TableName":"abc","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"idx","OnDemandThroughput":{"MaxWriteRequestUnits":0}}}]}`,
			invalid + "Requested MaxWriteRequestUnits for OnDemandThroughput for index : idx is outside of valid range"},
		{"UpdateTable", `{"TableName":"abc"}`, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"},
		{"UpdateTable", `{"TableName":"abc","GlobalSecondaryIndexUpdates":[],"DeletionProtectionEnabled":true}`, invalid + "List of GlobalSecondaryIndexUpdates is empty"},
		{"UpdateTable", `{"TableName":"abc","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"idx"},"Update":{"IndexName":"idx"}}]}`,
			invalid + "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"},
		{"UntagResource", `{` + arn + `,"TagKeys":[""]}`, "The Tag Key provided is invalid, Key: "},
		{"CreateTable", `{"TableName":"abc",` + pk + `,"LocalSecondaryIndexes":[{"IndexName":"l1","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],"GlobalSecondaryIndexes":[{"IndexName":"g1","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`,
			"2 validation errors detected: Value 'g1' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3; Value 'l1' at 'localSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3"},
		{"TransactWriteItems", `{"ClientRequestToken":"1234567890123456789012345678901234567","ReturnConsumedCapacity":"x","TransactItems":[{"Delete":{"TableName":"abc","Key":{"pk":{"S":"x"}}}}]}`,
			"2 validation errors detected: Value '1234567890123456789012345678901234567' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36; Value 'x' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"},
		{"BatchGetItem", `{"RequestItems":{"abc":{"Keys":[{"pk":{"S":"x"}}],"ProjectionExpression":"a"},"abd":{"Keys":[{"pk":{"S":"x"}}],"AttributesToGet":["a"]}}}`,
			"Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"},
		{"UpdateItem", update("ADD n :v", `,"ExpressionAttributeValues":{":v":{"BOOL":true}}`),
			"Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: BOOL, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"UpdateItem", update("DELETE n :v", `,"ExpressionAttributeValues":{":v":{"N":"1"}}`),
			"Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"UpdateItem", update("SET a = contains(a, :v)", `,"ExpressionAttributeValues":{":v":{"N":"1"}}`),
			"Invalid UpdateExpression: The function is not allowed in an update expression; function: contains"},
		{"UpdateItem", update("SET a = list_append(list_append(a, :v), :v)", `,"ExpressionAttributeValues":{":v":{"L":[]}}`),
			"Invalid UpdateExpression: The function is not allowed to be used this way in an expression; function: list_append"},
		{"UpdateItem", update("SET a = list_append(if_not_exists(a, :v), :v)", `,"ExpressionAttributeValues":{":v":{"L":[]}}`), ""},
		{"DeleteItem", `{"TableName":"abc","Key":{"pk":{"S":"x"}},"ConditionExpression":"a = if_not_exists(a, b)"}`,
			"Invalid ConditionExpression: The function is not allowed in a condition expression; function: if_not_exists"},
	} {
		says := ""
		if err := refuse(c.op, []byte(c.body)); err != nil {
			says = exception.Of(err).Message
		}
		if says != c.says {
			t.Errorf("%s %s:\n got %s\nwant %s", c.op, c.body, says, c.says)
		}
	}
}
