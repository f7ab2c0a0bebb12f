// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/reshard"
)

// killGroups is the number of values of attribute g, by which each item is in two indexes.
const killGroups = 3

type attributes = map[string]types.AttributeValue

func numberOf(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

// sentAgain makes a client repeat a request whose answer broke off because the SDK itself closed the
// connection: after an answer's header it closes the request's body, which the connection may still
// be reading (aws-sdk-go-v2, issue 2737). It repeats no request that the door answered with an error.
func sentAgain(o *dynamodb.Options) {
	o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
		s.Retryables = []retry.IsErrorRetryable{retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			return aws.BoolTernary(errors.Is(err, net.ErrClosed))
		})}
	})
}

// writeItems writes items until the door is killed.
func (l *ledger) writeItems(c *dynamodb.Client, client int, r *rand.Rand, fault func(string)) {
	table := aws.String("Tab")
	for {
		p, row := r.IntN(killPartitions), client*killRows+r.IntN(killRows)
		at, n := [2]int{p, row}, r.IntN(1<<20)
		item := attributes{"p": numberOf(p), "c": numberOf(row)}
		var err error
		switch r.IntN(4) {
		case 0:
			n = gone
			_, err = c.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: table, Key: item})
		case 1:
			_, err = c.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
				TableName: table, Key: item, UpdateExpression: aws.String("SET v = :v, g = :g"), ExpressionAttributeValues: attributes{":v": numberOf(n), ":g": numberOf(row % killGroups)},
			})
		default:
			item["v"], item["g"] = numberOf(n), numberOf(row%killGroups)
			_, err = c.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: table, Item: item})
		}
		var answered *smithyhttp.ResponseError
		switch {
		case err == nil:
			l.written++
			l.is(at, n)
		case !errors.As(err, &answered) || answered.HTTPStatusCode() == 0:
			l.doubt[at] = append(l.doubt[at], n) // the door is dead
			return
		case answered.HTTPStatusCode() >= http.StatusInternalServerError, errors.Is(err, net.ErrClosed): // see sentAgain
			l.doubt[at] = append(l.doubt[at], n)
		default:
			fault(err.Error())
			return
		}
	}
}

// shownItems reads items page by page; each may be there once. A Scan that meets the end of
// a change begins again.
func shownItems(t *testing.T, page func(start attributes) ([]attributes, attributes, error)) (there map[[2]int]int, faults []string) {
	t.Helper()
	there = map[[2]int]int{}
	number := func(v types.AttributeValue) int {
		n, ok := v.(*types.AttributeValueMemberN)
		if !ok {
			return -1 // no client leaves it out
		}
		i, err := strconv.Atoi(n.Value)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	for start := attributes(nil); ; {
		items, last, err := page(start)
		if err != nil && start != nil && strings.Contains(err.Error(), "begin it anew") {
			clear(there)
			faults, start = nil, nil
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			at := [2]int{number(it["p"]), number(it["c"])}
			if _, twice := there[at]; twice {
				faults = append(faults, fmt.Sprintf("item %v is shown twice", at))
			}
			if there[at] = number(it["v"]); len(it) != 4 {
				faults = append(faults, fmt.Sprintf("item %v has %d attributes", at, len(it)))
			}
		}
		if start = last; start == nil {
			return there, faults
		}
	}
}

// checkItems compares what a Scan and Queries show with what the clients know.
func checkItems(t *testing.T, c *dynamodb.Client, ledgers []*ledger) []string {
	t.Helper()
	table := aws.String("Tab")
	all, faults := shownItems(t, func(start attributes) ([]attributes, attributes, error) {
		a, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: table, Limit: aws.Int32(23), ExclusiveStartKey: start}, sentAgain)
		if err != nil {
			return nil, nil, err
		}
		return a.Items, a.LastEvaluatedKey, nil
	})
	for i, l := range ledgers {
		faults = append(faults, l.check(all, i)...)
	}
	for _, index := range []string{"plain", "spread"} {
		entries, twice := shownItems(t, func(start attributes) ([]attributes, attributes, error) {
			a, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: table, IndexName: &index, Limit: aws.Int32(19), ExclusiveStartKey: start}, sentAgain)
			if err != nil {
				return nil, nil, err
			}
			return a.Items, a.LastEvaluatedKey, nil
		})
		queried := map[[2]int]int{}
		for g := range killGroups {
			of, more := shownItems(t, func(start attributes) ([]attributes, attributes, error) {
				a, err := c.Query(t.Context(), &dynamodb.QueryInput{
					TableName: table, IndexName: &index, Limit: aws.Int32(13), ExclusiveStartKey: start, ScanIndexForward: aws.Bool(g%2 == 0),
					KeyConditionExpression: aws.String("g = :g"), ExpressionAttributeValues: attributes{":g": numberOf(g)},
				}, sentAgain)
				if err != nil {
					return nil, nil, err
				}
				return a.Items, a.LastEvaluatedKey, nil
			})
			twice = append(twice, more...)
			maps.Copy(queried, of)
		}
		for _, text := range twice {
			faults = append(faults, "index "+index+": "+text)
		}
		if !maps.Equal(entries, all) || !maps.Equal(queried, all) {
			faults = append(faults, fmt.Sprintf("index %s: a Scan shows %d items, Queries %d, the table has %d, or they differ", index, len(entries), len(queried), len(all)))
		}
	}
	for p := range killPartitions {
		one, twice := shownItems(t, func(start attributes) ([]attributes, attributes, error) {
			a, err := c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: table, Limit: aws.Int32(17), ExclusiveStartKey: start,
				KeyConditionExpression: aws.String("p = :p"), ExpressionAttributeValues: attributes{":p": numberOf(p)},
			}, sentAgain)
			if err != nil {
				return nil, nil, err
			}
			return a.Items, a.LastEvaluatedKey, nil
		})
		faults = append(faults, twice...)
		faults = append(faults, comparePartition(p, one, all)...)
	}
	return faults
}

