// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// outcome is the outcome of a request.
type outcome struct {
	answer string
	err    error
	panic  any
}

// begin sends a request and returns a channel for its outcome.
func (x *tested) begin(ctx context.Context, operation, body string) chan outcome {
	c := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			c <- o
		}()
		// The memory of the answer is reused as soon as the answer is complete.
		dst := append(make([]byte, 0, 4096), "before:"...)
		answer, err := x.Do(ctx, operation, []byte(body), dst)
		after, ok := strings.CutPrefix(string(answer), "before:")
		if !ok {
			err = fmt.Errorf("%q is not appended to what was there: %w", answer, err)
		}
		o.answer, o.err = after, err
		clear(answer)
	}()
	synctest.Wait()
	return c
}

// hold makes the store wait after it has read, until the test releases it.
func (x *tested) hold(operation string) (release func()) {
	proceed := make(chan bool)
	x.store.hook(nil, func(ctx context.Context, op, _ string) error {
		if op != operation {
			return nil
		}
		select {
		case <-proceed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return func() {
		close(proceed)
		synctest.Wait()
		x.store.hook(nil, nil)
	}
}

func as(who string) context.Context {
	return principal.With(context.Background(), principal.Principal{ID: who})
}

// reads lists reads of item (a, 1) that are identical although their texts differ, with their
// answers.
var reads = []struct{ operation, body, same, answer string }{
	{"GetItem", getBody(), `{"Key":{"n":{"N":"1.0"},"k":{"S":"a"}},"TableName":"Tab"}`, itemAnswer("1")},
	{"BatchGetItem", batchBody("", 1), `{ "RequestItems" : {"Tab":{"Keys":[{"n":{"N":"1"},"k":{"S":"a"}}]}}}`, `{"Responses":{"Tab":[` + itemOfA1 + `]},"UnprocessedKeys":{}}`},
	{"Query", queryBody + "}", `{"ExpressionAttributeValues":{":k":{"S":"a"}},"KeyConditionExpression":"k = :k","TableName":"Tab"}`, queryAnswer("1")},
	{"Scan", `{"TableName":"Tab"}`, `{"TableName" : "Tab"}`, queryAnswer("1")},
}

const itemOfA1 = `{"k":{"S":"a"},"n":{"N":"1"},"v":{"S":"1"}}`

func TestIdenticalReadsShareARequest(t *testing.T) {
	for _, r := range reads {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.get() // from here on, the cache knows the key
			x.do("PutItem", putBody("1"))
			x.store.took(r.operation)
			release := x.hold(r.operation)
			var all []chan outcome
			for _, body := range []string{r.body, r.same, r.body} {
				all = append(all, x.begin(as("a"), r.operation, body))
			}
			other := x.begin(as("b"), r.operation, r.body)
			release()
			for i, c := range append(all, other) {
				if o := <-c; o.answer != r.answer || o.err != nil {
					t.Errorf("%s %d: %s %v", r.operation, i, o.answer, o.err)
				}
			}
			if n := x.store.took(r.operation); n != 2 {
				t.Errorf("%s: %d requests of two principals", r.operation, n)
			}
			if n := x.Stats().Coalesced; n != 2 {
				t.Errorf("%s: %d coalesced of 2", r.operation, n)
			}
		})
	}
}

// TestHashesMayCollide checks that two requests with one hash stay two requests.
func TestHashesMayCollide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t)
		x.do("PutItem", putBody("1"))
		quiet := func() cachefence.View { return cachefence.View{Quiet: true} }
		release := x.hold("GetItem")
		answers := make(chan string)
		for _, n := range []int{1, 2} {
			go func() {
				got, err := x.share(t.Context(), "GetItem", []byte(`{"TableName":"Tab","Key":`+keyOf(n)+`}`), nil, 42, nil, []byte(keyOf(n)), quiet)
				answers <- fmt.Sprintf("%s %v", got.answer, err)
			}()
		}
		synctest.Wait()
		release()
		if a, b := <-answers, <-answers; a == b {
			t.Errorf("two requests have one answer: %s", a)
		}

		x.get()
		key, err := new(attribute.Decoder).Item([]byte(keyOf(1)))
		if err != nil {
			t.Fatal(err)
		}
		var a asked
		a.item(x.fence, "a", "Tab", key, nil)
		if text, ok := x.find(&a); !ok || string(text) != itemOfA1 {
			t.Fatalf("%s %v", text, ok)
		}
		a.key = append(a.key, '!')
		if text, ok := x.find(&a); ok {
			t.Errorf("another key finds %s", text)
		}
	})
}

