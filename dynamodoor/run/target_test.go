// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		operation, body string
		want            string
	}{
		{"GetItem", `{"Key":{"TableName":{"S":"x"}},"TableName":"t"}`, "[t] true"},
		{"GetItem", `{"TableName":"t","Key":{},"TableName":"u"}`, "[t u] true"},
		{"GetItem", `{"\u0054ableName":"\u0074"}`, "[t] true"},
		{"GetItem", `{"TableName":5}`, "[] false"},
		{"GetItem", `{"TableName":"t"`, "[t] false"},
		{"GetItem", `[]`, "[] false"},
		{"BatchGetItem", `{"RequestItems":{"a":{"Keys":[]},"b":{}}}`, "[a b] true"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"a"}},{"ConditionCheck":{"TableName":"b"},"Put":null}]}`, "[a b] true"},
		{"ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:r:1:table/t"}`, "[arn:aws:dynamodb:r:1:table/t] true"},
		{"CreateBackup", `{"TableName":"t"}`, "[] false"},
	} {
		names, ok := targets(api.OperationOf(c.operation), []byte(c.body), nil)
		if got := fmt.Sprint(names, ok); got != c.want {
			t.Errorf("%s %s: %s", c.operation, c.body, got)
		}
	}
	for body, want := range map[string]string{
		`{"TableName":"t","Tags":[{"Key":"a","Value":"write-sharding"}]}`:            "t false",
		`{"TableName":"t","Tags":[{"Value":"x","Key":"write-sharding"}]}`:            "t true",
		`{"TableName":"t","Tags":[{"Key":"\u0077rite-sharding.index.x"}]}`:           "t true",
		`{"TableName":"t","AttributeDefinitions":[{"AttributeName":"evenkeel.pk"}]}`: "t true",
		`{"TableName":"t","TableName":"u"}`:                                          "u true",
		`{"TableName":"t","Tags":5}`:                                                 "t false",
		`{`:                                                                          " true",
	} {
		name, ours := declares([]byte(body))
		if got := fmt.Sprint(name, " ", ours); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func FuzzTargets(f *testing.F) {
	f.Add("GetItem", []byte(`{"TableName":"t"}`))
	f.Add("BatchGetItem", []byte(`{"RequestItems":{"a":{"Keys":[]},"b":{}}}`))
	f.Add("TransactWriteItems", []byte(`{"TransactItems":[{"Put":{"TableName":"a"}}]}`))
	f.Fuzz(func(t *testing.T, operation string, body []byte) {
		names, ok := targets(api.OperationOf(operation), body, nil)
		declares(body)
		mentions(body, func(string) string { return "" })
		// The names include the table that a decoder finds in a request.
		q, known := api.New(operation)
		var d api.Decoder
		if !ok || !known || q.Decode(&d, body) != nil {
			return
		}
		_, _ = planOf(q, func(table string) {
			if !slices.Contains(names, table) {
				t.Errorf("%s %q is about %q, not %q", operation, body, table, names)
			}
		})
	})
}

// planOf plans a request and calls of for each table that it names.
func planOf(q api.Request, of func(table string)) (plan.Plan, error) {
	return plan.Make(q, func(name string) *plan.Table {
		of(name)
		return nil
	})
}
