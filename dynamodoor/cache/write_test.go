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
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// keepItem puts item (a, 1) with value v into the store and into the cache.
func (x *tested) keepItem(v string) {
	x.t.Helper()
	x.do("PutItem", putBody(v))
	x.get()
	x.want("kept", itemAnswer(v), false)
}

// TestWritesRemoveItems checks that every write of an item removes it from the cache.
func TestWritesRemoveItems(t *testing.T) {
	x := start(t)
	const key = `{"k":{"S":"a"},"n":{"N":"1.0"}}`
	const item = `{"k":{"S":"a"},"n":{"N":"1.0"},"v":{"S":"2"}}`
	for _, c := range []struct{ name, operation, body, want string }{
		{"put", "PutItem", `{"TableName":"Tab","Item":` + item + `}`, itemAnswer("2")},
		{"update", "UpdateItem", `{"TableName":"Tab","Key":` + key + `,"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"2"}}}`, itemAnswer("2")},
		{"delete", "DeleteItem", `{"TableName":"Tab","Key":` + key + `}`, `{}`},
		{"batch put", "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":` + item + `}}]}}`, itemAnswer("2")},
		{"batch delete", "BatchWriteItem", `{"RequestItems":{"Tab":[{"DeleteRequest":{"Key":` + key + `}}]}}`, `{}`},
		{"transact put", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":` + item + `}}]}`, itemAnswer("2")},
		{"transact update", "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"Tab","Key":` + key +
			`,"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"2"}}}}]}`, itemAnswer("2")},
		{"transact delete", "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Tab","Key":` + key + `}}]}`, `{}`},
		{"put, by the table's ARN", "PutItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","Item":` + item + `}`, itemAnswer("2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			x.t = t
			x.keepItem("1")
			removed := x.Stats().Invalidated
			x.do(c.operation, c.body)
			if x.Stats().Invalidated != removed+1 {
				t.Error("the item was not removed by its key")
			}
			x.want("after it", c.want, true)
			x.want("again", c.want, false)
		})
	}
}

// TestWritesLeaveOthers checks that a write leaves other items in the cache.
func TestWritesLeaveOthers(t *testing.T) {
	x := start(t)
	const other = `"Other"`
	x.do("CreateTable", strings.Replace(createT, `"Tab"`, other, 1))
	x.keepItem("1")
	for _, c := range []struct{ operation, body string }{
		{"PutItem", strings.Replace(putBody("2"), `"1"}`, `"2"}`, 1)},
		{"DeleteItem", `{"TableName":` + other + `,"Key":` + keyOf(1) + `}`},
		{"PutItem", strings.Replace(putBody("2"), `"Tab"`, other, 1)},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"Tab","Key":` + keyOf(1) + `,"ConditionExpression":"attribute_exists(k)"}},
			{"Delete":{"TableName":"Tab","Key":` + keyOf(2) + `}}]}`},
		{"TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","Tags":[{"Key":"a","Value":"b"}]}`},
		{"DescribeTable", `{"TableName":"Tab"}`},
		{"ListTables", `{}`},
	} {
		x.do(c.operation, c.body)
		x.want("after "+c.operation+" "+c.body, itemAnswer("1"), false)
	}
}

// TestPutsBeforeTheKeyIsKnown checks puts before the cache knows the table's key. A put has no Key,
// so it may concern any item of the table.
func TestPutsBeforeTheKeyIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t)
		x.do("PutItem", putBody("1"))
		answer := x.during("GetItem", getBody(), func() { x.do("PutItem", putBody("2")) })
		if answer != itemAnswer("1") {
			t.Fatal(answer)
		}
		x.want("after the put", itemAnswer("2"), true)
		x.do("BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"k":{"S":"a"},"n":{"N":"1"},"v":{"S":"3"}}}}]}}`)
		x.want("after the batch", itemAnswer("3"), true)
	})
}

// during sends a read and runs meanwhile after the store has read and before it answers.
func (x *tested) during(operation, body string, meanwhile func()) string {
	x.t.Helper()
	reading, proceed := make(chan bool), make(chan bool)
	x.store.hook(nil, func(_ context.Context, op, b string) error {
		if op == operation && b == body {
			reading <- true
			<-proceed
		}
		return nil
	})
	answered := make(chan string)
	go func() {
		answer, err := x.as("a", operation, body)
		if err != nil {
			answer = err.Error()
		}
		answered <- answer
	}()
	<-reading
	x.store.hook(nil, nil)
	meanwhile()
	close(proceed)
	return <-answered
}

