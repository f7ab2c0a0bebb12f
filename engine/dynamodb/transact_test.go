// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// These tests follow AWS's documentation of TransactWriteItems and TransactGetItems; there is no
// engine to compare with.

func putAction(k, rest string) string {
	return fmt.Sprintf(`{"Put":{"TableName":"Tab","Item":{"k":{"S":"%s"}%s}}}`, k, rest)
}

func TestCancellationReasons(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"1"},"s":{"S":"x"}}}`)
	e := s.fails(t, exception.TransactionCanceled, "TransactWriteItems", `{"TransactItems":[`+putAction("new", "")+`,
		{"ConditionCheck":{"TableName":"Tab","Key":{"k":{"S":"a"}},"ConditionExpression":"n = :two","ExpressionAttributeValues":{":two":{"N":"2"}},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
		{"Delete":{"TableName":"Tab","Key":{"k":{"S":"nothing"}},"ConditionExpression":"attribute_exists(k)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
		{"Update":{"TableName":"Tab","Key":{"k":{"S":"b"}},"UpdateExpression":"SET x = nothing"}}]}`)
	if e.Message != "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]" {
		t.Errorf("message %q", e.Message)
	}
	body := string(e.AppendJSON(nil))
	for _, want := range []string{
		`"CancellationReasons":[{"Code":"None"}`,
		`"Code":"ConditionalCheckFailed","Message":"The conditional request failed"`,
		`"Item":{"k":{"S":"a"},"n":{"N":"1"},"s":{"S":"x"}}`,
		`"Code":"ValidationError","Message":"The provided expression refers to an attribute that does not exist in the item"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s\nhas no %s", body, want)
		}
	}
	if strings.Count(body, `"Item"`) != 1 {
		t.Errorf("an item that does not exist is shown: %s", body)
	}
	if m := s.must(t, "GetItem", `{"TableName":"Tab","Key":{"k":{"S":"new"}}}`); len(m) != 0 {
		t.Errorf("half of a transaction: %v", m)
	}
}

func TestTransactionOnOneItemTwice(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	e := s.fails(t, exception.Validation, "TransactWriteItems", `{"TransactItems":[`+putAction("a", "")+`,{"Delete":{"TableName":"Tab","Key":{"k":{"S":"a"}}}}]}`)
	if e.Message != "Transaction request cannot include multiple operations on one item" {
		t.Errorf("message %q", e.Message)
	}
	const get = `{"Get":{"TableName":"Tab","Key":{"k":{"S":"a"}}}}`
	if e := s.fails(t, exception.Validation, "TransactGetItems", `{"TransactItems":[`+get+`,`+get+`]}`); e.Message != "Transaction request cannot include multiple operations on one item" {
		t.Errorf("message %q", e.Message)
	}
	s.fails(t, exception.ResourceNotFound, "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Nothing","Key":{"k":{"S":"a"}}}}]}`)
	s.fails(t, exception.TransactionCanceled, "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"k":{"N":"1"}}}}]}`)
}

func TestTokens(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := start(t, Options{Clock: func() time.Time { return now }})
	s.must(t, "CreateTable", hashTable)
	add := func(k, token, capacity string) string {
		return `{"ClientRequestToken":"` + token + `"` + capacity + `,"TransactItems":[{"Update":{"TableName":"Tab","Key":{"k":{"S":"` + k + `"}},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`
	}
	n := func() any {
		return dig(s.must(t, "GetItem", `{"TableName":"Tab","Key":{"k":{"S":"a"}}}`), "Item", "n", "N")
	}
	const total = `,"ReturnConsumedCapacity":"TOTAL"`
	for i := range 3 {
		m := s.must(t, "TransactWriteItems", add("a", "t1", total))
		units := m["ConsumedCapacity"].([]any)[0].(map[string]any)
		if i == 0 && (units["CapacityUnits"] != 2.0 || units["WriteCapacityUnits"] != 2.0) || i > 0 && (units["CapacityUnits"] != 2.0 || units["ReadCapacityUnits"] != 2.0) {
			t.Errorf("attempt %d took %v", i, units)
		}
		if n() != "1" {
			t.Errorf("attempt %d: n is %v", i, n())
		}
	}
	s.fails(t, exception.IdempotentParameterMismatch, "TransactWriteItems", add("b", "t1", ""))
	s.must(t, "TransactWriteItems", add("a", "t2", ""))
	// A cancelled transaction has not used its token up.
	cancelled := func(value string) string {
		return `{"ClientRequestToken":"t3","TransactItems":[{"ConditionCheck":{"TableName":"Tab","Key":{"k":{"S":"a"}},"ConditionExpression":"n = :v","ExpressionAttributeValues":{":v":{"N":"` + value + `"}}}}]}`
	}
	s.fails(t, exception.TransactionCanceled, "TransactWriteItems", cancelled("9"))
	s.must(t, "TransactWriteItems", cancelled("2"))

	now = now.Add(tokenLife - time.Second)
	if err := s.sweeper.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(t, "TransactWriteItems", add("a", "t1", ""))
	if n() != "2" {
		t.Errorf("after nearly ten minutes n is %v", n())
	}
	now = now.Add(2 * time.Second)
	if err := s.sweeper.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := get(s.space, s.transactions.tokens.key("t1")); err != nil || v != nil {
		t.Errorf("the token is still there: %x %v", v, err)
	}
	s.must(t, "TransactWriteItems", add("a", "t1", ""))
	if n() != "3" {
		t.Errorf("after ten minutes n is %v", n())
	}
}

// A request may name a table by its name, by its ARN, or by both. The request enters the table
// once: if it entered twice, a change of the table that waits in between would wait for ever.
// Answers have the name that the request used.
func TestTablesByNameAndARN(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	arn := s.arn(t, "Tab")
	var in entered
	for _, name := range []string{"Tab", arn, "Tab"} {
		if _, err := in.enter(s.tables, name); err != nil {
			t.Fatal(err)
		}
	}
	if len(in.tables) != 1 {
		t.Errorf("entered %d times", len(in.tables))
	}
	in.leave()
	r := s.must(t, "BatchWriteItem", `{"RequestItems":{"`+arn+`":[{"PutRequest":{"Item":{"k":{"S":"a"}}}}]},"ReturnConsumedCapacity":"TOTAL"}`)
	if got := jsonOf(t, r["ConsumedCapacity"]); !strings.Contains(got, arn) {
		t.Error(got)
	}
	s.must(t, "TransactWriteItems", `{"TransactItems":[`+putAction("b", "")+`,{"Put":{"TableName":"`+arn+`","Item":{"k":{"S":"c"}}}}]}`)
}
