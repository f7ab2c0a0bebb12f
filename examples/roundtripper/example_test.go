// SPDX-License-Identifier: Apache-2.0

package roundtripper_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/roundtripper"
	dynamodbengine "github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// The program's own code knows nothing of shards but the tag.
func invoices(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("Invoices"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("InvoiceNumber"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("ClientTransactionid"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("InvoiceNumber"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("ClientTransactionid"), KeyType: types.KeyTypeRange},
		},
		Tags: []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String("strategy=calculated shards=5")}},
	})
	if err != nil {
		return err
	}
	for _, id := range []string{"Client1_1", "Client1_2", "Client2_1", "Client1_3"} {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Invoices"), Item: map[string]types.AttributeValue{
			"InvoiceNumber": &types.AttributeValueMemberS{Value: "121212"}, "ClientTransactionid": &types.AttributeValueMemberS{Value: id},
		}})
		if err != nil {
			return err
		}
	}
	answer, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("Invoices"), KeyConditionExpression: aws.String("InvoiceNumber = :i AND begins_with(ClientTransactionid, :c)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":i": &types.AttributeValueMemberS{Value: "121212"}, ":c": &types.AttributeValueMemberS{Value: "Client1_"},
		},
	})
	if err != nil {
		return err
	}
	for _, item := range answer.Items {
		fmt.Println(item["ClientTransactionid"].(*types.AttributeValueMemberS).Value)
	}
	return nil
}

// In front of an endpoint, with the program's own credentials.
func Example() {
	ctx := context.Background()
	endpoint, stop := anEndpoint() // https://dynamodb.eu-west-1.amazonaws.com
	defer stop()

	cfg := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")} // config.LoadDefaultConfig(ctx)
	door, err := roundtripper.New(ctx, roundtripper.Options{Endpoint: endpoint, Region: cfg.Region, Credentials: cfg.Credentials})
	if err != nil {
		log.Fatal(err)
	}
	defer door.Close()
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.HTTPClient = door })

	if err := invoices(ctx, client); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Client1_1
	// Client1_2
	// Client1_3
}

// With the embedded engine: a DynamoDB in the program, such as for tests.
func Example_embedded() {
	ctx := context.Background()
	db, err := storage.Open("data", storage.Options{FS: vfs.NewMem()}) // in memory; without FS it is a directory
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := dynamodbengine.Open(db, dynamodbengine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	door, err := roundtripper.New(ctx, roundtripper.Options{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""), HTTPClient: door,
	})

	if err := invoices(ctx, client); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Client1_1
	// Client1_2
	// Client1_3
}

// anEndpoint is a DynamoDB on this machine, in the place of AWS's.
func anEndpoint() (url string, stop func()) {
	db, err := storage.Open("data", storage.Options{FS: vfs.NewMem()})
	if err != nil {
		log.Fatal(err)
	}
	store, err := dynamodbengine.Open(db, dynamodbengine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	door, err := dynamodoor.New(dynamodoor.Options{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(door)
	return server.URL, func() {
		server.Close()
		_ = store.Close()
		_ = db.Close()
	}
}
