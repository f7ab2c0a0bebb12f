// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// The decoder counts the elements beyond a limit but does not keep them. Before it did so, a body
// of 15 MB with the shortest elements of a list took 10 GB.
func TestTooManyElements(t *testing.T) {
	const many = 200_000
	const table = `"TableName":"abc","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]`
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abc"`
	list := func(element string) string { return "[" + strings.Repeat(element+",", many-1) + element + "]" }
	object := func(value string) string {
		return "{" + each(many, func(i int) string { return fmt.Sprintf(`"t%d":%s`, i, value) }) + "}"
	}
	for _, c := range []struct{ op, body string }{
		{"BatchGetItem", `{"RequestItems":` + object(`{"Keys":[{"a":{"S":"x"}}]}`) + `}`},
		{"BatchGetItem", `{"RequestItems":` + object(`{}`) + `}`},
		{"BatchGetItem", `{"RequestItems":{"abc":{"Keys":` + list(`{"a":{"S":"x"}}`) + `}}}`},
		{"BatchWriteItem", `{"RequestItems":` + object(`[{"DeleteRequest":{"Key":{"a":{"S":"x"}}}}]`) + `}`},
		{"BatchWriteItem", `{"RequestItems":{"abc":` + list(`{"DeleteRequest":{"Key":{"a":{"S":"x"}}}}`) + `}}`},
		{"TransactGetItems", `{"TransactItems":` + list(`{}`) + `}`},
		{"TransactWriteItems", `{"TransactItems":` + list(`{}`) + `}`},
		{"BatchExecuteStatement", `{"Statements":` + list(`{}`) + `}`},
		{"ExecuteTransaction", `{"TransactStatements":` + list(`{}`) + `}`},
		{"CreateTable", `{"TableName":"abc","AttributeDefinitions":` + list(`{}`) + `,"KeySchema":` + list(`{}`) + `}`},
		{"CreateTable", `{` + table + `,"GlobalSecondaryIndexes":` + list(`{}`) + `,"LocalSecondaryIndexes":` + list(`{}`) + `}`},
		{"CreateTable", `{` + table + `,"Tags":` + list(`{"Key":"k","Value":"v"}`) + `}`},
		{"UpdateTable", `{"TableName":"abc","GlobalSecondaryIndexUpdates":` + list(`{}`) + `}`},
		{"TagResource", `{` + arn + `,"Tags":[` + each(many, func(i int) string { return fmt.Sprintf(`{"Key":"k%d","Value":"v"}`, i) }) + `,{}]}`},
		{"UntagResource", `{` + arn + `,"TagKeys":` + list(`"k"`) + `}`},
		{"GetItem", `{"TableName":"abc","Key":{"a":{"S":"x"}},"AttributesToGet":` + list(`"k"`) + `}`},
	} {
		q, _ := api.New(c.op)
		body := []byte(c.body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := q.Decode(new(api.Decoder), body)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 3<<20 {
			t.Errorf("%s %.100s…: %d bytes for a body of %d", c.op, c.body, taken, len(body))
		}
		if err == nil && c.op != "TagResource" { // the table limits the number of its tags
			t.Errorf("%s %.100s… is taken", c.op, c.body)
		}
		if err != nil && len(err.Error()) > 20_000 {
			t.Errorf("%s %.100s…: an error of %d bytes", c.op, c.body, len(err.Error()))
		}
	}
}
