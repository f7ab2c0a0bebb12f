// SPDX-License-Identifier: Apache-2.0

package livedynamo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/internal/testkit/dynalite"
	"github.com/evenkeel/evenkeel/internal/testkit/endpoint"
)

// stores returns the endpoints of the stores under test: a DynamoDB door on the embedded engine,
// and dynalite.
func stores(t *testing.T) map[string]string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	return map[string]string{"engine": door(t), "dynalite": dynalite.Start(t)}
}

// door serves an embedded engine of the test's own.
func door(t *testing.T) string {
	t.Helper()
	_, url := endpoint.Start(t, run.Options{})
	return url
}

func client(url string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
}

type item map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

// invoices creates the table of invoices, with an index by country, and fills it.
func invoices(t *testing.T, url, name string, tags map[string]string, list []item) {
	t.Helper()
	c := client(url)
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("InvoiceNumber"), AttributeType: "S"}, {AttributeName: aws.String("Transaction"), AttributeType: "S"}, {AttributeName: aws.String("country"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("InvoiceNumber"), KeyType: "HASH"}, {AttributeName: aws.String("Transaction"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-country"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("country"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}
	for k, v := range tags {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	if _, err := c.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	for len(list) > 0 {
		some := list[:min(25, len(list))]
		list = list[len(some):]
		var puts []types.WriteRequest
		for _, it := range some {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			out, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{name: puts}})
			if err == nil && len(out.UnprocessedItems) == 0 {
				break
			}
			if time.Now().After(deadline) { // dynalite creates a table after a moment, not at once
				t.Fatal(err)
			}
		}
	}
}
