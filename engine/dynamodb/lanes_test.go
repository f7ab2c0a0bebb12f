// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/lane"
)

// patience is the context of a client that leaves after its Err was called a number of times.
type patience struct {
	context.Context
	left  int
	asked int
}

func (p *patience) Err() error {
	if p.asked++; p.asked > p.left {
		return context.Canceled
	}
	return nil
}

// A read stops soon after its client has left. It checks the context after every few items, large
// or small, with and without a filter, and each time that it reads an item by its key.
func TestReadsStopWhenNobodyWaits(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", fmt.Sprintf(streamTable, "NEW_IMAGE"))
	const n = 400
	var gets, keys []string
	for i := range n {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"h"},"r":{"N":"%d"},"v":{"S":"x"}}}`, i))
		if i < 100 {
			key := fmt.Sprintf(`{"h":{"S":"h"},"r":{"N":"%d"}}`, i)
			keys = append(keys, key)
			gets = append(gets, `{"Get":{"TableName":"Tab","Key":`+key+`}}`)
		}
	}
	arn := dig(s.must(t, "DescribeTable", `{"TableName":"Tab"}`), "Table", "LatestStreamArn").(string)
	at := iterator(t, s, arn, shardsOf(t, s, arn)[0], "TRIM_HORIZON")
	for _, c := range []struct {
		operation, body string
		looks           int // the least number of checks of the context when all is read
	}{
		{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"h"}}}`, n / 16},
		{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","FilterExpression":"v = :h","ExpressionAttributeValues":{":h":{"S":"h"}}}`, n / 16},
		{"Scan", `{"TableName":"Tab"}`, n / 16},
		{"BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[` + strings.Join(keys, ",") + `]}}}`, 100},
		{"TransactGetItems", `{"TransactItems":[` + strings.Join(gets, ",") + `]}`, 100},
		{"GetRecords", `{"ShardIterator":"` + at + `"}`, n},
	} {
		all := &patience{Context: context.Background(), left: 1 << 30}
		if _, err := s.Do(all, c.operation, []byte(c.body), nil); err != nil {
			t.Fatalf("%s: %v", c.operation, err)
		}
		if all.asked < c.looks {
			t.Errorf("%s looks %d times whether anybody waits, of %d", c.operation, all.asked, c.looks)
		}
		half := &patience{Context: context.Background(), left: all.asked / 2}
		if _, err := s.Do(half, c.operation, []byte(c.body), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s goes on when nobody waits: %v", c.operation, err)
		}
		if more := half.asked - half.left; more > 2 {
			t.Errorf("%s looks %d times more after nobody waits", c.operation, more)
		}
	}
}