// TestReadsThatAWriteBeganInAreNotKept checks the first half of the rule for keeping: a write has
// begun when the read is answered.
func TestReadsThatAWriteBeganInAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t)
		x.keepItem("0")
		for _, operation := range []string{"GetItem", "BatchGetItem"} {
			x.do("PutItem", putBody("1"))
			body := getBody()
			if operation == "BatchGetItem" {
				body = batchBody("", 1)
			}
			finish, ended := make(chan bool), make(chan bool)
			x.during(operation, body, func() {
				// The write has begun, and has not reached the store yet.
				begun := make(chan bool)
				x.store.hook(func(_ context.Context, op, _ string) error {
					if op == "PutItem" {
						begun <- true
						<-finish
					}
					return nil
				}, nil)
				go func() {
					x.do("PutItem", putBody("2"))
					close(ended)
				}()
				<-begun
			})
			x.want(operation+", while the write is under way", itemAnswer("1"), true)
			close(finish)
			<-ended
			x.store.hook(nil, nil)
			x.want(operation+", after the write", itemAnswer("2"), true)
		}
	})
}

// TestReadsThatAWriteEndedInAreNotKept checks the second half: a write began before the read and
// ended during it.
func TestReadsThatAWriteEndedInAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t)
		x.keepItem("1")
		begun, finish, ended := make(chan bool), make(chan bool), make(chan bool)
		x.store.hook(func(_ context.Context, op, _ string) error {
			if op == "PutItem" {
				begun <- true
				<-finish
			}
			return nil
		}, nil)
		go func() {
			x.do("PutItem", putBody("2"))
			close(ended)
		}()
		<-begun
		if got := x.during("GetItem", getBody(), func() {
			close(finish)
			<-ended
		}); got != itemAnswer("1") {
			t.Fatal(got)
		}
		x.want("after both", itemAnswer("2"), true)
	})
}

// TestWritesOfUnknownOutcome covers a write whose outcome is unknown and that is carried out later.
func TestWritesOfUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		name  string
		fail  func() error
		known bool
	}{
		{"an error of no kind", func() error { return errors.New("connection reset") }, false},
		{"500", func() error { return exception.New(exception.InternalServerError, "") }, false},
		{"503", func() error { return exception.New(exception.ServiceUnavailable, "") }, false},
		{"in progress", func() error { return exception.New(exception.TransactionInProgress, "") }, false},
		{"cancelled", func() error { return context.Canceled }, false},
		{"a panic", func() error { panic("as asked") }, false},
		{"a condition", func() error { return exception.New(exception.ConditionalCheckFailed, "") }, true},
		{"throttled", func() error { return exception.New(exception.ProvisionedThroughputExceeded, "") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := start(t)
			x.keepItem("1")
			x.store.hook(func(_ context.Context, op, _ string) error {
				if op == "PutItem" {
					return c.fail()
				}
				return nil
			}, nil)
			func() {
				defer func() { _ = recover() }()
				if _, err := x.as("a", "PutItem", putBody("2")); err == nil {
					t.Error("no error")
				}
			}()
			x.store.hook(nil, nil)
			x.want("after it", itemAnswer("1"), true)
			if c.known {
				x.want("after a refusal", itemAnswer("1"), false)
				return
			}
			// The store carries the write out after all.
			if _, err := x.store.Store.Do(t.Context(), "PutItem", []byte(putBody("2")), nil); err != nil {
				t.Fatal(err)
			}
			x.want("when it is carried out", itemAnswer("2"), true)
			x.clock.add(cachefence.Late - 1)
			x.want("for a while", itemAnswer("2"), true)
			x.clock.add(1)
			x.want("then", itemAnswer("2"), true)
			x.want("and again", itemAnswer("2"), false)
		})
	}
}

