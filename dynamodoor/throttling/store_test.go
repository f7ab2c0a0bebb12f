// SPDX-License-Identifier: Apache-2.0

package throttling_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/dynamodoor/throttling"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/observe"
)

// limited returns a door's store on an engine with limits.
func limited(t *testing.T, limits throughput.Limits, show bool) *throttling.Store {
	t.Helper()
	r := run.New(run.Options{Backend: itemstore.Open(t, dynamodb.Options{Capacity: &limits}), RetryFor: 20 * time.Second, Fanout: 4})
	if err := r.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return throttling.New(throttling.Options{Store: r, Schema: r.Schema, ShowKeys: show})
}

// until repeats a request until it is throttled, at most n times.
func until(t *testing.T, s *throttling.Store, n int, operation, body string) {
	t.Helper()
	for range n {
		_, err := s.Do(context.Background(), operation, []byte(body), nil)
		var e *exception.Error
		if errors.As(err, &e) && (len(e.Throttling) > 0 || e.Kind == exception.TransactionCanceled) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", operation, err)
		}
	}
	t.Errorf("%s is not throttled", operation)
}

func must(t *testing.T, s *throttling.Store, operation, body string) {
	t.Helper()
	if _, err := s.Do(context.Background(), operation, []byte(body), nil); err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
}

func create(name, more string) string {
	return `{"TableName":"` + name + `","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],` + more + `}`
}

const (
	onDemand = `"BillingMode":"PAY_PER_REQUEST"`
	sharded  = onDemand + `,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=5"}]`
)

func put(table, key, sort string) string {
	return `{"TableName":"` + table + `","Item":{"h":{"S":"` + key + `"},"r":{"S":"` + sort + `"},"v":{"S":"` + strings.Repeat("x", 900) + `"}}}`
}

// text returns the counts of a store, one a line: the keys without their numbers.
func text(s *throttling.Store) string {
	var b strings.Builder
	for _, k := range s.Keys() {
		fmt.Fprintf(&b, "%s/%s %s %v %s\n", k.Table, k.Index, k.Key, k.Write, k.Cause)
	}
	return b.String()
}

// TestCauses checks that the three causes are distinguished, on a sharded table and on a plain one,
// and by the client's key.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		name, create string
		limits       throughput.Limits
		want         string
	}{
		{"plain, a hot key", create("Tab", onDemand), throughput.Limits{Partition: throughput.Rate{Write: 20}}, "Tab/ 121212 true partition\n"},
		{"sharded, still too hot", create("Tab", sharded), throughput.Limits{Partition: throughput.Rate{Write: 20}}, "Tab/ 121212 true partition\n"},
		{"the table's throughput", create("Tab", `"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}`), throughput.Limits{Burst: -1}, "Tab/ 121212 true table\n"},
		{"the table's maximum", create("Tab", onDemand+`,"OnDemandThroughput":{"MaxWriteRequestUnits":5}`), throughput.Limits{}, "Tab/ 121212 true account\n"},
		{"the account's quota", create("Tab", onDemand), throughput.Limits{Account: throughput.Rate{Read: 10, Write: 10}}, "Tab/ 121212 true account\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := limited(t, c.limits, true)
				must(t, s, "CreateTable", c.create)
				until(t, s, 2000, "PutItem", put("Tab", "121212", "Client0001"))
				if got := text(s); got != c.want {
					t.Errorf("%q, not %q", got, c.want)
				}
				must(t, s, "DeleteTable", `{"TableName":"Tab"}`)
				if len(s.Tables())+len(s.Keys()) > 0 {
					t.Error("a table that has gone is still counted")
				}
			})
		})
	}
}

// TestWhatNoClientSees checks that throttled requests that the door has retried, unseen by any
// client, are counted. So are parts of batches and transactions.
func TestWhatNoClientSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limited(t, throughput.Limits{Partition: throughput.Rate{Read: 20, Write: 1e6}}, true)
		must(t, s, "CreateTable", create("Tab", sharded))
		for i := range 30 {
			must(t, s, "PutItem", put("Tab", "121212", fmt.Sprintf("Client%04d", i)))
		}
		for range 50 {
			ctx := observe.With(context.Background(), new(observe.Under)) // as the door does
			if _, err := s.Do(ctx, "Query", []byte(`{"TableName":"Tab","ConsistentRead":true,"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}}`), nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := text(s); got != "Tab/ 121212 false partition\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	item := func(n string) string { return `{"h":{"S":"121212"},"r":{"S":"` + n + `"}}` }
	synctest.Test(t, func(t *testing.T) {
		s := limited(t, throughput.Limits{Partition: throughput.Rate{Read: 1000, Write: 2}}, true)
		must(t, s, "CreateTable", create("Tab", onDemand))
		must(t, s, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":`+item("a")+`}},{"PutRequest":{"Item":`+item("b")+`}},{"DeleteRequest":{"Key":`+item("c")+`}}]}}`)
		if got := text(s); got != "Tab/ 121212 true untold\n" {
			t.Errorf("after a batch: %q", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := limited(t, throughput.Limits{Partition: throughput.Rate{Read: 1000, Write: 2}}, true)
		must(t, s, "CreateTable", create("Tab", onDemand))
		until(t, s, 10, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":`+item("d")+`}}]}`)
		if got := text(s); got != "Tab/ 121212 true untold\n" {
			t.Errorf("after a transaction: %q", got)
		}
	})
}

// fixed is a store that answers every request with one error.
type fixed struct{ err error }

func (fixed) Has(string) bool { return true }

func (f fixed) Do(_ context.Context, _ string, _, dst []byte) ([]byte, error) { return dst, f.err }

// TestKeysAreHashed checks that keys are hashed unless they may be shown. A hash is that of `printf
// %s KEY | sha256sum`.
func TestKeysAreHashed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limited(t, throughput.Limits{Partition: throughput.Rate{Write: 2}}, false)
		must(t, s, "CreateTable", create("Tab", onDemand))
		until(t, s, 10, "PutItem", put("Tab", "121212", "a"))
		if got := s.Keys(); len(got) != 1 || got[0].Key != "3ea87a56da38" {
			t.Errorf("%+v", got)
		}
	})
}

// TestWhatPassesIsUnchanged checks that errors pass unchanged, and that a request that cannot be
// read is counted without a key.
func TestWhatPassesIsUnchanged(t *testing.T) {
	for _, operation := range []string{"PutItem", "Query", "BatchWriteItem", "TransactWriteItems", "ExecuteStatement", "NoSuchOperation"} {
		for _, body := range []string{``, `{}`, `nonsense`, put("T", "k", "s")} {
			want := &exception.Error{Kind: exception.Throttling, Message: "m"}
			s := throttling.New(throttling.Options{Store: fixed{want}})
			if _, err := s.Do(context.Background(), operation, []byte(body), nil); err != want {
				t.Errorf("%s: %v", operation, err)
			}
			if got := s.Tables(); len(got) != 1 || got[0].Times != 1 || got[0].Cause != throttling.Untold || len(s.Keys()) > 0 {
				t.Errorf("%s %s: %+v %+v", operation, body, got, s.Keys())
			}
		}
	}
	other := errors.New("no error of the API")
	s := throttling.New(throttling.Options{Store: fixed{other}})
	if _, err := s.Do(context.Background(), "PutItem", nil, nil); err != other || len(s.Tables()) > 0 {
		t.Errorf("%v", err)
	}
}
