// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// FuzzDo sends any body to any operation of a store with a table. The store must answer or report
// what is wrong with the request. No error may be an internal one.
func FuzzDo(f *testing.F) {
	operations := []string{
		"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems",
		"UpdateTable", "DescribeTable", "ListTables", "TagResource", "UntagResource", "ListTagsOfResource", "UpdateTimeToLive", "DescribeTimeToLive", "CreateTable",
	}
	for i, body := range []string{
		`{"TableName":"Tab","Key":{"k":{"S":"a"},"r":{"N":"1"}},"ProjectionExpression":"a.b[0]"}`,
		`{"TableName":"Tab","Item":{"k":{"S":"a"},"r":{"N":"1"},"l":{"L":[{"M":{"x":{"NULL":true}}}]}},"ConditionExpression":"attribute_not_exists(k)","ReturnValues":"ALL_OLD"}`,
		`{"TableName":"Tab","Key":{"k":{"S":"a"},"r":{"N":"1"}},"UpdateExpression":"SET n = if_not_exists(n, :n) + :n REMOVE l[0] ADD s :s","ExpressionAttributeValues":{":n":{"N":"1"},":s":{"SS":["a"]}}}`,
		`{"TableName":"Tab","Key":{"k":{"S":"a"},"r":{"N":"1"}}}`,
		`{"TableName":"Tab","KeyConditionExpression":"k = :k AND r BETWEEN :a AND :b","ExpressionAttributeValues":{":k":{"S":"a"},":a":{"N":"0"},":b":{"N":"2"}},"Limit":1}`,
		`{"TableName":"Tab","IndexName":"by-g","Segment":1,"TotalSegments":3,"Select":"COUNT"}`,
		`{"RequestItems":{"Tab":{"Keys":[{"k":{"S":"a"},"r":{"N":"1"}}]}}}`,
		`{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"k":{"S":"a"},"r":{"N":"1"},"g":{"S":"x"}}}}]}}`,
		`{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"k":{"S":"a"},"r":{"N":"1"}}}}]}`,
		`{"TransactItems":[{"Delete":{"TableName":"Tab","Key":{"k":{"S":"a"},"r":{"N":"1"}}}}],"ClientRequestToken":"t"}`,
		`{"TableName":"Tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-g"}}]}`,
	} {
		f.Add(uint8(i), body)
	}
	s := start(f)
	table := `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[{"IndexName":"by-g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`
	if _, err := s.Do(context.Background(), "CreateTable", []byte(table), nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, operation uint8, body string) {
		name := operations[int(operation)%len(operations)]
		_, err := s.Do(context.Background(), name, []byte(body), nil)
		if e := exception.Of(err); err != nil && e.Kind == exception.InternalServerError {
			t.Errorf("%s %s: %v", name, body, err)
		}
	})
}
