// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// manyStrings is an item of n strings of one character. Decoded, it takes many times its length.
func manyStrings(key string, n int) string {
	return `{"TableName":"Tab","Item":{"k":{"S":"` + key + `"},"l":{"L":[` + strings.TrimSuffix(strings.Repeat(`{"S":"a"},`, n), ",") + `]}}}`
}

// TestDecodedItemsCount has requests decode a long item while the budget has no room. Each waits
// without the item's lock, and none has done anything if its patience ends.
func TestDecodedItemsCount(t *testing.T) {
	s := open(t, vfs.NewMem(), Options{})
	defer s.close(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
	s.must(t, "PutItem", manyStrings("a", 10_000))
	requests := map[string]string{
		"UpdateItem":         `{"TableName":"Tab","Key":{"k":{"S":"a"}},"UpdateExpression":"ADD q :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`,
		"GetItem":            `{"TableName":"Tab","Key":{"k":{"S":"a"}},"ProjectionExpression":"l[3]"}`,
		"Scan":               `{"TableName":"Tab","ProjectionExpression":"l[3]"}`,
		"TransactWriteItems": `{"TransactItems":[{"Update":{"TableName":"Tab","Key":{"k":{"S":"a"}},"UpdateExpression":"ADD q :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}]}`,
		"Scan whole":         `{"TableName":"Tab"}`,
		"GetItem whole":      `{"TableName":"Tab","Key":{"k":{"S":"a"}}}`,
		"TransactGetItems":   `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"k":{"S":"a"}}}}]}`,
		"BatchGetItem whole": `{"RequestItems":{"Tab":{"Keys":[{"k":{"S":"a"}},{"k":{"S":"b"}}]}}}`,
		"BatchGetItem":       `{"RequestItems":{"Tab":{"Keys":[{"k":{"S":"a"}},{"k":{"S":"b"}}],"ProjectionExpression":"l[3]"}}}`,
		"DeleteItem":         `{"TableName":"Tab","Key":{"k":{"S":"a"}},"ConditionExpression":"l[1] = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`,
	}
	for name, body := range requests {
		operation, _, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			b := budget.New(4<<20, 100*time.Millisecond)
			other := budget.Open(budget.WithRequest(budget.WithClient(context.Background(), b.Client())))
			other.Add(4 << 20)
			begun := time.Now()
			_, err := s.Do(budget.WithRequest(budget.WithClient(context.Background(), b.Client())), operation, []byte(body), nil)
			if e := exception.Of(err); e == nil || e.Kind != exception.ServiceUnavailable || time.Since(begun) < 100*time.Millisecond {
				t.Fatalf("without room: %v after %v", err, time.Since(begun))
			}
			b = budget.New(4<<20, time.Minute)
			other = budget.Open(budget.WithRequest(budget.WithClient(context.Background(), b.Client())))
			other.Add(4 << 20)
			done := make(chan error, 1)
			go func() {
				_, err := s.Do(budget.WithRequest(budget.WithClient(context.Background(), b.Client())), operation, []byte(body), nil)
				done <- err
			}()
			for b.Stats().Waiting == 0 {
				time.Sleep(time.Millisecond)
			}
			s.must(t, "PutItem", manyStrings("a", 10_000)) // needs the item's lock
			other.Close()
			if err := <-done; err != nil && operation != "DeleteItem" {
				t.Fatal(err)
			}
			if held := b.Stats().Held; held != 0 {
				t.Errorf("%d bytes are held after the request", held)
			}
			want := map[string]string{"UpdateItem": "1", "TransactWriteItems": "1"}[operation]
			item := s.must(t, "GetItem", `{"TableName":"Tab","Key":{"k":{"S":"a"}},"ProjectionExpression":"q"}`)
			if got, _ := dig(item, "Item", "q", "N").(string); got != want {
				t.Errorf("q is %q, want %q: a request that had no room was carried out, or one was twice", got, want)
			}
		})
	}
}

// TestManyDecodedItems has many updates of long items share a small budget. All are carried out, and
// together they hold little more than the budget.
func TestManyDecodedItems(t *testing.T) {
	s := open(t, vfs.NewMem(), Options{})
	defer s.close(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
	for i := range 8 {
		s.must(t, "PutItem", manyStrings(fmt.Sprint(i), 5_000))
	}
	const size, one = 8 << 20, 2 << 20 // bytes of the budget, and more than those of one item
	b := budget.New(size, time.Minute)
	var most int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for client := range 40 {
		wg.Go(func() {
			ctx := budget.WithClient(context.Background(), b.Client())
			for range 5 {
				body := fmt.Sprintf(`{"TableName":"Tab","Key":{"k":{"S":"%d"}},"UpdateExpression":"ADD q :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`, client%8)
				if _, err := s.Do(budget.WithRequest(ctx), "UpdateItem", []byte(body), nil); err != nil {
					t.Error(err)
				}
				mu.Lock()
				most = max(most, b.Stats().Held)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if most > size+one {
		t.Errorf("%d bytes were held of a budget of %d", most, size)
	}
	for i := range 8 {
		item := s.must(t, "GetItem", fmt.Sprintf(`{"TableName":"Tab","Key":{"k":{"S":"%d"}},"ProjectionExpression":"q"}`, i))
		if got := dig(item, "Item", "q", "N"); got != "25" {
			t.Errorf("item %d was updated %v times, want 25", i, got)
		}
	}
}

// TestFillsTakeTurns fills the indexes of several tables, and holds the turn in which fills decode
// items. No index is filled before it is given back.
func TestFillsTakeTurns(t *testing.T) {
	s := start(t)
	tables := []string{"One", "Two", "Three"}
	for _, name := range tables {
		s.must(t, "CreateTable", `{"TableName":"`+name+`","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
		s.must(t, "PutItem", `{"TableName":"`+name+`","Item":{"k":{"S":"a"},"g":{"S":"b"}}}`)
	}
	filling := func(name string) bool {
		return s.writes.tables.lookup(name).shape.Load().filling()
	}
	turn := &s.definitions.filler.turn
	turn.Lock()
	for _, name := range tables {
		s.must(t, "UpdateTable", `{"TableName":"`+name+`","AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
			"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"byg","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`)
	}
	time.Sleep(20 * time.Millisecond)
	for _, name := range tables {
		if !filling(name) {
			t.Errorf("%s: its item was decoded out of turn", name)
		}
	}
	turn.Unlock()
	for deadline := time.Now().Add(time.Minute); slices.ContainsFunc(tables, filling); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the indexes are not filled")
		}
	}
}

// TestLongMemoryIsReturned has a request decode an item with many values. The next request must not
// find its memory.
func TestLongMemoryIsReturned(t *testing.T) {
	c := NewCall()
	item := []byte(manyStrings("a", 50_000))
	if err := new(api.PutItem).Decode(&c.Decoder, item); err != nil {
		t.Fatal(err)
	}
	if _, err := c.stored.Item(item[len(`{"TableName":"Tab","Item":`) : len(item)-1]); err != nil {
		t.Fatal(err)
	}
	if c.stored.Bytes() < 50_000*16 {
		t.Fatalf("the decoder has %d bytes", c.stored.Bytes())
	}
	c.Decoder.Release()
	c.stored.Release()
	if n := c.stored.Bytes(); n > 512<<10 {
		t.Errorf("the decoder of items keeps %d bytes", n)
	}
}
