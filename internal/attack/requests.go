// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/internal/dynamodiff"
)

// attackRequests mutates DynamoDB requests, compares a sharded table with a plain one, and repeats
// transactions with unordered members in another order.
func attackRequests(f *field) error {
	s, err := f.newServer("requests")
	if err != nil {
		return err
	}
	defer s.close(f)
	const sharded = `,"Tags":[{"Key":"write-sharding","Value":"shards=7"}]`
	// The names of compared tables have the same length, so that positions in errors agree. Broken
	// requests use their own tables, because they are not sent to both.
	for name, tags := range map[string]string{"Unsplit": "", "Sharded": sharded, "BrokenPlain": "", "BrokenSharded": sharded} {
		body := fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"GlobalSecondaryIndexes":[{"IndexName":"byg","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]%s}`, name, tags)
		if a, err := s.items().Do("CreateTable", body); err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("CreateTable: %v %w", a, err)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		r := f.fork()
		wg.Go(func() {
			for !f.over() && s.alive() {
				f.sendBroken(r, s)
			}
		})
	}
	r := f.fork()
	wg.Go(func() {
		for n := 0; !f.over() && s.alive(); n++ {
			f.repeat(r, s, n)
		}
	})
	writes := map[string]int{}
	for !f.over() && s.alive() {
		f.alike(s, writes)
	}
	wg.Wait()
	f.streams(s)
	return nil
}

// drawValue draws an attribute value.
func drawValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(11); {
	case n == 0:
		return map[string]any{"S": pick(r, "", "a", "b", "é", "\u0000", strings.Repeat("x", r.IntN(300)), "k1")}
	case n == 1 || depth == 0:
		return map[string]any{"N": pick(r, "0", "1", "-1", "1.0", "1e2", "-1.5e-7", "99999999999999999999999999999999999999", "1e-130", "9.9999999999999999999999999999999999999e125", fmt.Sprint(r.IntN(9)))}
	case n == 2:
		return map[string]any{"BOOL": r.IntN(2) == 0}
	case n == 3:
		return map[string]any{"NULL": true}
	case n == 4:
		return map[string]any{"B": pick(r, "", "AA==", "/w==", "YWJj")}
	case n == 5:
		return map[string]any{"SS": []any{"a", pick(r, "b", "c"), pick(r, "d", "e")}[:1+r.IntN(3)]}
	case n == 6:
		return map[string]any{"NS": []any{"1", pick(r, "2", "3.50"), "-7e2"}[:1+r.IntN(3)]}
	case n == 7:
		return map[string]any{"BS": []any{"AA==", "/w=="}[:1+r.IntN(2)]}
	case n == 8:
		var l []any = []any{}
		for range r.IntN(4) {
			l = append(l, drawValue(r, depth-1))
		}
		return map[string]any{"L": l}
	default:
		m := map[string]any{}
		for range r.IntN(4) {
			m[pick(r, "a", "b", "c", "d", "é")] = drawValue(r, depth-1)
		}
		return map[string]any{"M": m}
	}
}

// expressions draws the expressions of a request, and collects names and values.
type expressions struct {
	*rand.Rand
	names, values map[string]any
}

func (e *expressions) path() string {
	p := pick(e.Rand, "a", "b", "c", "d", "v", "r", "h", "#n", "#o")
	if strings.HasPrefix(p, "#") {
		e.names[p] = pick(e.Rand, "a", "b", "size", "é", "x.y")
	}
	for range e.IntN(3) {
		if e.IntN(2) == 0 {
			p += pick(e.Rand, ".a", ".b", ".c", "[0]", "[1]", "[7]")
		}
	}
	return p
}

func (e *expressions) value() string {
	name := fmt.Sprintf(":v%d", len(e.values))
	e.values[name] = drawValue(e.Rand, 2)
	return name
}

func (e *expressions) operand() string {
	switch e.IntN(5) {
	case 0:
		return "size(" + e.path() + ")"
	case 1, 2:
		return e.path()
	default:
		return e.value()
	}
}

func (e *expressions) condition(depth int) string {
	if depth > 0 {
		switch e.IntN(5) {
		case 0:
			return "(" + e.condition(depth-1) + pick(e.Rand, " AND ", " OR ") + e.condition(depth-1) + ")"
		case 1:
			return "NOT " + e.condition(depth-1)
		}
	}
	switch e.IntN(8) {
	case 0:
		return pick(e.Rand, "attribute_exists(", "attribute_not_exists(") + e.path() + ")"
	case 1:
		name := e.value()
		e.values[name] = map[string]any{"S": pick(e.Rand, "S", "N", "M", "L", "SS", "NULL", "BOOL", "B", "Q")}
		return "attribute_type(" + e.path() + ", " + name + ")"
	case 2:
		return pick(e.Rand, "begins_with(", "contains(") + e.path() + ", " + e.operand() + ")"
	case 3:
		return e.operand() + " BETWEEN " + e.operand() + " AND " + e.operand()
	case 4:
		return e.operand() + " IN (" + e.operand() + ", " + e.operand() + ")"
	default:
		return e.operand() + pick(e.Rand, " = ", " <> ", " < ", " <= ", " > ", " >= ") + e.operand()
	}
}

func (e *expressions) update() string {
	var out []string
	for _, clause := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if e.IntN(3) > 0 {
			continue
		}
		var parts []string
		for range 1 + e.IntN(3) {
			switch clause {
			case "SET":
				parts = append(parts, e.path()+" = "+pick(e.Rand, e.value(), e.path(), "if_not_exists("+e.path()+", "+e.value()+")", "list_append("+e.operand()+", "+e.operand()+")", e.operand()+" + "+e.operand(), e.operand()+" - "+e.value()))
			case "REMOVE":
				parts = append(parts, e.path())
			default:
				parts = append(parts, e.path()+" "+e.value())
			}
		}
		out = append(out, clause+" "+strings.Join(parts, ", "))
	}
	return strings.Join(out, " ")
}

