// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
)

// limited returns a router on an engine with limits: a number of read units a second for each
// partition, and plenty of writes.
func limited(t *testing.T, reads float64, o Options) (*Router, *recorder) {
	t.Helper()
	limits := throughput.Limits{Partition: throughput.Rate{Read: reads, Write: 1e6}}
	store := &recorder{Store: itemstore.Open(t, dynamodb.Options{Capacity: &limits}), requests: map[string]int{}}
	o.Backend = store
	r := New(o)
	if err := r.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r, store
}

const queryAll = `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}}`

// TestThrottledShardsAreTriedAgain checks that a query over all shards waits for those that are
// throttled. A request to one shard is refused, as for a plain table.
func TestThrottledShardsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, fanout := range []int{1, 8} {
			r, store := limited(t, 100, Options{Fanout: fanout, RetryFor: 20 * time.Second})
			must(t, r, "CreateTable", create(5))
			fill(t, r, 30, strings.Repeat("x", 1000))
			store.took()
			queries, asked := 0, 0
			for asked == 5*queries && queries < 500 { // until one was refused and retried
				m := must(t, r, "Query", strings.Replace(queryAll, `{"T`, `{"ConsistentRead":true,"T`, 1))
				if got := len(sorts(m)); got != 30 {
					t.Errorf("%d items", got)
				}
				requests, _ := store.took()
				asked += requests["Query"]
				queries++
			}
			if asked == 5*queries {
				t.Errorf("fan-out %d: %d requests, none of them refused", fanout, asked)
			}
			for range 1000 {
				_, err := do(r, "GetItem", `{"TableName":"Tab","ConsistentRead":true,"Key":{"h":{"S":"121212"},"r":{"S":"Client0001"}}}`)
				if err == nil {
					continue
				}
				if !backend.Throttled(err) {
					t.Fatal(err)
				}
				if body := string(exception.Of(err).AppendJSON(nil)); strings.Contains(body, "evenkeel.") || !strings.Contains(body, ":table/Tab") || !strings.Contains(body, "TableReadKeyRangeThroughputExceeded") {
					t.Errorf("%s", body)
				}
				return
			}
			t.Error("a single request is never refused")
		}
	})
}

// TestPatienceEnds checks that a query is refused after its time, and that it does not wait if its
// client has gone.
func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := limited(t, 0.01, Options{RetryFor: 50 * time.Millisecond})
		must(t, r, "CreateTable", create(5))
		fill(t, r, 10, "x")
		var err error
		for range 20 {
			if _, err = do(r, "Query", queryAll); err != nil {
				break
			}
		}
		var e *exception.Error
		if !errors.As(err, &e) || e.Kind != exception.Throttling || len(e.Throttling) != 1 {
			t.Fatalf("%v", err)
		}
		slow, _ := limited(t, 0.01, Options{RetryFor: time.Hour})
		must(t, slow, "CreateTable", create(5))
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		for err = nil; err == nil; {
			_, err = slow.Do(ctx, "Query", []byte(queryAll), nil)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// TestThrottledManyAreLogical checks that the parts that a batch left out, and the reasons why a
// transaction was cancelled, are reported for the logical table.
func TestThrottledManyAreLogical(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := limited(t, 3000, Options{})
		must(t, r, "CreateTable", create(5))
		// Items of 1 MB do not exist: read items of 400 KB until the shard's partition has no units
		// left.
		s := r.backend.(backend.Observed).Store.(*recorder)
		must(t, s, "UpdateTable", `{"TableName":"Tab","OnDemandThroughput":{"MaxReadRequestUnits":1,"MaxWriteRequestUnits":1}}`)
		item := func(n string) string { return `{"h":{"S":"121212"},"r":{"S":"` + n + `"}}` }
		var last map[string]any
		for range 3 {
			m, err := do(r, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":`+item("a")+`}},{"PutRequest":{"Item":`+item("b")+`}},{"DeleteRequest":{"Key":`+item("c")+`}}]}}`)
			if err != nil {
				if !backend.Throttled(err) || strings.Contains(string(exception.Of(err).AppendJSON(nil)), "evenkeel.") {
					t.Errorf("%v", err)
				}
				break
			}
			last = m
		}
		text, err := json.Marshal(last)
		if err != nil {
			t.Fatal(err)
		}
		if left := string(text); !strings.Contains(left, `"Key":`+item("c")) || strings.Contains(left, "evenkeel.") {
			t.Errorf("left undone: %s", left)
		}
		_, err = do(r, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":`+item("d")+`}}]}`)
		if e := exception.Of(err); e.Kind != exception.TransactionCanceled || len(e.Reasons) != 1 || e.Reasons[0].Code != "ThrottlingError" {
			t.Errorf("%v", err)
		}
		for range 5 {
			m, err := do(r, "BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[`+item("a")+`,`+item("b")+`,`+item("c")+`,`+item("d")+`]}}}`)
			if err != nil {
				break
			}
			last = m
		}
		if text, err = json.Marshal(last); err != nil || !strings.Contains(string(text), `"Keys":[`+item("")[:8]) || strings.Contains(string(text), "evenkeel.") {
			t.Errorf("left unread: %s", text)
		}
	})
}

// TestLogicalPartitions checks that the partitions of a sharded table, and of a sharded index, are
// shown by logical keys and shards.
func TestLogicalPartitions(t *testing.T) {
	r, _ := limited(t, 3000, Options{})
	must(t, r, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"x","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[{"IndexName":"by-x","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],
		"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=5"},{"Key":"write-sharding.index.by-x","Value":"shards=3"}]}`)
	fill(t, r, 100, "same")
	for index, want := range map[string]struct {
		key    string
		shards int
	}{"": {`{"h":{"S":"121212"}}`, 5}, "by-x": {`{"x":{"S":"same"}}`, 3}} {
		text, err := r.Do(context.Background(), "DescribePartitions", (&api.DescribePartitions{Table: "Tab", Index: index}).AppendJSON(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := new(api.PartitionsResponse)
		if err := json.Unmarshal(text, p); err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, p := range p.Partitions {
			for _, k := range p.Keys {
				if string(k.Key) != want.key || seen[k.Shard] || k.Units == 0 {
					t.Errorf("%q: key %s, shard %d, %v units", index, k.Key, k.Shard, k.Units)
				}
				seen[k.Shard] = true
			}
		}
		if len(seen) != want.shards || seen[0] || !p.Sharded || strings.Contains(string(text), "evenkeel.") {
			t.Errorf("%q: shards %v of %s", index, seen, text)
		}
	}
}
