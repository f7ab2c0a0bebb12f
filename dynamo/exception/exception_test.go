// SPDX-License-Identifier: Apache-2.0

package exception_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

func TestBodies(t *testing.T) {
	for _, c := range []struct {
		e    *exception.Error
		want string
	}{
		{exception.Invalid("no %s", `"x"`), `{"__type":"com.amazon.coral.validate#ValidationException","message":"no \"x\""}`},
		{exception.InvalidParameters("x"), `{"__type":"com.amazon.coral.validate#ValidationException","message":"One or more parameter values were invalid: x"}`},
		{&exception.Error{Kind: exception.Serialization}, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{exception.New(exception.Serialization, "NUMBER_VALUE cannot be converted to String"),
			`{"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}`},
		{&exception.Error{Kind: exception.ConditionalCheckFailed, Message: "The conditional request failed", Item: []byte(`{"a":{"S":"b"}}`)},
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed","Item":{"a":{"S":"b"}}}`},
		{&exception.Error{Kind: exception.TransactionCanceled, Message: "m", Reasons: []exception.CancellationReason{{Code: "None"}, {Code: "ConditionalCheckFailed", Message: "f", Item: []byte(`{}`)}}},
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"m","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"f","Item":{}}]}`},
		{&exception.Error{Kind: exception.Throttling, Message: "m", Throttling: []exception.ThrottlingReason{{Reason: "IndexWriteKeyRangeThroughputExceeded", Resource: "arn:t"}}},
			`{"__type":"com.amazon.coral.availability#ThrottlingException","message":"m","throttlingReasons":[{"reason":"IndexWriteKeyRangeThroughputExceeded","resource":"arn:t"}]}`},
		{&exception.Error{Kind: exception.ProvisionedThroughputExceeded, Message: "m", Throttling: []exception.ThrottlingReason{{Reason: "TableWriteKeyRangeThroughputExceeded", Resource: "arn:t"}}},
			`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"m","ThrottlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded","resource":"arn:t"}]}`},
	} {
		got := string(c.e.AppendJSON(nil))
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Every kind has a unique name by which ByName finds it, and a status.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := exception.InternalServerError; k <= exception.ServiceUnavailable; k++ {
		if k.Name() == "" || seen[k.Name()] {
			t.Errorf("kind %d is named %q", k, k.Name())
		}
		seen[k.Name()] = true
		for _, name := range []string{k.Name(), k.Type()} {
			if got, ok := exception.ByName(name); !ok || got != k {
				t.Errorf("%s is %s, %v", name, got, ok)
			}
		}
		if s := k.Status(); s != 400 && s != 500 && s != 503 {
			t.Errorf("%s has status %d", k, s)
		}
		if !strings.HasPrefix(k.Type(), "com.amazon") || !strings.Contains(k.Type(), "#") {
			t.Errorf("%s has type %s", k, k.Type())
		}
	}
	if k, ok := exception.ByName("com.example#Nothing"); ok || k != exception.InternalServerError {
		t.Error(k, ok)
	}
}

func TestOf(t *testing.T) {
	e := exception.Invalid("x")
	if exception.Of(fmt.Errorf("wrapped: %w", e)) != e {
		t.Error("a wrapped error is not found")
	}
	if got := exception.Of(errors.New("secret")); got.Kind != exception.InternalServerError || strings.Contains(got.Message, "secret") {
		t.Error(got)
	}
	if e.Error() != "ValidationException: x" || e.Status() != 400 {
		t.Error(e, e.Status())
	}
}
