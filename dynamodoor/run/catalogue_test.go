// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
)

// onCatalogue lists requests of every operation on a table NAME, or nil for operations that name
// none. They would read or write an entry of the catalogue.
var onCatalogue = map[string][]string{
	"GetItem":            {`{"TableName":"NAME","Key":{"table":{"S":"Tab"}}}`},
	"PutItem":            {`{"TableName":"NAME","Item":{"table":{"S":"Tab"}}}`},
	"UpdateItem":         {`{"TableName":"NAME","Key":{"table":{"S":"Tab"}},"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"y"}}}`},
	"DeleteItem":         {`{"TableName":"NAME","Key":{"table":{"S":"Tab"}}}`},
	"Query":              {`{"TableName":"NAME","KeyConditionExpression":"#t = :t","ExpressionAttributeNames":{"#t":"table"},"ExpressionAttributeValues":{":t":{"S":"Tab"}}}`},
	"Scan":               {`{"TableName":"NAME"}`, `{"TableName":"NAME","Segment":0,"TotalSegments":2}`},
	"BatchGetItem":       {`{"RequestItems":{"NAME":{"Keys":[{"table":{"S":"Tab"}}]}}}`, `{"RequestItems":{"plain":{"Keys":[{"k":{"S":"x"}}]},"NAME":{"Keys":[{"table":{"S":"Tab"}}]}}}`},
	"BatchWriteItem":     {`{"RequestItems":{"NAME":[{"PutRequest":{"Item":{"table":{"S":"Tab"}}}}]}}`, `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"k":{"S":"x"}}}}],"NAME":[{"DeleteRequest":{"Key":{"table":{"S":"Tab"}}}}]}}`},
	"TransactGetItems":   {`{"TransactItems":[{"Get":{"TableName":"plain","Key":{"k":{"S":"x"}}}},{"Get":{"TableName":"NAME","Key":{"table":{"S":"Tab"}}}}]}`},
	"TransactWriteItems": {`{"TransactItems":[{"Put":{"TableName":"NAME","Item":{"table":{"S":"Tab"}}}}]}`, `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"k":{"S":"x"}}}},{"Delete":{"TableName":"NAME","Key":{"table":{"S":"Tab"}}}}]}`, `{"TransactItems":[{"ConditionCheck":{"TableName":"NAME","Key":{"table":{"S":"Tab"}},"ConditionExpression":"attribute_exists(#t)","ExpressionAttributeNames":{"#t":"table"}}}]}`, `{"TransactItems":[{"Update":{"TableName":"NAME","Key":{"table":{"S":"Tab"}},"UpdateExpression":"REMOVE x"}}]}`},
	"ExecuteStatement":   {`{"Statement":"SELECT * FROM \"NAME\""}`, `{"Statement":"DELETE FROM \"NAME\" WHERE \"table\" = 'Tab'"}`, `{"Statement":"INSERT INTO \"NAME\" VALUE {'table': 'Tab'}"}`, `{"Statement":"UPDATE \"NAME\" SET x = 1 WHERE \"table\" = 'Tab'"}`},
	"BatchExecuteStatement": {`{"Statements":[{"Statement":"SELECT * FROM \"NAME\" WHERE \"table\" = 'Tab'"}]}`,
		`{"Statements":[{"Statement":"DELETE FROM \"NAME\" WHERE \"table\" = 'Tab'"}]}`},
	"ExecuteTransaction": {`{"TransactStatements":[{"Statement":"DELETE FROM \"NAME\" WHERE \"table\" = 'Tab'"}]}`},
	"CreateTable":        {`{"TableName":"NAME","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`},
	"DeleteTable":        {`{"TableName":"NAME"}`},
	"DescribeTable":      {`{"TableName":"NAME"}`},
	"UpdateTable":        {`{"TableName":"NAME","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`, `{"TableName":"NAME","DeletionProtectionEnabled":true}`},
	"UpdateTimeToLive":   {`{"TableName":"NAME","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`},
	"DescribeTimeToLive": {`{"TableName":"NAME"}`},
	"TagResource":        {`{"ResourceArn":"ARN","Tags":[{"Key":"a","Value":"b"}]}`, `{"ResourceArn":"ARN","Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=5"}]}`},
	"UntagResource":      {`{"ResourceArn":"ARN","TagKeys":["a"]}`},
	"ListTagsOfResource": {`{"ResourceArn":"ARN"}`},
	"ListStreams":        {`{"TableName":"NAME"}`},
	"DescribeStream":     {`{"StreamArn":"ARN/stream/2026-01-01T00:00:00.000"}`},
	"GetShardIterator":   {`{"StreamArn":"ARN/stream/2026-01-01T00:00:00.000","ShardId":"shardId-00000000000000000000-00000000","ShardIteratorType":"LATEST"}`},
	"DescribePartitions": {`{"TableName":"NAME"}`},
	"Reshard":            {`{"TableName":"NAME","Action":"status"}`, `{"TableName":"NAME","Action":"start","Shards":3}`},
	"Explain":            {`{"Operation":"Scan","Request":{"TableName":"NAME"}}`, `{"Operation":"BatchGetItem","Request":{"RequestItems":{"plain":{"Keys":[{"k":{"S":"x"}}]},"NAME":{"Keys":[{"table":{"S":"Tab"}}]}}}}`},
	"GetRecords":         nil,
	"ListTables":         nil,
	"DescribeLimits":     nil,
	"DescribeEndpoints":  nil,
}

