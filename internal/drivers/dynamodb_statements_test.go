// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// tagsOf are the tables that sessions run on, as Tags of CreateTable.
var tagsOf = map[string]string{"plain": "[]", "sharded": `[{"Key":"write-sharding","Value":"strategy=calculated shards=5"}]`}

// TestBoto3Statements: PartiQL and Streams with boto3. boto3/statements.txt has been
// read line by line.
func TestBoto3Statements(t *testing.T) {
	for name, tags := range tagsOf {
		t.Run(name, func(t *testing.T) {
			url, _ := dynamoDoor(t)
			boto3(t, "boto3/statements.py", url, tags, "boto3/statements.txt")
		})
	}
}

// TestGoSDKStreams: statements and a stream, read on through a restart, with
// aws-sdk-go-v2.
func TestGoSDKStreams(t *testing.T) {
	t.Run("plain", func(t *testing.T) { goStreams(t, nil) })
	t.Run("sharded", func(t *testing.T) {
		goStreams(t, []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String("strategy=calculated shards=5")}})
	})
}

func goStreams(t *testing.T, tags []types.Tag) {
	url, restart := dynamoDoor(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	keys := credentials.NewStaticCredentialsProvider("AKID", "secret", "")
	client := dynamodb.New(dynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: keys})
	streams := dynamodbstreams.New(dynamodbstreams.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: keys})
	created, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("Blogs"), BillingMode: types.BillingModePayPerRequest, Tags: tags,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("day"), AttributeType: "S"}, {AttributeName: aws.String("n"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("day"), KeyType: "HASH"}, {AttributeName: aws.String("n"), KeyType: "RANGE"}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	})
	if err != nil {
		t.Fatal(err)
	}
	arn := created.TableDescription.LatestStreamArn
	insert := func(n int) error {
		_, err := client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement:  aws.String(`INSERT INTO "Blogs" VALUE {'day': '2020-07-09', 'n': ?}`),
			Parameters: []types.AttributeValue{&types.AttributeValueMemberN{Value: fmt.Sprint(n)}},
		})
		return err
	}
	described, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	at, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeLatest,
	})
	if err != nil {
		t.Fatal(err)
	}
	next := at.ShardIterator
	read := func() (got []string) {
		t.Helper()
		for {
			page, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
			if err != nil {
				t.Fatal(err)
			}
			if next = page.NextShardIterator; len(page.Records) == 0 {
				return got
			}
			for _, r := range page.Records {
				if len(r.Dynamodb.Keys) != 2 || len(r.Dynamodb.NewImage) != 2 {
					t.Errorf("keys %v, image %v", r.Dynamodb.Keys, r.Dynamodb.NewImage)
				}
				got = append(got, r.Dynamodb.Keys["n"].(*streamtypes.AttributeValueMemberN).Value)
			}
		}
	}
	for n := range 5 {
		if err := insert(n); err != nil {
			t.Fatal(err)
		}
	}
	var duplicate *types.DuplicateItemException
	if err := insert(3); !errors.As(err, &duplicate) {
		t.Errorf("a second insert: %v", err)
	}
	if got := fmt.Sprint(read()); got != "[0 1 2 3 4]" {
		t.Errorf("the stream has %s", got)
	}
	restart(t)
	if err := insert(5); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(read()); got != "[5]" {
		t.Errorf("after a restart the stream has %s", got)
	}
}
