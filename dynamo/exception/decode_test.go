// SPDX-License-Identifier: Apache-2.0

package exception_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// An error that is written and read is equal to the original, and is written again byte for byte.
func TestErrorsAreReadAsTheyAreWritten(t *testing.T) {
	for _, e := range []*exception.Error{
		exception.Invalid("no %s", `"x"`),
		{Kind: exception.Serialization},
		exception.New(exception.AccessDenied, "User: arn is not authorized"),
		{Kind: exception.ConditionalCheckFailed, Message: "The conditional request failed", Item: []byte(`{"a":{"S":"b"}}`)},
		{Kind: exception.TransactionCanceled, Message: "m", Reasons: []exception.CancellationReason{{Code: "None"}, {Code: "ConditionalCheckFailed", Message: "f", Item: []byte(`{}`)}}},
		{Kind: exception.Throttling, Message: "m", Throttling: []exception.ThrottlingReason{{Reason: "IndexWriteKeyRangeThroughputExceeded", Resource: "arn:t"}}},
		{Kind: exception.ProvisionedThroughputExceeded, Message: "m", Throttling: []exception.ThrottlingReason{{Reason: "r", Resource: "arn:t"}}},
	} {
		body := e.AppendJSON(nil)
		got, ok := exception.Decode(e.Status(), body)
		if !ok || string(got.AppendJSON(nil)) != string(body) || got.Status() != e.Status() {
			t.Errorf("%s is %d %s", body, got.Status(), got.AppendJSON(nil))
		}
		got.Raw, got.RawStatus = nil, 0
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("(- written, + read)\n%s", diff)
		}
	}
}

// An error of an unknown kind is sent on unchanged.
func TestUnknownErrorsGoOutAsTheyCame(t *testing.T) {
	const body = `{"__type":"com.amazonaws.dynamodb.v20120810#BackupNotFoundException","message":"Backup not found","more":[1]}`
	e, ok := exception.Decode(400, []byte(body))
	if !ok || e.Kind != exception.InternalServerError || e.Message != "Backup not found" || e.Status() != 400 || string(e.AppendJSON(nil)) != body {
		t.Errorf("%v %v", ok, e)
	}
}

func TestWhatIsNoErrorOfTheAPI(t *testing.T) {
	for _, body := range []string{``, `<html>`, `{}`, `[]`, `{"__type":5}`, `{"__type":"a"`, `{"message":"x"}`} {
		if e, ok := exception.Decode(502, []byte(body)); ok {
			t.Errorf("%q is taken for %v", body, e)
		}
	}
	e := exception.Unforeseen(502, []byte("<html>"+strings.Repeat("x", 1000)))
	if e.Kind != exception.ServiceUnavailable || !strings.Contains(e.Message, "502") || !strings.Contains(e.Message, "<html>") || len(e.Message) > 400 {
		t.Errorf("%v", e)
	}
	if e := exception.Unforeseen(403, nil); e.Kind != exception.InternalServerError {
		t.Errorf("%v", e)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(400, []byte(`{"__type":"x#TransactionCanceledException","CancellationReasons":[{"Code":"None"},{"Item":{"a":{"S":"b"}}}],"ThrottlingReasons":[{"reason":"r"}]}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e, ok := exception.Decode(status, body)
		if ok && (string(e.AppendJSON(nil)) != string(body) || e.Status() != status) {
			t.Errorf("%q goes out as %q", body, e.AppendJSON(nil))
		}
	})
}