// TestNoOperationReachesTheCatalogue sends every operation of the API on the catalogue's table, by
// its name and by its ARN: with sharded tables, without any, after the last one is gone, and with
// other doors on the store.
func TestNoOperationReachesTheCatalogue(t *testing.T) {
	for _, o := range api.Operations {
		if _, ok := onCatalogue[o.Name]; !ok {
			t.Errorf("nothing says what %s does with the catalogue", o.Name)
		}
	}
	if n := len(api.Operations); n < 28 {
		t.Errorf("%d operations", n)
	}
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/evenkeel"
	for name, lease := range map[string]time.Duration{"alone": 0, "with other doors": 20 * time.Millisecond} {
		for _, left := range []string{"a sharded table", "none any more"} {
			t.Run(name+"/"+left, func(t *testing.T) {
				store := itemstore.Open(t, dynamodb.Options{})
				r := New(Options{Backend: store, Lease: lease})
				if err := r.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				must(t, r, "CreateTable", create(5))
				must(t, r, "CreateTable", `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
				inside := func() string {
					scan, err := store.Do(t.Context(), "Scan", []byte(`{"TableName":"evenkeel"}`), nil)
					described, err2 := store.Do(t.Context(), "DescribeTable", []byte(`{"TableName":"evenkeel"}`), nil)
					if err != nil || err2 != nil {
						t.Fatal(err, err2)
					}
					before, _, _ := strings.Cut(string(described), `"ItemCount"`)
					return string(scan) + before
				}
				if left != "a sharded table" {
					must(t, r, "DeleteTable", `{"TableName":"Tab"}`)
					for len(r.tables.All()) > 0 || strings.Contains(inside(), `"Tab"`) { // the renewals remove what is left of the entry
						time.Sleep(5 * time.Millisecond)
						if err := r.tables.Renew(context.Background(), 0); err != nil {
							t.Fatal(err)
						}
					}
				}
				before := inside()
				for operation, bodies := range onCatalogue {
					for _, body := range bodies {
						for _, table := range []string{"evenkeel", arn, `\u0065venkeel`} {
							body := strings.NewReplacer("NAME", table, "ARN", strings.Replace(arn, "evenkeel", strings.TrimPrefix(table, strings.TrimSuffix(arn, "evenkeel")), 1)).Replace(body)
							answer, err := r.Do(t.Context(), operation, []byte(body), nil)
							var e *exception.Error
							switch {
							case operation == "BatchExecuteStatement" && err == nil:
								if !strings.Contains(string(answer), "ResourceNotFound") {
									t.Errorf("%s %s: %s", operation, body, answer)
								}
							case operation == "ListStreams" && err == nil:
								if strings.Contains(string(answer), "evenkeel") {
									t.Errorf("%s %s: %s", operation, body, answer)
								}
							case !errors.As(err, &e):
								t.Errorf("%s %s: %s %v", operation, body, answer, err)
							case e.Kind != exception.ResourceNotFound && e.Kind != exception.Validation && e.Kind != exception.UnknownOperation && e.Kind != exception.TransactionCanceled && e.Kind != exception.AccessDenied:
								t.Errorf("%s %s: %v", operation, body, err)
							}
						}
					}
				}
				if after := inside(); after != before {
					t.Errorf("the catalogue was\n%s\nand is\n%s", before, after)
				}
			})
		}
	}
}

// TestForeignCatalogue has another program's table carry the catalogue's name, with another key or with
// other items. A door says so when it starts. So does one that has started before, as the client's
// error, which SDKs do not repeat.
func TestForeignCatalogue(t *testing.T) {
	const table = `{"TableName":"evenkeel","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"KEY","AttributeType":"S"}],"KeySchema":[{"AttributeName":"KEY","KeyType":"HASH"}]}`
	for _, key := range []string{"h", "table"} {
		store := itemstore.Open(t, dynamodb.Options{})
		door := doorOn(t, store, time.Millisecond)
		must(t, door, "CreateTable", `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
		must(t, store, "CreateTable", strings.ReplaceAll(table, "KEY", key))
		for _, name := range []string{"plain", "other"} {
			must(t, store, "PutItem", `{"TableName":"evenkeel","Item":{"`+key+`":{"S":"`+name+`"},"v":{"N":"1"}}}`)
		}
		const says = "is not evenkeel's catalogue of sharded tables, but another program's"
		if err := New(Options{Backend: store, Fanout: 1}).Start(context.Background()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("key %s: a door starts: %v", key, err)
		}
		fails(t, door, exception.Validation, says, "GetItem", `{"TableName":"other","Key":{"k":{"S":"x"}}}`)
	}
}