// TestSettling covers a store whose reads may be behind its writes: a read soon after a write may
// return the earlier state.
func TestSettling(t *testing.T) {
	x := start(t, func(o *Options) { o.Settle = 5 * time.Second })
	x.do("GetItem", getBody()) // from here on, the cache knows the key
	x.do("PutItem", putBody("1"))
	x.store.override = func(operation, _ string) (string, bool) { return `{}`, operation == "GetItem" }
	x.want("before it has settled", `{}`, true)
	x.store.override = nil
	x.want("still", itemAnswer("1"), true)
	x.clock.add(5*time.Second - 1)
	x.want("at last", itemAnswer("1"), true)
	x.clock.add(1)
	x.want("settled", itemAnswer("1"), true)
	x.want("again", itemAnswer("1"), false)
}

// TestStatementsOfUnknownOutcome checks that a batch of statements succeeds even if the outcome of
// one of them is unknown.
func TestStatementsOfUnknownOutcome(t *testing.T) {
	x := start(t)
	x.keepItem("1")
	x.store.override = func(operation, _ string) (string, bool) {
		return `{"Responses":[{"TableName":"Tab","Error":{"Code":"InternalServerError"}}]}`, operation == "BatchExecuteStatement"
	}
	x.do("BatchExecuteStatement", `{"Statements":[{"Statement":"DELETE FROM Tab WHERE k='a' AND n=1"}]}`)
	x.store.override = nil
	x.want("after it", itemAnswer("1"), true)
	x.want("again", itemAnswer("1"), true)
	x.clock.add(cachefence.Late)
	x.want("when it is settled", itemAnswer("1"), true)
	x.want("and again", itemAnswer("1"), false)
}

func TestChangesOfTables(t *testing.T) {
	update := `{"TableName":"Tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}`
	for _, c := range []struct{ operation, body string }{
		{"UpdateTable", update},
		{"UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"until"}}`},
	} {
		x := start(t)
		x.keepItem("1")
		x.do(c.operation, c.body)
		x.want("after "+c.operation, itemAnswer("1"), true)
	}

	// Use another table under the same name, with another key.
	x := start(t)
	x.keepItem("1")
	x.do("DeleteTable", `{"TableName":"Tab"}`)
	if got, err := x.as("a", "GetItem", getBody()); exception.Of(err).Kind != exception.ResourceNotFound {
		t.Errorf("of a table that is deleted: %s %v", got, err)
	}
	x.do("CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"}],"KeySchema":[{"AttributeName":"n","KeyType":"HASH"}]}`)
	get := func() string { return x.do("GetItem", `{"TableName":"Tab","Key":{"n":{"N":"1"}}}`) }
	for _, v := range []string{"1", "2", "3"} {
		x.do("PutItem", putBody(v))
		if got := get(); got != itemAnswer(v) {
			t.Errorf("%s, want %s", got, v)
		}
	}
	if x.store.took("GetItem"); get() != itemAnswer("3") || x.store.took("GetItem") != 0 {
		t.Error("the new table's items are not kept")
	}
}

// TestReadsThatATableChangedInAreNotKept checks that a read of an earlier table is not kept for its
// successor.
func TestReadsThatATableChangedInAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t)
		x.do("PutItem", putBody("1"))
		x.during("GetItem", getBody(), func() {
			x.do("DeleteTable", `{"TableName":"Tab"}`)
			x.do("CreateTable", createT)
		})
		x.want("after it", `{}`, true)
	})
}

// TestTablesMadeElsewhere covers a table that is created again behind the door with another key.
// Puts must use the new key.
func TestTablesMadeElsewhere(t *testing.T) {
	x := start(t)
	x.keepItem("1")
	for _, c := range [][2]string{
		{"DeleteTable", `{"TableName":"Tab"}`},
		{"CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"}],"KeySchema":[{"AttributeName":"n","KeyType":"HASH"}]}`},
	} {
		if _, err := x.store.Store.Do(t.Context(), c[0], []byte(c[1]), nil); err != nil {
			t.Fatal(err)
		}
	}
	get := func() string { return x.do("GetItem", `{"TableName":"Tab","Key":{"n":{"N":"1"}}}`) }
	for i := range 4 {
		x.do("PutItem", putBody(fmt.Sprint(i)))
		if got := get(); got != itemAnswer(fmt.Sprint(i)) {
			t.Errorf("%s, want %d", got, i)
		}
		get()
	}
}

