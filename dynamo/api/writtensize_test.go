// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// An update with the largest number of operators still fits when the door writes it anew with the
// hidden attributes of a table that has all possible indexes. The door refuses a larger one and
// never sends it.
func TestWrittenSize(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	name := func(i int) string { return string([]byte{letters[i%len(letters)], "0123456789_"[i/len(letters)]}) }
	clause := func(i int) string { return name(i) + "=" + name(i) + "+:v" }
	hidden := attribute.Item{{Name: "InvoiceNumber", Value: attribute.String("121212")}}
	for i := range 20 {
		hidden = append(hidden, attribute.Attribute{Name: fmt.Sprintf("evenkeel.s.index-%d", i), Value: attribute.String(fmt.Sprint(i))})
	}
	decode := func(clauses int, more string) *api.UpdateItem {
		t.Helper()
		var q api.UpdateItem
		text := "SET " + each(clauses, clause) + more
		if err := q.Decode(new(api.Decoder), []byte(update(text, `,"ExpressionAttributeValues":{":v":{"N":"1"}}`))); err != nil {
			t.Fatal(err)
		}
		q.Update = expression.SetAttributes(hidden, q.Update)
		return &q
	}
	var again api.UpdateItem
	q := decode(300, "")
	body := q.AppendJSON(nil)
	if err := api.CheckWritten(q, len(body)); err != nil {
		t.Fatal(err)
	}
	if err := again.Decode(new(api.Decoder), body); err != nil || again.Update.String() != q.Update.String() {
		t.Fatalf("%v: %s", err, body)
	}

	q = decode(300, ","+each(230, func(i int) string { return name(300+i) + "=:v" }))
	const says = "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size; expression size: "
	for _, q := range []api.Request{q, &api.TransactWriteItems{Actions: []api.TransactAction{{}, {Update: q.Update}}}} {
		err := api.CheckWritten(q, expression.MaxSize+1)
		if e := exception.Of(err); err == nil || e.Kind != exception.Validation || !strings.HasPrefix(e.Message, says) {
			t.Errorf("%T: %v", q, err)
		}
	}
}