// TestBatchesShareTheRest checks that batches share the request for items that the cache does not
// have.
func TestBatchesShareTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t)
		x.do("PutItem", putBody("1"))
		x.do("PutItem", `{"TableName":"Tab","Item":`+keyOf(2)+`}`)
		x.get()
		body := strings.TrimSuffix(batchBody("", 2, 1), "}") + `,"ReturnConsumedCapacity":"TOTAL"}`
		release := x.hold("BatchGetItem")
		a, b := x.begin(as("a"), "BatchGetItem", body), x.begin(as("a"), "BatchGetItem", body)
		release()
		first, second := <-a, <-b
		want := `{"Responses":{"Tab":[` + keyOf(2) + `,` + itemOfA1 + `]},"UnprocessedKeys":{},"ConsumedCapacity":[{"TableName":"Tab","CapacityUnits":0.5}]}`
		if first.answer != want || second.answer != strings.Replace(want, "0.5", "0.0", 1) {
			t.Errorf("%s and %s", first.answer, second.answer)
		}
		if n := x.store.took("BatchGetItem"); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestConsistentReadsShareNoRequest checks that strongly consistent reads share no request, because
// they see the state before they began.
func TestConsistentReadsShareNoRequest(t *testing.T) {
	for _, r := range reads {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			body := strings.Replace(r.body, `"TableName":"Tab"`, `"TableName":"Tab","ConsistentRead":true`, 1)
			body = strings.Replace(body, `"Keys"`, `"ConsistentRead":true,"Keys"`, 1)
			release := x.hold(r.operation)
			a, b := x.begin(as("a"), r.operation, body), x.begin(as("a"), r.operation, body)
			release()
			<-a
			<-b
			if n := x.store.took(r.operation); n != 2 {
				t.Errorf("%s: %d requests", r.operation, n)
			}
		})
	}
}

// TestReadsAreNotSharedAcrossWrites checks that a read that began before a write does not serve one
// that begins after the write, or while the write is under way.
func TestReadsAreNotSharedAcrossWrites(t *testing.T) {
	const after = `"v":{"S":"2"}`
	for _, write := range []struct{ name, operation, body string }{
		{"a put whose key is known", "PutItem", putBody("2")},
		{"an update", "UpdateItem", `{"TableName":"Tab","Key":` + keyOf(1) + `,"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"2"}}}`},
		{"PartiQL", "ExecuteStatement", `{"Statement":"UPDATE"}`},
		{"a change of the table", "UpdateTable", `{"TableName":"Tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}`},
	} {
		for _, r := range reads {
			synctest.Test(t, func(t *testing.T) {
				x := start(t)
				x.get()
				x.do("PutItem", putBody("1"))
				x.store.override = func(operation, _ string) (string, bool) { return "{}", operation == "ExecuteStatement" }
				release := x.hold(r.operation)
				first := x.begin(as("a"), r.operation, r.body)

				begun, proceed := make(chan bool), make(chan bool)
				x.store.mu.Lock()
				x.store.before = func(_ context.Context, op, _ string) error {
					if op == write.operation {
						close(begun)
						<-proceed
					}
					return nil
				}
				x.store.mu.Unlock()
				written := x.begin(as("a"), write.operation, write.body)
				<-begun
				during := x.begin(as("a"), r.operation, r.body)
				if n := x.store.took(r.operation); n < 2 {
					t.Errorf("%s, %s: a read that began during the write shares one that began before", write.name, r.operation)
				}
				close(proceed)
				if o := <-written; o.err != nil {
					t.Fatal(o.err)
				}
				last := x.begin(as("a"), r.operation, r.body)
				if n := x.store.took(r.operation); n != 1 {
					t.Errorf("%s, %s: a read that began after the write shares one that began before", write.name, r.operation)
				}
				release()
				for name, c := range map[string]chan outcome{"before": first, "during": during, "after": last} {
					o := <-c
					if o.err != nil {
						t.Error(o.err)
					}
					if name == "after" && strings.HasSuffix(write.body, `{"S":"2"}}}`) && !strings.Contains(o.answer, after) {
						t.Errorf("%s, %s: %s", write.name, r.operation, o.answer)
					}
				}
			})
		}
	}
}

func TestOneWhoGivesUpFailsNoOther(t *testing.T) {
	for _, r := range reads {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.do("PutItem", putBody("1"))
			release := x.hold(r.operation)
			ctx, cancel := context.WithCancel(as("a"))
			first := x.begin(ctx, r.operation, r.body)
			second := x.begin(as("a"), r.operation, r.body)
			third := x.begin(ctx, r.operation, r.body)
			cancel()
			if o := <-third; !errors.Is(o.err, context.Canceled) {
				t.Errorf("%s, who joined and gave up: %+v", r.operation, o)
			}
			synctest.Wait()
			release()
			if o := <-second; o.answer != r.answer || o.err != nil {
				t.Errorf("%s, who stayed: %+v", r.operation, o)
			}
			<-first
		})
	}
}