// drawRequest draws a mostly valid request on table T. ordered reports that its answer has an order
// on a sharded table, too.
func drawRequest(r *rand.Rand) (operation string, body map[string]any) {
	e := &expressions{Rand: r, names: map[string]any{}, values: map[string]any{}}
	key := map[string]any{"h": map[string]any{"S": pick(r, "k0", "k1")}, "r": map[string]any{"N": fmt.Sprint(r.IntN(12))}}
	body = map[string]any{"TableName": "T"}
	item := func() map[string]any {
		it := map[string]any{"h": key["h"], "r": key["r"]}
		for _, name := range []string{"a", "b", "c", "d", "v"} {
			if r.IntN(2) == 0 {
				it[name] = drawValue(r, 3)
			}
		}
		return it
	}
	some := func(name string, draw func() string) {
		if r.IntN(3) == 0 {
			body[name] = draw()
		}
	}
	projection := func() string { return e.path() + ", " + e.path() + ", " + e.path() }
	condition := func() string { return e.condition(3) }
	switch r.IntN(9) {
	case 0, 1:
		operation, body["Item"] = "PutItem", item()
		some("ConditionExpression", condition)
		some("ReturnValues", func() string { return pick(r, "ALL_OLD", "NONE") })
	case 2, 3:
		operation, body["Key"] = "UpdateItem", key
		some("ConditionExpression", condition)
		if text := e.update(); text != "" {
			body["UpdateExpression"] = text
		}
		some("ReturnValues", func() string { return pick(r, "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW") })
	case 4:
		operation, body["Key"] = "DeleteItem", key
		some("ConditionExpression", condition)
		some("ReturnValues", func() string { return "ALL_OLD" })
	case 5:
		operation, body["Key"] = "GetItem", key
		some("ProjectionExpression", projection)
	case 6, 7:
		operation = "Query"
		e.values[":h"], e.values[":r"], e.values[":q"] = key["h"], key["r"], map[string]any{"N": fmt.Sprint(r.IntN(12))}
		text := "h = :h"
		switch n := r.IntN(4); n {
		case 0:
			text += " AND r" + pick(r, " = ", " < ", " <= ", " > ", " >= ") + ":r"
			delete(e.values, ":q")
		case 1:
			text += " AND r BETWEEN :r AND :q"
		default:
			delete(e.values, ":q")
			delete(e.values, ":r")
		}
		body["KeyConditionExpression"] = text
		some("FilterExpression", condition)
		some("ProjectionExpression", projection)
		if r.IntN(2) == 0 {
			body["Limit"] = 1 + r.IntN(5)
		}
		body["ScanIndexForward"] = r.IntN(2) == 0
		if r.IntN(4) == 0 {
			body["ExclusiveStartKey"] = key
		}
		if body["ProjectionExpression"] == nil {
			some("Select", func() string { return pick(r, "COUNT", "ALL_ATTRIBUTES") })
		}
	default:
		operation = "TransactWriteItems"
		update := map[string]any{"TableName": "T", "Key": map[string]any{"h": key["h"], "r": map[string]any{"N": "13"}}, "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": map[string]any{":a": drawValue(r, 2)}}
		body = map[string]any{"TransactItems": []any{map[string]any{"Put": map[string]any{"TableName": "T", "Item": item()}}, map[string]any{"Update": update}}}
		return operation, body
	}
	if len(e.names) > 0 {
		body["ExpressionAttributeNames"] = e.names
	}
	if len(e.values) > 0 {
		body["ExpressionAttributeValues"] = e.values
	}
	return operation, body
}