// A write of many items stops soon after its client has left, and then none of them is written. It
// checks the context before each item that it reads or writes.
func TestWritesStopWhenNobodyWaits(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", fmt.Sprintf(streamTable, "NEW_IMAGE"))
	const n = 100
	var actions, writes []string
	for i := range n {
		key := fmt.Sprintf(`"h":{"S":"h"},"r":{"N":"%d"}`, i)
		s.must(t, "PutItem", `{"TableName":"Tab","Item":{`+key+`,"v":{"S":"x"}}}`)
		actions = append(actions, `{"Update":{"TableName":"Tab","Key":{`+key+`},"UpdateExpression":"SET v = :new","ConditionExpression":"v = :old","ExpressionAttributeValues":{":old":{"S":"x"},":new":{"S":"y"}}}}`)
		if i < 25 {
			writes = append(writes, `{"PutRequest":{"Item":{`+key+`,"v":{"S":"y"}}}}`)
		}
	}
	for _, c := range []struct {
		operation, body string
		looks           int // the checks of the context when all is written
	}{
		{"TransactWriteItems", `{"TransactItems":[` + strings.Join(actions, ",") + `]}`, 2 * n},
		{"BatchWriteItem", `{"RequestItems":{"Tab":[` + strings.Join(writes, ",") + `]}}`, 25},
	} {
		for left := range c.looks {
			gone := &patience{Context: context.Background(), left: left}
			if _, err := s.Do(gone, c.operation, []byte(c.body), nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s goes on when nobody waits after %d checks: %v", c.operation, left, err)
			}
			if gone.asked != left+1 {
				t.Fatalf("%s checks %d times more after nobody waits", c.operation, gone.asked-left-1)
			}
		}
		if got := dig(s.must(t, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","FilterExpression":"v = :y","ExpressionAttributeValues":{":h":{"S":"h"},":y":{"S":"y"}}}`), "Count"); fmt.Sprint(got) != "0" {
			t.Errorf("%s wrote %v items for nobody", c.operation, got)
		}
	}
	nobody, cancel := context.WithCancel(t.Context())
	cancel()
	for operation, body := range map[string]string{
		"GetItem": `{"TableName":"Tab","Key":{"h":{"S":"h"},"r":{"N":"1"}}}`, "PutItem": `{"TableName":"Tab","Item":{"h":{"S":"new"},"r":{"N":"1"}}}`, "DescribeTable": `{"TableName":"Tab"}`,
	} {
		if _, err := s.Do(nobody, operation, []byte(body), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s begins when nobody waits: %v", operation, err)
		}
	}
	for operation, body := range map[string]string{"TransactWriteItems": actions[0], "BatchWriteItem": writes[1]} {
		wrapped := `{"TransactItems":[` + body + `]}`
		if operation == "BatchWriteItem" {
			wrapped = `{"RequestItems":{"Tab":[` + body + `]}}`
		}
		s.must(t, operation, wrapped) // the locks are free
	}
}

// A client that fills the lanes with long reads does not keep others from single items, nor another
// client from its turn. The request of a client that leaves the queue was never carried out.
func TestLongReadsLeaveRoom(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", fmt.Sprintf(streamTable, "NEW_IMAGE"))
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"h"},"r":{"N":"1"}}}`)
	crowd := lane.With(t.Context(), new(lane.Client))
	for _, l := range []*lane.Lane{s.lanes.pages, s.lanes.scans} {
		f := l.FlowOf(crowd)
		for n, _ := l.Counts(); ; n++ {
			ctx, cancel := context.WithCancel(crowd)
			entered := make(chan error, 1)
			go func() { entered <- l.Enter(ctx, f) }()
			for {
				now, waiting := l.Counts()
				if now > n || waiting > 0 {
					break
				}
			}
			_, waiting := l.Counts()
			cancel()
			err := <-entered
			if waiting > 0 || err != nil {
				break // the client has as many reads as it may have
			}
		}
	}
	const query = `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"h"}}}`
	gone, cancel := context.WithCancel(crowd)
	cancel()
	if _, err := s.Do(gone, "Query", []byte(query), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a query without a place: %v", err)
	}
	if _, err := s.Do(crowd, "GetItem", []byte(`{"TableName":"Tab","Key":{"h":{"S":"h"},"r":{"N":"1"}}}`), nil); err != nil {
		t.Errorf("the same client's GetItem: %v", err)
	}
	another := lane.With(t.Context(), new(lane.Client))
	for operation, body := range map[string]string{"Query": query, "Scan": `{"TableName":"Tab"}`} {
		if _, err := s.Do(another, operation, []byte(body), nil); err != nil {
			t.Errorf("another client's %s: %v", operation, err)
		}
	}
	if running, waiting := s.Work(); running == 0 || waiting != 0 {
		t.Errorf("%d run and %d wait", running, waiting)
	}
}

// A page that fetches whole items for the entries of a local index ends after one megabyte of these
// items. One megabyte may hold ten thousand entries.
func TestPageOfFetchedItems(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"},{"AttributeName":"l","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
		"LocalSecondaryIndexes":[{"IndexName":"by-l","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`)
	const n, size = 30, 100 << 10
	for i := range n {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"h"},"r":{"N":"%d"},"l":{"N":"%d"},"v":{"S":"%s"}}}`, i, i, strings.Repeat("x", size)))
	}
	seen, start := 0, ""
	for {
		m := s.must(t, "Query", `{"TableName":"Tab","IndexName":"by-l","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"h"}}`+start+`}`)
		items := m["Items"].([]any)
		if most := pageSize/size + 1; len(items) > most {
			t.Fatalf("a page of %d items of 100 KB", len(items))
		}
		for _, item := range items {
			if got := dig(item, "r", "N"); got != fmt.Sprint(seen) {
				t.Fatalf("item %v in place %d", got, seen)
			}
			seen++
		}
		last, ok := m["LastEvaluatedKey"]
		if !ok {
			break
		}
		start = fmt.Sprintf(`,"ExclusiveStartKey":{"h":{"S":"h"},"r":{"N":"%[1]s"},"l":{"N":"%[1]s"}}`, dig(last, "r", "N"))
	}
	if seen != n {
		t.Errorf("%d items of %d", seen, n)
	}
}
