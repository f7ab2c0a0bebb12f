// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wellFormed are requests on tables Tab (h, r, with the index byg) of which each part is
// replaced by something wrong.
var wellFormed = [][2]string{
	{"GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"ProjectionExpression":"#x, y[0].z","ExpressionAttributeNames":{"#x":"x"},"ConsistentRead":true,"ReturnConsumedCapacity":"INDEXES"}`},
	{"GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"AttributesToGet":["x","y"]}`},
	{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"},"n":{"N":"1"},"b":{"B":"AA=="},"l":{"L":[{"S":"x"},{"NULL":true}]},"m":{"M":{"k":{"BOOL":true}}},"s":{"SS":["a"]},"ns":{"NS":["1"]},"bs":{"BS":["AA=="]}},"ReturnValues":"ALL_OLD","ReturnItemCollectionMetrics":"SIZE","ConditionExpression":"attribute_exists(#h) OR n < :n","ExpressionAttributeNames":{"#h":"h"},"ExpressionAttributeValues":{":n":{"N":"1"}},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`},
	{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"}},"Expected":{"x":{"Exists":false},"y":{"ComparisonOperator":"NE","AttributeValueList":[{"S":"a"}]}},"ConditionalOperator":"OR"}`},
	{"UpdateItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"UpdateExpression":"SET #x = :x, y = if_not_exists(y, :x) REMOVE z[1] ADD n :x DELETE s :s","ExpressionAttributeNames":{"#x":"x"},"ExpressionAttributeValues":{":x":{"N":"1"},":s":{"SS":["a"]}},"ReturnValues":"ALL_NEW"}`},
	{"UpdateItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"AttributeUpdates":{"x":{"Action":"PUT","Value":{"S":"a"}},"y":{"Action":"ADD","Value":{"N":"1"}},"z":{"Action":"DELETE"}}}`},
	{"DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"Expected":{"x":{"Value":{"S":"a"}}}}`},
	{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h AND r BETWEEN :a AND :b","FilterExpression":"#x = :a","ExpressionAttributeNames":{"#x":"x"},"ExpressionAttributeValues":{":h":{"S":"a"},":a":{"S":"1"},":b":{"S":"2"}},"Limit":3,"ScanIndexForward":false,"Select":"ALL_ATTRIBUTES","ExclusiveStartKey":{"h":{"S":"a"},"r":{"S":"1"}}}`},
	{"Query", `{"TableName":"Tab","IndexName":"byg","KeyConditions":{"g":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},"QueryFilter":{"x":{"ComparisonOperator":"NOT_NULL"}},"ConditionalOperator":"AND","AttributesToGet":["x"]}`},
	{"Scan", `{"TableName":"Tab","FilterExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"a"}},"Segment":0,"TotalSegments":2,"Limit":2,"Select":"COUNT","ExclusiveStartKey":{"h":{"S":"a"},"r":{"S":"1"}}}`},
	{"Scan", `{"TableName":"Tab","IndexName":"byg","ScanFilter":{"x":{"ComparisonOperator":"IN","AttributeValueList":[{"S":"a"},{"S":"b"}]}}}`},
	{"BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a"},"r":{"S":"1"}}],"ProjectionExpression":"#x","ExpressionAttributeNames":{"#x":"x"},"ConsistentRead":true}}}`},
	{"BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"1"}}}},{"DeleteRequest":{"Key":{"h":{"S":"a"},"r":{"S":"2"}}}}]}}`},
	{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"1"}},"ProjectionExpression":"x"}}]}`},
	{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"}}}},{"Update":{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"2"}},"UpdateExpression":"SET x = :x","ExpressionAttributeValues":{":x":{"S":"a"}}}},{"Delete":{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"3"}}}},{"ConditionCheck":{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"4"}},"ConditionExpression":"attribute_not_exists(h)"}}],"ClientRequestToken":"%d"}`},
	{"ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = ? AND r > ?","Parameters":[{"S":"a"},{"S":"1"}],"Limit":2,"ConsistentRead":true}`},
	{"ExecuteStatement", `{"Statement":"UPDATE Tab SET x = ? WHERE h = 'a' AND r = '1'","Parameters":[{"M":{"k":{"L":[{"N":"1"}]}}}],"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`},
	{"BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM Tab WHERE h = ? AND r = '1'","Parameters":[{"S":"a"}],"ConsistentRead":true}]}`},
	{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"UPDATE Tab SET x = ? WHERE h = 'a' AND r = '1'","Parameters":[{"S":"a"}]}],"ClientRequestToken":"%d"}`},
	{"CreateTable", `{"TableName":"Tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},"AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"GlobalSecondaryIndexes":[{"IndexName":"byg","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}],"LocalSecondaryIndexes":[{"IndexName":"byl","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"k"},"Tags":[{"Key":"owner","Value":"me"}],"TableClass":"STANDARD","DeletionProtectionEnabled":false}`},
	{"UpdateTable", `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"byg","KeySchema":[{"AttributeName":"h","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`},
	{"UpdateTable", `{"TableName":"Tab","OnDemandThroughput":{"MaxReadRequestUnits":10,"MaxWriteRequestUnits":10},"BillingMode":"PAY_PER_REQUEST"}`},
	{"DescribeTable", `{"TableName":"Tab"}`},
	{"DeleteTable", `{"TableName":"Gone"}`},
	{"ListTables", `{"ExclusiveStartTableName":"Tab","Limit":1}`},
	{"DescribeTimeToLive", `{"TableName":"Tab"}`},
	{"UpdateTimeToLive", `{"TableName":"Gone","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`},
	{"TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","Tags":[{"Key":"k","Value":"v"}]}`},
	{"UntagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","TagKeys":["k"]}`},
	{"ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","NextToken":"n"}`},
	{"ListStreams", `{"TableName":"Tab","Limit":1,"ExclusiveStartStreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab/stream/1"}`},
	{"DescribeStream", `{"StreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab/stream/2026","Limit":1,"ExclusiveStartShardId":"shardId-00000000000000000001-00000001","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"shardId-00000000000000000001-00000001"}}`},
	{"GetShardIterator", `{"StreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab/stream/2026","ShardId":"shardId-00000000000000000001-00000001","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"100000000000000000001"}`},
	{"GetRecords", `{"ShardIterator":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab/stream/2026|1|AAAA","Limit":10}`},
	{"DescribePartitions", `{"TableName":"Tab","IndexName":"byg"}`},
	{"DescribeLimits", `{"x":1}`},
}