func encoded(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // it was drawn as JSON
	}
	return strings.TrimSpace(b.String())
}

// forTable replaces table T by another.
func forTable(body, table string) string {
	body = strings.ReplaceAll(body, `"TableName":"T"`, `"TableName":"`+table+`"`)
	body = strings.ReplaceAll(body, `"RequestItems":{"T":`, `"RequestItems":{"`+table+`":`)
	return strings.ReplaceAll(body, `\"T\"`, `\"`+table+`\"`) // in PartiQL
}

// alike sends a request on the plain table and on the sharded one.
func (f *field) alike(s *server, writes map[string]int) {
	operation, body := pick(f.Rand, drawRequest, drawForm)(f.Rand)
	text := encoded(body)
	want, err := s.items().Do(operation, forTable(text, "Unsplit"))
	if err != nil {
		return // others check that
	}
	got, err := s.items().Do(operation, forTable(text, "Sharded"))
	if err != nil {
		return
	}
	f.sent.Add(2)
	writes[fmt.Sprint(operation, want.Status)]++
	for _, a := range []dynamodiff.Answer{want, got} {
		if a.Status >= 500 {
			f.fault("server error", "%s %s\n%v", operation, text, a)
		}
	}
	if strings.Contains(fmt.Sprint(got.Body), "evenkeel.") {
		f.fault("what is hidden is shown", "%s %s\n%v", operation, text, got)
	}
	w, g := want.General(), got.General()
	w.Body, g.Body = inAnyOrder(operation, body, inTable(w.Body, "Unsplit")), inAnyOrder(operation, body, inTable(g.Body, "Sharded"))
	if d := cmp.Diff(w, g); d != "" {
		f.fault("answers differ, "+operation, "%s %s\n(- plain, + sharded)\n%s", operation, text, d)
	}
}

// inTable names the table of an answer T.
func inTable(v any, table string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if name == table {
				name = "T"
			}
			out[name] = inTable(e, table)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = inTable(e, table)
		}
		return out
	case string:
		if v == table {
			return "T"
		}
	}
	return v
}

