// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// dynamoDoor starts the evenkeel binary with a DynamoDB door, and returns its URL.
func dynamoDoor(t *testing.T, flags ...string) (url string, restart func(testing.TB)) {
	t.Helper()
	url, s := dynamoServer(t, flags...)
	return url, s.restart
}

func dynamoDoorAndLog(t *testing.T, flags ...string) (url string, log func() string) {
	t.Helper()
	url, s := dynamoServer(t, flags...)
	return url, s.log
}

func dynamoServer(t *testing.T, flags ...string) (url string, s server) {
	t.Helper()
	addr := loopback.FreeAddr(t)
	s = startDoor(t, "engine", append([]string{"--data", t.TempDir(), "--listen-dynamodb", addr}, flags...)...)
	return "http://" + addr, s
}

// What boto3 sees is what it sees of DynamoDB: expected.txt has been read line by
// line.
func TestBoto3(t *testing.T) {
	for name, tags := range map[string]string{
		"plain": "[]", "plain, cached": "[]", "sharded": `[{"Key":"write-sharding","Value":"strategy=calculated shards=5"}]`,
		"sharded with its index":                      `[{"Key":"write-sharding","Value":"strategy=calculated shards=5"},{"Key":"write-sharding.index.by-country","Value":"shards=3"}]`,
		"in front of another":                         "[]",
		"sharded by a rule":                           "[]",
		"sharded by a rule, in front of another":      "[]",
		"sharded with its index, in front of another": `[{"Key":"write-sharding","Value":"strategy=calculated shards=5"},{"Key":"write-sharding.index.by-country","Value":"shards=3"}]`,
		"sharded with its index, cached":              `[{"Key":"write-sharding","Value":"strategy=calculated shards=5"},{"Key":"write-sharding.index.by-country","Value":"shards=3"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			var flags []string
			if strings.HasSuffix(name, "cached") {
				flags = []string{"--cache", "16MB"}
			}
			byRule := strings.HasPrefix(name, "sharded by a rule")
			if byRule {
				rules := filepath.Join(t.TempDir(), "rules.yaml")
				if err := os.WriteFile(rules, []byte("dynamodb: {Invoices: {shards: 5, indexes: {by-country: {shards: 3}}}}\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				flags = []string{"--shard-rules", rules}
			}
			if strings.HasSuffix(name, "in front of another") {
				behind, _ := dynamoDoor(t, "--dynamodb-sharding", "off")
				flags = append(flags, "--dynamodb", behind)
			}
			url, log := dynamoDoorAndLog(t, flags...)
			boto3(t, "boto3/session.py", url, tags, "boto3/expected.txt")
			if byRule && !strings.Contains(log(), "a shard rule declares sharded\" table=Invoices") {
				t.Errorf("the table was not sharded by the rule:\n%s", log())
			}
		})
	}
}

// boto3 runs a session, which must print what is expected.
func boto3(t *testing.T, session, url, tags, expected string) {
	t.Helper()
	want, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, need(t, "boto3/bin/python"), session, url, tags)
	cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v\n%s", err, &stderr)
	}
	if diff := cmp.Diff(string(want), string(out)); diff != "" {
		t.Errorf("what the session prints differs (- expected, + %s's):\n%s", t.Name(), diff)
	}
}

// TestGoSDK drives the door with aws-sdk-go-v2, through a restart.
func TestGoSDK(t *testing.T) {
	sharded := []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String("strategy=calculated shards=5")}}
	t.Run("plain", func(t *testing.T) { goSession(t, nil) })
	t.Run("sharded", func(t *testing.T) { goSession(t, sharded) })
	t.Run("sharded, cached", func(t *testing.T) { goSession(t, sharded, "--cache", "16MB") })
}

func goSession(t *testing.T, tags []types.Tag, flags ...string) {
	url, restart := dynamoDoor(t, flags...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		EnableAcceptEncodingGzip: true,
	})
	table := aws.String("Blogs")
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: table, BillingMode: types.BillingModePayPerRequest, Tags: tags,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("day"), AttributeType: "S"}, {AttributeName: aws.String("n"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("day"), KeyType: "HASH"}, {AttributeName: aws.String("n"), KeyType: "RANGE"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: table}, patience); err != nil {
		t.Fatal(err)
	}
	type blog struct {
		Day   string   `dynamodbav:"day"`
		N     int      `dynamodbav:"n"`
		Title string   `dynamodbav:"title"`
		Tags  []string `dynamodbav:"tags,stringset"`
	}
	const items = 120
	for from := 0; from < items; from += 20 {
		var writes []types.WriteRequest
		for n := from; n < from+20; n++ {
			item, err := attributevalue.MarshalMap(blog{Day: "2020-07-09", N: n, Title: strings.Repeat(fmt.Sprint(n, " "), 50), Tags: []string{"a", fmt.Sprint(n)}})
			if err != nil {
				t.Fatal(err)
			}
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"Blogs": writes}})
		if err != nil || len(out.UnprocessedItems) > 0 {
			t.Fatal(err, out)
		}
	}
	read := func() (all []blog) {
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
			TableName: table, Limit: aws.Int32(17), KeyConditionExpression: aws.String("#d = :d"), ExpressionAttributeNames: map[string]string{"#d": "day"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":d": &types.AttributeValueMemberS{Value: "2020-07-09"}},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var some []blog
			if err := attributevalue.UnmarshalListOfMaps(page.Items, &some); err != nil {
				t.Fatal(err)
			}
			all = append(all, some...)
		}
		return all
	}
	check := func() {
		t.Helper()
		all := read()
		if len(all) != items {
			t.Fatalf("%d items of %d", len(all), items)
		}
		for n, b := range all {
			if b.N != n || b.Title != strings.Repeat(fmt.Sprint(n, " "), 50) || len(b.Tags) != 2 {
				t.Fatalf("item %d is %+v", n, b)
			}
		}
	}
	check()
	restart(t)
	check()

	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: table, Item: map[string]types.AttributeValue{"day": &types.AttributeValueMemberS{Value: "2020-07-09"}, "n": &types.AttributeValueMemberN{Value: "1"}},
		ConditionExpression: aws.String("attribute_not_exists(n)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || len(failed.Item) != 4 {
		t.Errorf("a condition that is not met: %v", err)
	}
	_, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Nothing"), Key: map[string]types.AttributeValue{"k": &types.AttributeValueMemberS{Value: "a"}}})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("a table that is not there: %v", err)
	}
}

// What was acknowledged is there after the process is killed, on plain and sharded
// tables.
func TestKilledDynamoDoor(t *testing.T) {
	addr := loopback.FreeAddr(t)
	url, dir := "http://"+addr, t.TempDir()
	serve := func() *exec.Cmd {
		cmd := exec.Command(evenkeel(t), "serve", "--listen-cql", "127.0.0.1:0", "--listen-http", "off", "--listen-dynamodb", addr, "--data", dir)
		serving := make(chan struct{})
		log := &lines{until: "DynamoDB on ", seen: serving}
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-serving:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			t.Fatalf("the door does not serve after a minute; it printed:\n%s", log)
		}
		return cmd
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), RetryMaxAttempts: 1,
	})
	door := serve()
	tables := []string{"Plain", "Sharded"}
	for _, name := range tables {
		in := &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("h"), AttributeType: "S"}, {AttributeName: aws.String("r"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("h"), KeyType: "HASH"}, {AttributeName: aws.String("r"), KeyType: "RANGE"}},
		}
		if name == "Sharded" {
			in.Tags = []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String("strategy=calculated shards=5")}}
		}
		if _, err := client.CreateTable(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	key := func(w, n int) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"h": &types.AttributeValueMemberS{Value: fmt.Sprint(w)}, "r": &types.AttributeValueMemberS{Value: fmt.Sprint(n)}}
	}
	const writers = 6
	var acknowledged [writers]atomic.Int64
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := 0; ; n++ {
				if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &tables[n%2], Item: key(w, n)}); err != nil {
					return // it has been killed
				}
				acknowledged[w].Add(1)
			}
		})
	}
	for w := range writers {
		for acknowledged[w].Load() < 40 && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if err := door.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = door.Wait() // it was killed
	running.Wait()
	door = serve()
	defer func() {
		_ = door.Process.Kill()
		_ = door.Wait()
	}()
	for w := range writers {
		count := int(acknowledged[w].Load())
		if count < 40 {
			t.Errorf("writer %d has written %d items", w, count)
		}
		for n := range count {
			out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &tables[n%2], Key: key(w, n)})
			if err != nil {
				t.Fatal(err)
			}
			if out.Item == nil {
				t.Errorf("item %d of writer %d in table %s was acknowledged and is gone", n, w, tables[n%2])
			}
		}
	}
}