// wrongParts are texts of JSON that parts of requests are replaced by.
var wrongParts = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e400`, `9223372036854775808`, `""`, `"a;b"`, `"ab"`, `"evenkeel"`, `"evenkeel.pk"`, `"\u0000"`, `"\ud800"`, `"ü ` + "\xc3\x28" + `"`, `"` + "\xff" + `"`,
	`"` + strings.Repeat("x", 300) + `"`, `"` + strings.Repeat("y", 3000) + `"`, `"` + strings.Repeat("z", 70_000) + `"`, `"arn:"`, `"arn:aws:dynamodb:::table/"`, `"arn:aws:dynamodb:us-east-1:000000000000:table/a;b/stream/x"`,
	`"a/b"`, `"Tab/stream/1"`, `[]`, `{}`, `[null]`, `[[]]`, `[""]`, `{"":""}`, `{"":{"S":"a"}}`, `{"S":"a"}`, `{"N":"x"}`, `{"M":{"":{"S":""}}}`, `{"x":null}`, `{"x":{"S":"a","N":"1"}}`,
	strings.Repeat("[", 600) + strings.Repeat("]", 600), `{"x":` + strings.Repeat(`{"L":[`, 40) + `{"S":"a"}` + strings.Repeat(`]}`, 40) + `}`,
}

// part is a way into a JSON document: names and indexes.
type part []any

// parts are all parts of a document, from the outermost.
func parts(v any, at part) (all []part) {
	all = append(all, slices.Clone(at))
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			all = append(all, parts(e, append(slices.Clone(at), name))...)
		}
	case []any:
		for i, e := range v {
			all = append(all, parts(e, append(slices.Clone(at), i))...)
		}
	}
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

// replaced is a document with a part replaced by a text, or without it, or under
// another name where rename is not empty.
func replaced(v any, at part, text, rename string) string {
	if len(at) == 0 {
		return text
	}
	var b bytes.Buffer
	quote := func(s string) string {
		if q, err := json.Marshal(s); err == nil {
			return string(q)
		}
		return strconv.Quote(s)
	}
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			key, value := quote(name), encodedAny(v[name])
			if name == at[0] {
				value = replaced(v[name], at[1:], text, rename)
				if len(at) == 1 && rename != "" {
					key, value = rename, encodedAny(v[name])
				}
				if value == "" {
					continue
				}
			}
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.WriteString(key + ":" + value)
		}
		return "{" + b.String() + "}"
	case []any:
		for i, e := range v {
			value := encodedAny(e)
			if i == at[0] {
				if value = replaced(e, at[1:], text, rename); value == "" {
					continue
				}
			}
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.WriteString(value)
		}
		return "[" + b.String() + "]"
	}
	return text
}

func encodedAny(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// malformed gives all wrong forms of a request.
func malformed(body string, each func(body string)) {
	var doc any
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		panic(err)
	}
	for _, at := range parts(doc, nil) {
		for _, wrong := range wrongParts {
			each(replaced(doc, at, wrong, ""))
		}
		if len(at) == 0 {
			continue
		}
		each(replaced(doc, at, "", ""))
		if _, member := at[len(at)-1].(string); member {
			for _, name := range []string{`""`, `"evenkeel.x"`, `"\ud800"`, `"#"`, `"` + strings.Repeat("n", 70_000) + `"`} {
				each(replaced(doc, at, "x", name))
			}
		}
	}
}

const malformedTable = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"GlobalSecondaryIndexes":[{"IndexName":"byg","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]`

