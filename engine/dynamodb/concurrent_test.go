// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

const hashTable = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`

// Updates of one item are carried out one after another, whatever else is going on.
func TestConcurrentUpdates(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	const writers, rounds = 16, 50
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for range rounds {
				s.try(t, "UpdateItem", `{"TableName":"Tab","Key":{"k":{"S":"a"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}`)
			}
		})
	}
	running.Wait()
	if got := dig(s.must(t, "GetItem", `{"TableName":"Tab","Key":{"k":{"S":"a"}}}`), "Item", "n", "N"); got != fmt.Sprint(writers*rounds) {
		t.Errorf("%d additions give %v", writers*rounds, got)
	}
}

// Of many clients that put an item on the condition that there is none, one succeeds.
func TestOneWins(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	for round := range 30 {
		var won atomic.Int32
		var running sync.WaitGroup
		for w := range 8 {
			running.Go(func() {
				_, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"w":{"N":"%d"}},"ConditionExpression":"attribute_not_exists(k)"}`, round, w))
				var e *exception.Error
				switch {
				case err == nil:
					won.Add(1)
				case !errors.As(err, &e) || e.Kind != exception.ConditionalCheckFailed:
					t.Error(err)
				}
			})
		}
		running.Wait()
		if won.Load() != 1 {
			t.Errorf("round %d: %d won", round, won.Load())
		}
	}
}

// Transactions that move amounts between items keep the sum. Readers in transactions never see
// another sum.
func TestTransactionsAreIsolated(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	const accounts, writers, rounds = 4, 4, 60
	for i := range accounts {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"n":{"N":"100"}}}`, i))
	}
	var running, reading sync.WaitGroup
	stop := make(chan struct{})
	reading.Go(func() {
		gets := ""
		for i := range accounts {
			gets += fmt.Sprintf(`,{"Get":{"TableName":"Tab","Key":{"k":{"S":"%d"}}}}`, i)
		}
		for {
			select {
			case <-stop:
				return
			default:
			}
			sum := 0
			for _, r := range list(s.try(t, "TransactGetItems", `{"TransactItems":[`+gets[1:]+`]}`)["Responses"]) {
				n := 0
				if _, err := fmt.Sscan(fmt.Sprint(dig(r, "Item", "n", "N")), &n); err != nil {
					t.Error(err)
				}
				sum += n
			}
			if sum != 100*accounts {
				t.Errorf("the sum is %d", sum)
			}
		}
	})
	for w := range writers {
		running.Go(func() {
			for r := range rounds {
				from, to := (w+r)%accounts, (w*3+r*7+1)%accounts
				if from == to {
					continue
				}
				add := func(k, n int) string {
					return fmt.Sprintf(`{"Update":{"TableName":"Tab","Key":{"k":{"S":"%d"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"%d"}}}}`, k, n)
				}
				s.try(t, "TransactWriteItems", `{"TransactItems":[`+add(from, -1)+`,`+add(to, 1)+`]}`)
			}
		})
	}
	running.Wait()
	close(stop)
	reading.Wait()
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