// TestPutsBeforeTheNewKeyIsKnown covers a put during the first read of such a table, from which the
// cache learns the key.
func TestPutsBeforeTheNewKeyIsKnown(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.keepItem("0")
			for _, c := range [][2]string{
				{"DeleteTable", `{"TableName":"Tab"}`},
				{"CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"N"}],"KeySchema":[{"AttributeName":"n","KeyType":"HASH"}]}`},
				{"PutItem", putBody("1")},
			} {
				store := Store(x.Cache)
				if elsewhere {
					store = x.store.Store
				}
				if _, err := store.Do(as("a"), c[0], []byte(c[1]), nil); err != nil {
					t.Fatal(err)
				}
			}
			body := `{"TableName":"Tab","Key":{"n":{"N":"1"}}}`
			if got := x.during("GetItem", body, func() { x.do("PutItem", putBody("2")) }); got != itemAnswer("1") {
				t.Fatal(got)
			}
			if got := x.do("GetItem", body); got != itemAnswer("2") {
				t.Errorf("made elsewhere: %v: %s", elsewhere, got)
			}
		})
	}
}

// TestWritesToAnything checks that PartiQL writes and unknown operations may write to anything.
func TestWritesToAnything(t *testing.T) {
	for _, c := range []struct {
		operation, body string
		kept            bool
	}{
		{"ExecuteStatement", `{"Statement":"UPDATE \"Tab\" SET v='2' WHERE k='a' AND n=1"}`, false},
		{"ExecuteStatement", `{"Statement":"INSERT INTO \"Other\" VALUE {'k':'a','n':1}"}`, true},
		{"ExecuteStatement", `{"Statement":"  select * from \"Tab\""}`, true},
		{"ExecuteStatement", `{"Statement":"MERGE INTO Tab"}`, false}, // an unknown statement
		{"ExecuteStatement", `{}`, false},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM Tab WHERE k='a' AND n=1"},{"Statement":"DELETE FROM Tab WHERE k='a' AND n=1"}]}`, false},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM Tab WHERE k=? AND n=1","Parameters":[{"S":"DELETE"}]}]}`, true},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"DELETE FROM Tab WHERE k='a' AND n=1"}]}`, false},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"DELETE FROM \"Other\" WHERE k='a' AND n=1"}]}`, true},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"SELECT * FROM Tab"}]`, false}, // cut off
		{"RestoreTableToPointInTime", `{}`, false},
		{"PutItem", `{"TableName":"Tab","Item":{},"Expected":17}`, false},
		{"PutItem", `{"TableName":"Other","Item":{},"Expected":17}`, true},
		{"BatchWriteItem", `{"RequestItems":17}`, false},
		{"DeleteTable", `nothing`, false},
	} {
		x := start(t)
		x.keepItem("1")
		x.store.override = func(operation, _ string) (string, bool) { return `{}`, operation == c.operation }
		x.do(c.operation, c.body)
		x.store.override = nil
		x.want("after "+c.operation+" "+c.body, itemAnswer("1"), !c.kept)
	}
}

// TestTagsThatShard checks tags that turn a table sharded by hand into another table, or that fill
// a new index's items, which takes hours. The cache drops the table's entries and keeps those of
// other tables.
func TestTagsThatShard(t *testing.T) {
	tag := func(operation, table string) (string, string) {
		what := `"TagKeys":["write-sharding"]}`
		if operation == "TagResource" {
			what = `"Tags":[{"Key":"write-sharding","Value":"adopt=suffix shards=3"}]}`
		}
		return operation, `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/` + table + `",` + what
	}
	for _, operation := range []string{"TagResource", "UntagResource"} {
		synctest.Test(t, func(t *testing.T) {
			x := start(t)
			x.do("CreateTable", strings.Replace(createT, `"Tab"`, `"Other"`, 1))
			x.do("PutItem", putBody("1"))
			x.get()
			op, body := tag(operation, "Other")
			x.during(op, body, func() { x.want("while another table is tagged", itemAnswer("1"), false) })
			x.want("after that", itemAnswer("1"), false)
			op, body = tag(operation, "Tab")
			x.during(op, body, func() { x.want("while it is tagged", itemAnswer("1"), true) })
			x.want("after it was tagged", itemAnswer("1"), true)
		})
	}
}
