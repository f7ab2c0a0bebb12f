// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// TestQueriesCountWhatTheyHold has Queries of several shards read long items while the budget has no
// room. A Query waits, is answered once there is room, and returns what it held. If its patience
// ends, it is refused.
func TestQueriesCountWhatTheyHold(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", withHiddenIndex)
	list := strings.TrimSuffix(strings.Repeat(`{"S":"a"},`, 10_000), ",")
	for n := range 6 {
		must(t, s, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"key"},"r":{"S":"%d"},"g":{"S":"group"},"l":{"L":[%s]}}}`, n, list))
	}
	together, apart := s.Router, again(t, s.store, 3)
	table := `{"TableName":"Tab","KeyConditionExpression":"h = :v","ExpressionAttributeValues":{":v":{"S":"key"}}`
	index := `{"TableName":"Tab","IndexName":"byg","KeyConditionExpression":"g = :v","ExpressionAttributeValues":{":v":{"S":"group"}}`
	tests := map[string]struct {
		router *Router
		body   string
	}{
		"filter, shards together":      {together, table[:len(table)-1] + `,":x":{"S":"x"}},"FilterExpression":"l[1] <> :x"}`},
		"projection, shards together":  {together, table + `,"ProjectionExpression":"r"}`},
		"filter, each shard by itself": {apart, table[:len(table)-1] + `,":x":{"S":"x"}},"FilterExpression":"l[1] <> :x"}`},
		"whole, shards together":       {together, table + `}`},
		"whole, each shard by itself":  {apart, table + `}`},
		"whole, index":                 {together, index + `}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := must(t, test.router, "Query", test.body)["Count"]
			if want != 6.0 {
				t.Fatalf("%v items", want)
			}
			full := func(patience time.Duration) (*budget.Budget, budget.Account) {
				b := budget.New(4<<20, patience)
				other := budget.Open(budget.WithRequest(budget.WithClient(context.Background(), b.Client())))
				other.Add(4 << 20)
				return b, other
			}
			query := func(b *budget.Budget) (string, error) {
				ctx := budget.WithRequest(budget.WithClient(context.Background(), b.Client()))
				answer, err := test.router.Do(ctx, "Query", []byte(test.body), nil)
				return string(answer), err
			}
			b, _ := full(10 * time.Millisecond)
			if _, err := query(b); !exception.Is(err, exception.ServiceUnavailable) {
				t.Fatalf("without room: %v", err)
			}
			b, other := full(time.Minute)
			type result struct {
				answer string
				err    error
			}
			done := make(chan result, 1)
			go func() {
				answer, err := query(b)
				done <- result{answer, err}
			}()
			for b.Stats().Waiting == 0 {
				select {
				case r := <-done:
					t.Fatalf("the Query did not wait: %v", r.err)
				case <-time.After(time.Millisecond):
				}
			}
			other.Close()
			r := <-done
			if r.err != nil {
				t.Fatal(r.err)
			}
			if !strings.Contains(r.answer, `"Count":6,"ScannedCount":6`) {
				t.Errorf("after waiting: %.100s", r.answer)
			}
			if s := b.Stats(); s.Held != 0 {
				t.Errorf("%d bytes are held after the Query", s.Held)
			}
		})
	}
}