// TestAllGiveUp checks that the store's request ends when all readers have given up, and that
// nobody joins it then.
func TestAllGiveUp(t *testing.T) {
	for _, r := range reads {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.do("PutItem", putBody("1"))
			ended := make(chan bool, 1)
			x.store.hook(func(ctx context.Context, op, _ string) error {
				if op != r.operation {
					return nil
				}
				<-ctx.Done()
				time.Sleep(time.Second) // the request takes a while to end
				ended <- true
				return ctx.Err()
			}, nil)
			ctx, cancel := context.WithCancel(as("a"))
			first := x.begin(ctx, r.operation, r.body)
			second := x.begin(ctx, r.operation, r.body)
			cancel()
			synctest.Wait()
			x.store.hook(nil, nil)
			if o := <-x.begin(as("a"), r.operation, r.body); o.answer != r.answer || o.err != nil {
				t.Errorf("%s, who came after: %+v", r.operation, o)
			}
			<-ended
			for _, c := range []chan outcome{first, second} {
				if o := <-c; !errors.Is(o.err, context.Canceled) {
					t.Errorf("%s, who gave up: %+v", r.operation, o)
				}
			}
		})
	}
}

// TestFailures checks that errors are shared like answers, and that a panic fails only the request
// that met it.
func TestFailures(t *testing.T) {
	for _, r := range reads {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.do("PutItem", putBody("1"))
			proceed := make(chan bool)
			x.store.hook(func(_ context.Context, op, _ string) error {
				if op != r.operation {
					return nil
				}
				<-proceed
				return exception.New(exception.ProvisionedThroughputExceeded, "slow")
			}, nil)
			a, b := x.begin(as("a"), r.operation, r.body), x.begin(as("a"), r.operation, r.body)
			close(proceed)
			for _, c := range []chan outcome{a, b} {
				if o := <-c; exception.Of(o.err).Kind != exception.ProvisionedThroughputExceeded {
					t.Errorf("%s: %+v", r.operation, o)
				}
			}
			if n := x.store.took(r.operation); n != 1 {
				t.Errorf("%s: %d requests", r.operation, n)
			}

			proceed = make(chan bool)
			x.store.hook(func(_ context.Context, op, _ string) error {
				if op != r.operation {
					return nil
				}
				<-proceed
				x.store.hook(nil, nil)
				panic("as asked")
			}, nil)
			a, b = x.begin(as("a"), r.operation, r.body), x.begin(as("a"), r.operation, r.body)
			close(proceed)
			if o := <-a; o.panic != "as asked" {
				t.Errorf("%s, who met it: %+v", r.operation, o)
			}
			if o := <-b; o.answer != r.answer || o.err != nil || o.panic != nil {
				t.Errorf("%s, who waited: %+v", r.operation, o)
			}
		})
	}
}

// TestSharedRequestsTakeCapacityOnce checks that a shared request reports its capacity once,
// because the store was asked once.
func TestSharedRequestsTakeCapacityOnce(t *testing.T) {
	for _, r := range reads {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.do("PutItem", putBody("1"))
			body := strings.TrimSuffix(r.body, "}") + `,"ReturnConsumedCapacity":"TOTAL"}`
			release := x.hold(r.operation)
			a, b := x.begin(as("a"), r.operation, body), x.begin(as("a"), r.operation, body)
			release()
			first, second := <-a, <-b
			if !strings.Contains(first.answer, `"CapacityUnits":0.5`) || second.answer != strings.Replace(first.answer, `"CapacityUnits":0.5`, `"CapacityUnits":0.0`, 1) {
				t.Errorf("%s: %s and %s", r.operation, first.answer, second.answer)
			}
		})
	}
}

// TestReadsAreNotSharedAfterAWriteOfUnknownOutcome covers a write of unknown outcome that is
// carried out while a read is under way. Another client may have seen the write with a strongly
// consistent read. So no later read gets the older answer, not even after the time in which the
// write may be carried out.
func TestReadsAreNotSharedAfterAWriteOfUnknownOutcome(t *testing.T) {
	const after = `"v":{"S":"2"}`
	for _, wait := range []time.Duration{0, cachefence.Late} {
		for _, r := range reads {
			synctest.Test(t, func(t *testing.T) {
				x := start(t)
				x.get() // from here on, the cache knows the key
				x.do("PutItem", putBody("1"))
				x.store.hook(func(_ context.Context, op, _ string) error {
					if op == "PutItem" {
						return errors.New("connection reset")
					}
					return nil
				}, nil)
				if _, err := x.as("a", "PutItem", putBody("2")); err == nil {
					t.Fatal("no error")
				}
				release := x.hold(r.operation)
				first := x.begin(as("a"), r.operation, r.body)
				if _, err := x.store.Store.Do(t.Context(), "PutItem", []byte(putBody("2")), nil); err != nil { // the write is carried out
					t.Fatal(err)
				}
				x.clock.add(wait)
				second := x.begin(as("a"), r.operation, r.body)
				release()
				if o := <-first; o.err != nil {
					t.Error(o.err)
				}
				if o := <-second; o.err != nil || !strings.Contains(o.answer, after) {
					t.Errorf("%s, %v after the write: %s %v", r.operation, wait, o.answer, o.err)
				}
			})
		}
	}
}