// Whatever a client sends, it is not told that the server has failed, which SDKs try
// again after: each part of each request is replaced by each wrong one, on plain tables
// and on sharded ones, here and in front of another endpoint.
func TestNoRequestIsAServersError(t *testing.T) {
	const sharded = `,"Tags":[{"Key":"write-sharding","Value":"shards=3"}]}`
	for _, c := range []struct {
		name, create string
		serve        func() Target
	}{
		{"plain", "}", func() Target { return engineDoor(t, 4) }},
		{"sharded", sharded, func() Target { return engineDoor(t, 4) }},
		{"plain in front", "}", func() Target { return frontOf(t, bareDoor(t), 4) }},
		{"sharded in front", sharded, func() Target { return frontOf(t, bareDoor(t), 4) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := c.serve()
			if a, err := target.Do("CreateTable", malformedTable+c.create); err != nil || a.Status != 200 {
				t.Fatal(a, err)
			}
			told, n := map[string]bool{}, 0
			for _, q := range wellFormed {
				malformed(q[1], func(body string) {
					n++
					a, err := target.send(q[0], body)
					if err != nil {
						t.Fatalf("%s %.300s: %v", q[0], body, err)
					}
					if key := fmt.Sprintf("%s %.40s", q[0], message(a)); a.Status >= 500 && !told[key] {
						told[key] = true
						t.Errorf("%s %.400s\nis answered %.300s", q[0], body, a)
					}
				})
			}
			t.Logf("%d requests", n)
		})
	}
}

// message is an answer's error.
func message(a Answer) string {
	m, _ := a.Body.(map[string]any)
	if m["message"] != nil {
		return fmt.Sprint(m["message"])
	}
	return fmt.Sprint(m["Message"])
}

// kindOf is an answer's status and the name of its error.
func kindOf(a Answer) string {
	m, _ := a.Body.(map[string]any)
	name, _ := m["__type"].(string)
	_, name, _ = strings.Cut(name, "#")
	return fmt.Sprint(a.Status, " ", name)
}

// What dynalite refuses for how it is written is refused here. (More is: dynalite does not
// know of AWS's newer limits and members. A null in the place of a structure ends it.)
func TestWhatDynaliteRefuses(t *testing.T) {
	want, got := judge(t), engineDoor(t, 4)
	for _, target := range []Target{want, got} {
		if a, err := target.Do("CreateTable", malformedTable+"}"); err != nil || a.Status != 200 {
			t.Fatal(a, err)
		}
	}
	known := []string{
		"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "CreateTable", "DescribeTable", "DeleteTable", "ListTables",
		"DescribeTimeToLive", "UntagResource", "ListTagsOfResource",
	}
	refused := 0
	for _, q := range wellFormed {
		if !slices.Contains(known, q[0]) {
			continue
		}
		malformed(q[1], func(body string) {
			if strings.Contains(body, "null") {
				return
			}
			w, g := both(t, want.once(), got.once(), q[0], body)
			if k := kindOf(w); k == "400 ValidationException" || k == "400 SerializationException" {
				refused++
				if g.Status == 200 {
					t.Errorf("%s %.600s\nis accepted; dynalite says %s: %s", q[0], body, k, message(w))
				}
			}
		})
	}
	if refused < 5000 {
		t.Errorf("dynalite has refused %d requests only", refused)
	}
}

// What is not UTF-8 is no JSON (RFC 8259), and is not stored as something else; dynalite
// takes it, with U+FFFD for what is wrong. An escape of half a character is taken.
func TestInvalidUTF8(t *testing.T) {
	for _, shards := range []string{"}", `,"Tags":[{"Key":"write-sharding","Value":"shards=3"}]}`} {
		for _, target := range []Target{engineDoor(t, 1), frontOf(t, bareDoor(t), 1)} {
			if a, err := target.Do("CreateTable", malformedTable+shards); err != nil || a.Status != 200 {
				t.Fatal(a, err)
			}
			for _, wrong := range []string{"\xff", "a\xc3\x28", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "\xc0\xaf", `\n` + "\xfe"} {
				for _, item := range []string{`"x":{"S":"%s"}`, `"%s":{"S":"x"}`, `"x":{"M":{"%s":{"S":"x"}}}`, `"x":{"L":[{"SS":["%s"]}]}`} {
					a, err := target.Do("PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"},`+fmt.Sprintf(item, wrong)+`}}`)
					if err != nil || kindOf(a) != "400 SerializationException" {
						t.Errorf("%q in %s is answered %v %v", wrong, item, a, err)
					}
				}
			}
			if a, err := target.Do("PutItem", `{"TableName":"Tab","Item":{"h":{"S":"b"},"r":{"S":"1"},"x":{"S":"\ud800 \ud83d\ude00"}}}`); err != nil || a.Status != 200 {
				t.Errorf("%v %v", a, err)
			}
			if a, err := target.Do("Scan", `{"TableName":"Tab"}`); err != nil || !strings.Contains(compact(a.Body), "\ufffd \U0001f600") || strings.Contains(compact(a.Body), `"a"`) {
				t.Errorf("%v %v", a, err)
			}
		}
	}
}
