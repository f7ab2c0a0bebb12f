// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/reshard"
)

var manyItems = flag.Int("reshard.items", 3000, "the number of items of TestManyItemsWhileKilled")

// manyInDynamoDB is a table of many items.
type manyInDynamoDB struct {
	c   *dynamodb.Client
	url string
}

func keyOfMany(i int) attributes {
	return attributes{"p": &types.AttributeValueMemberS{Value: "key " + strconv.Itoa(i/inKey)}, "c": numberOf(i % inKey)}
}

func manyItem(i, version int) attributes {
	item := keyOfMany(i)
	item["v"], item["d"] = numberOf(version), &types.AttributeValueMemberS{Value: "a text of some length, as items have one " + strconv.Itoa(i)}
	return item
}

func versionOf(item attributes) (int, error) {
	v, ok := item["v"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("an item without its version: %v", item)
	}
	return strconv.Atoi(v.Value)
}

func (d *manyInDynamoDB) at() *reshardTable { return &reshardTable{Table: "Many", DynamoDB: d.url} }

func (d *manyInDynamoDB) ripe(s *reshard.Status) bool {
	switch s.Phase {
	case "moving":
		return s.RowsMoved > s.RowsToMove/3
	case "closing", "cleaning", "dropping":
		return true
	}
	return false
}

// waits: the stubs need not stay for Scans.
func (d *manyInDynamoDB) waits() string { return "" }

func (d *manyInDynamoDB) get(i int) (version int, there bool, err error) {
	a, err := d.c.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("Many"), Key: keyOfMany(i), ConsistentRead: aws.Bool(true)})
	if err != nil || len(a.Item) == 0 {
		return 0, false, err
	}
	version, err = versionOf(a.Item)
	return version, true, err
}

func (d *manyInDynamoDB) put(i, version int) error {
	_, err := d.c.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("Many"), Item: manyItem(i, version)})
	return err
}

func (d *manyInDynamoDB) load(t *testing.T, n int) {
	var batches atomic.Int64
	var loading sync.WaitGroup
	failed := make(chan error, 8)
	for range cap(failed) {
		loading.Go(func() {
			for {
				from := int(batches.Add(25)) - 25
				if from >= n {
					return
				}
				var puts []types.WriteRequest
				for i := from; i < min(n, from+25); i++ {
					puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: manyItem(i, 0)}})
				}
				a, err := d.c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"Many": puts}}, sentAgain)
				if err == nil && len(a.UnprocessedItems) > 0 {
					err = errors.New("items were not written")
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	loading.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
}

func (d *manyInDynamoDB) scan(row func(i, version int) error) error {
	for start := attributes(nil); ; {
		a, err := d.c.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("Many"), ExclusiveStartKey: start}, sentAgain)
		if err != nil {
			return err
		}
		for _, item := range a.Items {
			var key, c int
			p, _ := item["p"].(*types.AttributeValueMemberS)
			number, _ := item["c"].(*types.AttributeValueMemberN)
			if p == nil || number == nil {
				return fmt.Errorf("a Scan shows %v", item)
			}
			if _, err := fmt.Sscanf(p.Value+" "+number.Value, "key %d %d", &key, &c); err != nil {
				return err
			}
			version, err := versionOf(item)
			if err == nil {
				err = row(key*inKey+c, version)
			}
			if err != nil {
				return err
			}
		}
		if start = a.LastEvaluatedKey; start == nil {
			return nil
		}
	}
}

// TestManyItemsWhileKilled changes the layout of a plain table of many items under a steady load,
// several times, kills the door in each change, and accounts for each item. With -args
// -reshard.items=1000000 -reshard.to=50,75,0 it takes long.
func TestManyItemsWhileKilled(t *testing.T) {
	m := newMortal(t)
	url := "http://" + m.dynamodb
	c := dynamodb.New(dynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), Retryer: aws.NopRetryer{}})
	var tags []types.Tag
	if *manyFrom > 0 {
		tags = []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String(fmt.Sprintf("shards=%d", *manyFrom))}}
	}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Many"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "S"}, {AttributeName: aws.String("c"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: "HASH"}, {AttributeName: aws.String("c"), KeyType: "RANGE"}},
		Tags:                 tags,
	})
	if err != nil {
		t.Fatal(err)
	}
	changeManyWhileKilled(t, m, &manyInDynamoDB{c, url}, *manyItems, false)
}
