// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// answered lists the operations whose answers are decoded.
func answered() (all []string) {
	for _, op := range operations {
		if q, _ := api.New(op); isAnswered(q) {
			all = append(all, op)
		}
	}
	return all
}

func isAnswered(q api.Request) bool {
	_, ok := q.(api.Answered)
	return ok
}

// again decodes a body, encodes the request and decodes the result.
func again(t testing.TB, op string, body []byte) (first, second api.Request, ok bool) {
	t.Helper()
	first, _ = api.New(op)
	second, _ = api.New(op)
	var a, b api.Decoder
	if first.Decode(&a, body) != nil {
		return nil, nil, false
	}
	text := first.AppendJSON(nil)
	if !json.Valid(text) {
		t.Fatalf("%s %s\nis encoded as %s, which is no JSON", op, body, text)
	}
	if err := second.Decode(&b, text); err != nil {
		t.Fatalf("%s %s\nis encoded as %s, which is refused: %v", op, body, text, err)
	}
	return first, second, true
}

// compared returns a request as text for a comparison. It leaves out what depends on the spelling
// of the body.
func compared(q api.Request) string {
	s := strings.ReplaceAll(show(q), "FilterName:QueryFilter", "FilterName:Filter Expression")
	return strings.ReplaceAll(s, "FilterName:ScanFilter", "FilterName:Filter Expression")
}

// A request that is decoded and encoded has the same meaning as the original one.
func TestEncodedRequestsAreEqual(t *testing.T) {
	seen := make(map[string]bool)
	datadriven.RunTest(t, "testdata/requests", func(t *testing.T, d *datadriven.TestData) string {
		for line := range strings.Lines(d.Input) {
			first, second, ok := again(t, d.Cmd, []byte(line))
			if !ok {
				continue
			}
			seen[d.Cmd] = true
			if a, b := compared(first), compared(second); a != b {
				t.Errorf("%s %s\nis %s\nand encoded as %s\n   %s", d.Cmd, line, a, first.AppendJSON(nil), b)
			}
		}
		return d.Expected
	})
	for op, body := range map[string]string{
		"DeleteTable": `{"TableName":"abc"}`, "DescribeTimeToLive": `{"TableName":"abc"}`, "DescribeEndpoints": `{}`, "DescribeLimits": `{}`,
		"ListTagsOfResource": `{"ResourceArn":"arn:aws:dynamodb:x:1:table/abc","NextToken":"n"}`,
	} {
		first, second, ok := again(t, op, []byte(body))
		if seen[op] = ok; compared(first) != compared(second) {
			t.Errorf("%s %s is encoded as %s", op, body, first.AppendJSON(nil))
		}
	}
	for _, op := range answered() {
		if !seen[op] {
			t.Errorf("no request of %s is encoded", op)
		}
	}
}

// An answer that is decoded and encoded is the same byte for byte, even if the members of the
// original were in another order.
func TestDecodedResponsesAreEqual(t *testing.T) {
	text, err := os.ReadFile("testdata/answers")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		op, body, _ := strings.Cut(line, " ")
		q, ok := api.New(op)
		if !ok {
			t.Fatal(op)
		}
		seen[op] = true
		if g, ok := q.(*api.TransactGetItems); ok {
			g.Gets = make([]api.TransactGet, 2)
		}
		var d api.Decoder
		r, err := q.(api.Answered).DecodeResponse(&d, []byte(body))
		if err != nil {
			t.Errorf("%s %s: %v", op, body, err)
			continue
		}
		if got := string(r.AppendJSON(nil)); got != body {
			t.Errorf("%s\n got %s\nwant %s", op, got, body)
		}
	}
	for _, op := range answered() {
		if !seen[op] {
			t.Errorf("no answer to %s is decoded", op)
		}
	}
}

func TestMembersInAnyOrderAndUnknownOnes(t *testing.T) {
	for _, c := range []struct{ op, body, want string }{
		{"Query", `{ "ScannedCount" : 5, "Fresh":{"a":[1]}, "LastEvaluatedKey":null, "Count":2.0,"Items":[ {"b":{"S":"x"}} ]}`, `{"Items":[{"b":{"S":"x"}}],"Count":2,"ScannedCount":5}`},
		{"GetItem", `{}`, `{}`},
		{"TagResource", `{}`, ``},
		{"DeleteTable", `{"TableDescription":{"TableStatus":"DELETING","TableName":"t","CreationDateTime":1.234567890123E9}}`,
			`{"TableDescription":{"TableName":"t","TableStatus":"DELETING","TableArn":"","TableId":"","CreationDateTime":1234567890.123,` +
				`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},"TableSizeBytes":0,"ItemCount":0,"DeletionProtectionEnabled":false}}`},
	} {
		q, _ := api.New(c.op)
		var d api.Decoder
		r, err := q.(api.Answered).DecodeResponse(&d, []byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		if got := string(r.AppendJSON(nil)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.op, got, c.want)
		}
	}
}