// sendBroken sends a request with changes in its JSON or its bytes, also on tables of its own
// names. The answer must not be a server error.
func (f *field) sendBroken(r *rand.Rand, s *server) {
	operation, body := pick(r, drawRequest, drawForm, drawControl)(r)
	var tree any = body
	for range r.IntN(4) {
		tree = warp(r, tree, 0)
	}
	text := []byte(forTable(encoded(tree), pick(r, "BrokenPlain", "BrokenSharded", "BrokenSharded", "Gone", "a/b", "", "e;", "evenkeel", "evenkeel.pk", "arn:aws:dynamodb:us-east-1:000000000000:table/BrokenSharded", "é", strings.Repeat("t", 300))))
	if r.IntN(4) == 0 {
		text = mutate(r, text)
	}
	if r.IntN(8) == 0 {
		operation = pick(r, "GetItem", "PutItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems", "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction", "UpdateTable", "DescribeTable", "ListTables", "TagResource", "UntagResource",
			"DescribeTimeToLive", "UpdateTimeToLive", "DescribeLimits", "DescribeEndpoints", "CreateBackup", "Nothing", "", "../x")
	}
	if operation == "DeleteTable" {
		return
	}
	req := itemsRequest(s, operation, string(text))
	if r.IntN(6) == 0 {
		packed, encoding := compressed(r, text)
		req = itemsRequest(s, operation, string(packed))
		req.Header.Set("Content-Encoding", encoding)
	}
	if r.IntN(10) == 0 {
		name := pick(r, "Content-Type", "X-Amz-Target", "X-Amz-Date", "Authorization", "Content-Encoding", "Accept-Encoding", "Expect", "X-Amz-Content-Sha256", "X-Amz-Security-Token", "Origin", "Access-Control-Request-Headers")
		req.Header.Set(name, pick(r, "", "gzip", "deflate", "gzip, gzip", "*;q=0", "text/plain", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=/////, SignedHeaders=;;;, Signature=", strings.Repeat("x", 9000), "null"))
	}
	if r.IntN(20) == 0 {
		req.Method = pick(r, "GET", "PUT", "OPTIONS", "HEAD", "DELETE", "PATCH")
	}
	if strings.HasPrefix(operation, "DynamoDBStreams") {
		req.Header.Set("X-Amz-Target", operation)
	}
	f.sent.Add(1)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if s.alive() {
			f.fault("a request has no answer", "%s %.1500q: %v", operation, text, err)
		}
		return
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		message := string(answer[:min(len(answer), 60)])
		f.fault("server error "+message, "%s %s %.1500q: %d %s %v", req.Method, operation, text, resp.StatusCode, answer, err)
	}
}

// compressed compresses a body with gzip or deflate. Sometimes it damages the result. Sometimes it
// returns the name of another encoding.
func compressed(r *rand.Rand, text []byte) (packed []byte, encoding string) {
	var b bytes.Buffer
	encoding = pick(r, "gzip", "deflate")
	var w io.WriteCloser = gzip.NewWriter(&b)
	if encoding == "deflate" {
		w = zlib.NewWriter(&b)
	}
	if r.IntN(1000) == 0 {
		text = append(text, bytes.Repeat([]byte{' '}, 64<<20)...) // expands to far more than the limit
	}
	_, _ = w.Write(text) // into memory
	_ = w.Close()
	packed = b.Bytes()
	switch r.IntN(6) {
	case 0:
		packed = mutate(r, packed)
	case 1:
		packed = packed[:r.IntN(len(packed)+1)]
	case 2:
		encoding = pick(r, "gzip", "deflate", "GZIP", "br")
	}
	return packed, encoding
}

// drawControl draws a request on tables, streams or statements.
func drawControl(r *rand.Rand) (string, map[string]any) {
	arn := "arn:aws:dynamodb:us-east-1:000000000000:table/" + pick(r, "BrokenSharded", "BrokenPlain", "evenkeel", "", "a/b")
	statement := pick(r, "SELECT * FROM BrokenSharded WHERE h = 'k0'", "SELECT * FROM BrokenPlain WHERE h = ? AND r > ?", "INSERT INTO BrokenSharded VALUE {'h': 'k0', 'r': ?, 'a': [1, {'b': <<1, 2>>}]}", "UPDATE BrokenSharded SET a = a + ? REMOVE b[0] WHERE h = 'k0' AND r = ?", "DELETE FROM BrokenSharded WHERE h = 'k0' AND r = ? RETURNING ALL OLD *",
		"SELECT size(a), b.c[0] FROM \"BrokenSharded\" WHERE h IN ['k0', ?] AND contains(a, ?) ORDER BY r DESC", "EXISTS(SELECT * FROM BrokenSharded WHERE h = 'k0' AND r = 1)", "SELECT * FROM evenkeel", "SELECT * FROM \"evenkeel\".\"x\"")
	if r.IntN(3) == 0 {
		statement = string(mutate(r, []byte(statement)))
	}
	var parameters []any
	for range r.IntN(4) {
		parameters = append(parameters, drawValue(r, 2))
	}
	st := map[string]any{"Statement": statement, "Parameters": parameters}
	switch r.IntN(14) {
	case 0:
		return "ExecuteStatement", map[string]any{"Statement": statement, "Parameters": parameters, "Limit": r.IntN(5), "NextToken": pick[any](r, nil, "", "x", strings.Repeat("A", 400))}
	case 1:
		return "BatchExecuteStatement", map[string]any{"Statements": []any{st, st}}
	case 2:
		return "ExecuteTransaction", map[string]any{"TransactStatements": []any{st}, "ClientRequestToken": pick(r, "", "a", strings.Repeat("t", 40))}
	case 3:
		return "UpdateTable", map[string]any{"TableName": "T", "AttributeDefinitions": []any{map[string]any{"AttributeName": "g", "AttributeType": "S"}}, "GlobalSecondaryIndexUpdates": []any{map[string]any{pick(r, "Create", "Delete", "Update"): map[string]any{"IndexName": pick(r, "byg", "g", "a;b", ""), "KeySchema": []any{map[string]any{"AttributeName": "g", "KeyType": "HASH"}}, "Projection": map[string]any{"ProjectionType": "ALL"}}}}}
	case 4:
		return "TagResource", map[string]any{"ResourceArn": arn, "Tags": []any{map[string]any{"Key": pick(r, "x", "write-sharding", "write-sharding.index.byg", "write-sharding.index."), "Value": pick(r, "shards=3", "shards=-1", "strategy=random", "", "shards=99999999999999999999", "adopt=suffix strategy=calculated shards=5")}}}
	case 5:
		return "UntagResource", map[string]any{"ResourceArn": arn, "TagKeys": []any{pick(r, "x", "write-sharding", "")}}
	case 6:
		return "BatchGetItem", map[string]any{"RequestItems": map[string]any{pick(r, "BrokenSharded", "BrokenPlain", "a;b", "evenkeel", ""): map[string]any{"Keys": []any{map[string]any{"h": drawValue(r, 0), "r": drawValue(r, 1)}}, "AttributesToGet": []any{"a", "evenkeel.pk"}}}}
	case 7:
		return "BatchWriteItem", map[string]any{"RequestItems": map[string]any{pick(r, "BrokenSharded", "BrokenPlain", "x y", ""): []any{map[string]any{"PutRequest": map[string]any{"Item": map[string]any{"h": drawValue(r, 0), "r": drawValue(r, 0), "evenkeel.pk": drawValue(r, 0)}}}, map[string]any{"DeleteRequest": map[string]any{"Key": map[string]any{"h": drawValue(r, 0)}}}}}}
	case 8:
		return "Scan", map[string]any{"TableName": "T", "Segment": r.IntN(5), "TotalSegments": pick[any](r, 1, 3, 0, -1, 1e18, "x"), "ExclusiveStartKey": map[string]any{"h": drawValue(r, 0), "r": drawValue(r, 0), "evenkeel.pk": drawValue(r, 0)}}
	case 9:
		return "CreateTable", map[string]any{"TableName": pick(r, "a;b", "x", "evenkeel", "ab/c"), "AttributeDefinitions": []any{map[string]any{"AttributeName": "h", "AttributeType": pick(r, "S", "Q")}}, "KeySchema": []any{map[string]any{"AttributeName": "h", "KeyType": "HASH"}}, "Tags": []any{map[string]any{"Key": "write-sharding", "Value": pick(r, "shards=3", "x", "strategy=calculated")}}}
	case 10:
		return "DynamoDBStreams_20120810." + pick(r, "ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"), map[string]any{"TableName": "T", "StreamArn": arn + pick(r, "", "/stream/2026-11-22T00:00:00.000", "/stream/"), "ShardId": pick(r, "", "shardId-00000000000000000001-00000001", "x"), "ShardIteratorType": pick(r, "TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "x"), "SequenceNumber": pick(r, "", "1", "x", strings.Repeat("9", 60)), "ShardIterator": pick(r, "", arn+"|1|AAAA", "|||", "x")}
	case 11:
		return pick(r, "DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups", "DescribePartitions", "ListTagsOfResource"), map[string]any{"TableName": "T", "ResourceArn": arn}
	case 12:
		return "UpdateTimeToLive", map[string]any{"TableName": "T", "TimeToLiveSpecification": map[string]any{"AttributeName": pick(r, "", "ttl", "h", "evenkeel.pk"), "Enabled": pick[any](r, true, "x")}}
	default:
		return "TransactGetItems", map[string]any{"TransactItems": []any{map[string]any{"Get": map[string]any{"TableName": "T", "Key": map[string]any{"h": drawValue(r, 0), "r": drawValue(r, 0)}, "ProjectionExpression": "a, b[0]"}}, nil}}
	}
}

// warp changes one part of a document.
func warp(r *rand.Rand, v any, depth int) any {
	wrong := func() any {
		return pick[any](r, nil, true, 0, -1, 1.5, 1e300, "", "x", strings.Repeat("y", 3000), []any{}, map[string]any{}, []any{nil}, map[string]any{"": nil}, map[string]any{"S": "a", "N": "1"}, "\xed\xa0\x80", "evenkeel.pk", map[string]any{"N": "1e999"}, json.Number("1e999"))
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || r.IntN(6) == 0 {
			return wrong()
		}
		out, keys := map[string]any{}, []string{}
		for k, e := range v {
			out[k] = e
			keys = append(keys, k)
		}
		sort.Strings(keys)
		k := pick(r, keys...)
		switch r.IntN(6) {
		case 0:
			delete(out, k)
		case 1:
			out[pick(r, "", "x", "evenkeel.x", k+k)] = out[k]
			delete(out, k)
		default:
			out[k] = warp(r, v[k], depth+1)
		}
		return out
	case []any:
		if len(v) == 0 || r.IntN(6) == 0 {
			return wrong()
		}
		out := append([]any{}, v...)
		i := r.IntN(len(out))
		if r.IntN(4) == 0 {
			return append(out, out[i])
		}
		out[i] = warp(r, out[i], depth+1)
		return out
	case string:
		if r.IntN(2) == 0 {
			return string(mutate(r, []byte(v)))
		}
	}
	return wrong()
}

// repeat sends a transaction twice under one token, the second time with its members in another
// order and its placeholders renamed, and then once with another value.
func (f *field) repeat(r *rand.Rand, s *server, n int) {
	table := pick(r, "BrokenPlain", "BrokenSharded")
	key := fmt.Sprintf(`{"h":{"S":"token"},"r":{"N":"%d"}}`, n)
	swapped := fmt.Sprintf(`{"r":{"N":"%d.0"},"h":{"S":"token"}}`, n)
	one := fmt.Sprintf(`{"ClientRequestToken":"t%d","TransactItems":[{"Update":{"TableName":%q,"Key":%s,"UpdateExpression":"ADD #n :one SET m = :m, s = :s","ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":one":{"N":"1"},":m":{"M":{"a":{"S":"x"},"b":{"L":[{"N":"10"}]}}},":s":{"SS":["a","b"]}}}}]}`, n, table, key)
	same := fmt.Sprintf(`{"TransactItems":[{"Update":{"ExpressionAttributeValues":{":s":{"SS":["b","a"]},":one":{"N":"1"},":m":{"M":{"b":{"L":[{"N":"10"}]},"a":{"S":"x"}}}},"ExpressionAttributeNames":{"#n":"n"},"UpdateExpression":"ADD #n :one SET m = :m, s = :s","Key":%s,"TableName":%q}}],"ClientRequestToken":"t%d"}`, pick(r, key, swapped), table, n)
	other := strings.Replace(one, `{"S":"x"}`, `{"S":"y"}`, 1)
	do := func(body string) dynamodiff.Answer {
		a, err := s.items().Do("TransactWriteItems", body)
		if err != nil {
			a.Status = -1
		}
		f.sent.Add(1)
		return a
	}
	first, second, third := do(one), do(same), do(other)
	if first.Status != 200 || second.Status != 200 || third.Status != 400 || !strings.Contains(fmt.Sprint(third.Body), "IdempotentParameterMismatch") {
		if s.alive() && first.Status != -1 {
			f.fault("a client's token", "%s\n%s\n%v\n%v\n%v", one, same, first, second, third)
		}
		return
	}
	a, err := s.items().Do("GetItem", fmt.Sprintf(`{"TableName":%q,"Key":%s,"ConsistentRead":true}`, table, key))
	m, _ := a.Body.(map[string]any)
	if err == nil && member(m["Item"], "n") != 1 {
		f.fault("a client's token", "applied %d times: %s", member(m["Item"], "n"), one)
	}
}

// streams compares the records of both tables' streams for each key.
func (f *field) streams(s *server) {
	if !s.alive() {
		return
	}
	var histories [2]map[string]string
	for i, table := range []string{"Unsplit", "Sharded"} {
		var err error
		if histories[i], err = streamOf(s, table); err != nil {
			f.fault("a stream cannot be read", "%s: %v", table, err)
			return
		}
	}
	for key, want := range histories[0] {
		if strings.Contains(histories[1][key], "evenkeel.") {
			f.fault("a stream shows what is hidden", "%s: %.600s", key, histories[1][key])
		}
		if got := histories[1][key]; got != want {
			f.fault("streams differ", "%s\n%s", key, cmp.Diff(want, got))
		}
	}
	fmt.Printf("  streams: %d keys of the plain table, %d of the sharded one\n", len(histories[0]), len(histories[1]))
}

// streamOf reads a stream. It returns the records of each key in order.
func streamOf(s *server, table string) (map[string]string, error) {
	call := func(operation string, body string) (map[string]any, error) {
		req := itemsRequest(s, operation, body)
		req.Header.Set("X-Amz-Target", "DynamoDBStreams_20120810."+operation)
		client := http.Client{Timeout: time.Minute}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		var m map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
			return nil, err
		}
		if resp.StatusCode != 200 {
			return nil, fmt.Errorf("%s: %d %v", operation, resp.StatusCode, m)
		}
		return m, nil
	}
	list, err := call("ListStreams", fmt.Sprintf(`{"TableName":%q}`, table))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	streams, _ := list["Streams"].([]any)
	for _, st := range streams {
		arn := fmt.Sprint(st.(map[string]any)["StreamArn"])
		d, err := call("DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, arn))
		if err != nil {
			return nil, err
		}
		description, _ := d["StreamDescription"].(map[string]any)
		shards, _ := description["Shards"].([]any)
		for _, sh := range shards {
			it, err := call("GetShardIterator", fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, arn, sh.(map[string]any)["ShardId"]))
			if err != nil {
				return nil, err
			}
			for iterator := it["ShardIterator"]; iterator != nil; {
				got, err := call("GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, iterator))
				if err != nil {
					return nil, err
				}
				records, _ := got["Records"].([]any)
				for _, rec := range records {
					change, _ := rec.(map[string]any)["dynamodb"].(map[string]any)
					out[encoded(change["Keys"])] += encoded([]any{rec.(map[string]any)["eventName"], change["OldImage"], change["NewImage"]}) + "\n"
				}
				if iterator = got["NextShardIterator"]; len(records) == 0 {
					break
				}
			}
		}
	}
	return out, nil
}