// comparePartition returns a fault for each item of partition p that a Query of the partition shows
// otherwise than the Scan. A write without an answer cannot take effect between the two: an item moves
// by a transaction.
func comparePartition(p int, one, scan map[[2]int]int) (faults []string) {
	for at, v := range scan {
		if got, is := one[at]; at[0] == p && (!is || got != v) {
			faults = append(faults, fmt.Sprintf("a Query of partition %d shows item %v as %d, %v; the Scan as %d", p, at, got, is, v))
		}
	}
	return faults
}

// askJSON sends a request whose body is JSON.
func askJSON(t *testing.T, m *mortal, operation, body string) map[string]any {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, "http://"+m.dynamodb+"/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-amz-json-1.0")
	q.Header.Set("X-Amz-Target", api.Target(operation))
	q.Header.Set("X-Amz-Date", "20260101T000000Z")
	q.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	out := map[string]any{}
	if err := json.NewDecoder(a.Body).Decode(&out); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %v %v", operation, body, a.StatusCode, out, err)
	}
	return out
}

// checkStream checks that the table's stream tells, of each item, changes that follow from each
// other up to what the table has, and nothing of moves.
func checkStream(t *testing.T, m *mortal, c *dynamodb.Client) {
	t.Helper()
	first := func(list any) map[string]any { return list.([]any)[0].(map[string]any) }
	arn := first(askJSON(t, m, "ListStreams", `{"TableName":"Tab"}`)["Streams"])["StreamArn"]
	shard := first(askJSON(t, m, "DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, arn))["StreamDescription"].(map[string]any)["Shards"])["ShardId"]
	at := askJSON(t, m, "GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, arn, shard))["ShardIterator"]
	now, changes := map[string]string{}, 0
	for empty := 0; empty < 20; { // a page of moves alone has no records
		page := askJSON(t, m, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q,"Limit":1000}`, at))
		records := page["Records"].([]any)
		if empty++; len(records) > 0 {
			empty = 0
		}
		at = page["NextShardIterator"]
		for _, r := range records {
			record, change := r.(map[string]any), r.(map[string]any)["dynamodb"].(map[string]any)
			changes++
			key, image := fmt.Sprint(change["Keys"]), func(name string) string {
				if change[name] == nil {
					return ""
				}
				return fmt.Sprint(change[name])
			}
			if was := image("OldImage"); was != now[key] || (record["eventName"] == "INSERT") != (was == "") || (record["eventName"] == "REMOVE") != (image("NewImage") == "") {
				t.Fatalf("the stream tells of item %s: %v; it was %q", key, record, now[key])
			}
			if now[key] = image("NewImage"); now[key] == "" {
				delete(now, key)
			}
			if strings.Contains(fmt.Sprint(record), "evenkeel.") {
				t.Fatalf("the stream shows what is hidden: %v", record)
			}
		}
	}
	items := 0
	for start := attributes(nil); ; {
		a, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Tab"), ExclusiveStartKey: start}, sentAgain)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range a.Items {
			items++
			n := func(name string) string { return "map[N:" + it[name].(*types.AttributeValueMemberN).Value + "]" }
			key := fmt.Sprintf("map[c:%s p:%s]", n("c"), n("p"))
			if want := fmt.Sprintf("map[c:%s g:%s p:%s v:%s]", n("c"), n("g"), n("p"), n("v")); now[key] != want {
				t.Fatalf("the stream's last of item %s is %q; the table has %s", key, now[key], want)
			}
		}
		if start = a.LastEvaluatedKey; start == nil {
			break
		}
	}
	if items != len(now) {
		t.Fatalf("by the stream there are %d items; the table has %d", len(now), items)
	}
	t.Logf("the stream has %d changes", changes)
}

// killTarget draws a layout. The sort keys, which are small numbers, count seconds.
func killTarget(r *rand.Rand) reshard.Target {
	shards := r.IntN(9)
	switch {
	case r.IntN(2) == 0:
		return reshard.Target{Layout: fmt.Sprintf("strategy=time unit=seconds bucket=%ds shards=%d", []int{11, 20, 40}[r.IntN(3)], 1+shards/3)}
	case shards == 0:
		return reshard.Target{}
	}
	return reshard.Target{Layout: fmt.Sprintf("strategy=calculated shards=%d", shards)}
}

// TestItemsWhileKilled is TestKilledWhileChanging for the DynamoDB door: changes to more
// shards, to fewer, to a plain table, to buckets of time, of one key, and ways back.
func TestItemsWhileKilled(t *testing.T) {
	m := newMortal(t)
	url := "http://" + m.dynamodb
	r := rand.New(rand.NewPCG(*killsSeed, 14))
	c := dynamodb.New(dynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), Retryer: aws.NopRetryer{}})
	byG := []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Tab"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "N"}, {AttributeName: aws.String("c"), AttributeType: "N"}, {AttributeName: aws.String("g"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("p"), KeyType: "HASH"}, {AttributeName: aws.String("c"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String("plain"), KeySchema: byG, Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"v"}}},
			{IndexName: aws.String("spread"), KeySchema: byG, Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
		Tags:                []types.Tag{{Key: aws.String("write-sharding"), Value: aws.String("shards=3")}, {Key: aws.String("write-sharding.index.spread"), Value: aws.String("shards=2")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ledgers := newLedgers(2)
	var mu sync.Mutex
	var faults []string
	fault := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, text)
	}
	check := func(after string) {
		t.Helper()
		faults = append(faults, checkItems(t, c, ledgers)...)
		failOn(t, after, faults)
	}
	at := reshardTable{Table: "Tab", DynamoDB: url}
	var door reshard.Changer
	open := func() {
		t.Helper()
		var err error
		if door, err = at.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(door.Close)
	}
	open()
	status := func() reshard.Status {
		t.Helper()
		s, err := door.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// An order is refused where a change is under way, or the table has the layout.
	begun, phases := 0, map[string]int{}
	order := func(_ reshard.Status, err error) {
		if err == nil {
			begun++
		}
	}
	for n := range *kills {
		var all sync.WaitGroup
		for i, l := range ledgers {
			r := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
			all.Go(func() { l.writeItems(c, i, r, fault) })
		}
		if r.IntN(4) == 0 {
			order(door.Key(t.Context(), strconv.Itoa(r.IntN(killPartitions)), 1+r.IntN(6)))
		} else {
			order(door.Start(t.Context(), killTarget(r)))
		}
		order(door.Finish(t.Context()))
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		if r.IntN(4) == 0 {
			order(door.Rollback(t.Context()))
		}
		phases[status().Phase]++
		time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
		m.kill()
		all.Wait()
		m.start()
		open()
		check(fmt.Sprintf("after kill %d", n+1))
	}
	for deadline := time.Now().Add(patience); status().Phase != reshard.NoPhase; time.Sleep(50 * time.Millisecond) {
		if _, err := door.Finish(t.Context()); err == nil && time.Now().After(deadline) {
			t.Fatalf("the last change does not end: %+v\n%s", status(), m.printed.String())
		}
	}
	check("at the end")
	checkStream(t, m, c)
	t.Logf("%d orders done", begun)
	if *kills >= 10 && begun < *kills/2 {
		t.Errorf("only %d orders were done", begun)
	}
	summarize(t, ledgers, phases)
}