func TestWhatIsNoAnswerIsSaid(t *testing.T) {
	for op, bodies := range map[string][]string{
		"GetItem":          {``, `[]`, `{"Item":5}`, `{"Item":{}`, `{"ConsumedCapacity":{"CapacityUnits":"x"}}`, `{"ConsumedCapacity":{"CapacityUnits":1e300}}`},
		"Query":            {`{"Items":{}}`, `{"LastEvaluatedKey":{"a":{}}}`, `{"Count":1e99}`},
		"BatchGetItem":     {`{"UnprocessedKeys":{"t":{"Keys":[{"a":{"N":"x"}}]}}}`, `{"Responses":[]}`},
		"BatchWriteItem":   {`{"UnprocessedItems":{"t":[{}]}}`},
		"TransactGetItems": {`{"Responses":[]}`},
		"DescribeTable":    {`{}`, `{"Table":{"TableName":"t","TableStatus":"ACTIVE"}}`, `{"Table":{"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"GlobalSecondaryIndexes":[{"IndexName":"i"}]}}`},
		"UntagResource":    {`{"a":1}`},
	} {
		for _, body := range bodies {
			q, _ := api.New(op)
			if g, ok := q.(*api.TransactGetItems); ok {
				g.Gets = make([]api.TransactGet, 1)
			}
			var d api.Decoder
			if r, err := q.(api.Answered).DecodeResponse(&d, []byte(body)); err == nil {
				t.Errorf("%s %s is taken for %+v", op, body, r)
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(0, []byte(`{"RequestItems":{"abc":{"Keys":[{"a":{"S":"x"}}],"ProjectionExpression":"a"}}}`))
	f.Add(2, []byte(`{"TableName":"abc","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`))
	f.Add(12, []byte(`{"TableName":"abc","Item":{"a":{"S":"x"}},"ConditionExpression":"NOT (a = :a AND b < :b)","ExpressionAttributeValues":{":a":{"S":"x"},":b":{"N":"2"}}}`))
	f.Add(19, []byte(`{"TableName":"abc","Key":{"a":{"S":"x"}},"UpdateExpression":"SET b = if_not_exists(c, :a) + :a REMOVE d[1] ADD e :a","ExpressionAttributeValues":{":a":{"N":"1"}}}`))
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		op := operations[uint(i)%uint(len(operations))]
		first, second, ok := again(t, op, body)
		if ok && compared(first) != compared(second) {
			t.Errorf("%s %q\nis encoded as %q", op, body, first.AppendJSON(nil))
		}
	})
}

func FuzzDecodeResponse(f *testing.F) {
	text, err := os.ReadFile("testdata/answers")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		op, body, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if i := slices.Index(answered(), op); i >= 0 {
			f.Add(i, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		all := answered()
		q, _ := api.New(all[uint(i)%uint(len(all))])
		var d api.Decoder
		r, err := q.(api.Answered).DecodeResponse(&d, body)
		if err != nil {
			return
		}
		text := r.AppendJSON(nil)
		if len(text) > 0 && !json.Valid(text) {
			t.Errorf("%s %q is encoded as %q", q.Operation(), body, text)
		}
	})
}

// A request that has no text of a client is encoded from its fields.
func TestBatchGetsWithoutAText(t *testing.T) {
	var first, second api.BatchGetItem
	body := []byte(`{"RequestItems":{"Tab":{"Keys":[{"k":{"S":"a"}}],"ConsistentRead":true,"ProjectionExpression":"#k, x.y[1]","ExpressionAttributeNames":{"#k":"key"}},"Other":{"Keys":[{"k":{"S":"b"}}]}}}`)
	if err := first.Decode(new(api.Decoder), body); err != nil {
		t.Fatal(err)
	}
	for i := range first.Tables {
		first.Tables[i].Raw = nil
	}
	text := first.AppendJSON(nil)
	if err := second.Decode(new(api.Decoder), text); err != nil {
		t.Fatal(err)
	}
	if compared(&first) != compared(&second) {
		t.Errorf("%s is encoded as %s", compared(&first), text)
	}
}
