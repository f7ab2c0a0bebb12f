// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

const streamed = `,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`

// readStream reads what a door shows of a table's stream.
func readStream(t *testing.T, r *Router, table string) (arn, described, records string) {
	t.Helper()
	all, _ := must(t, r, "ListStreams", `{"TableName":"`+table+`"}`)["Streams"].([]any)
	if len(all) != 1 {
		t.Fatalf("streams of %s: %v", table, all)
	}
	arn = all[0].(map[string]any)["StreamArn"].(string)
	described, records = readShards(t, r, arn)
	return arn, described, records
}

// readShards reads a stream.
func readShards(t *testing.T, r *Router, arn string) (described, records string) {
	t.Helper()
	d := must(t, r, "DescribeStream", `{"StreamArn":"`+arn+`"}`)["StreamDescription"].(map[string]any)
	shard := d["Shards"].([]any)[0].(map[string]any)["ShardId"].(string)
	at := must(t, r, "GetShardIterator", fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"TRIM_HORIZON"}`, arn, shard))["ShardIterator"].(string)
	return jsonOf(t, d), jsonOf(t, must(t, r, "GetRecords", `{"ShardIterator":"`+at+`"}`)["Records"])
}

// TestStreamsOfShardedTables checks that both the door that created a sharded table and a door that
// has not seen it show its stream as the logical table's. They do so for a day after the table is
// deleted, whatever table has its name then.
func TestStreamsOfShardedTables(t *testing.T) {
	store := start(t, 1).store
	a, b := doorOn(t, store, short), doorOn(t, store, ever)
	must(t, a, "CreateTable", strings.Replace(shardedTable, `,"Tags"`, streamed+`,"Tags"`, 1))
	must(t, a, "PutItem", itemOfTab)
	arn := ""
	for _, door := range []*Router{a, b} {
		var described, records string
		arn, described, records = readStream(t, door, "Tab")
		if !strings.Contains(described, `"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]`) {
			t.Errorf("the stream is described as %s", described)
		}
		if strings.Contains(records, "evenkeel.") || !strings.Contains(records, `"Keys":{"h":{"S":"a"},"r":{"S":"1"}},"NewImage":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"y"}}`) {
			t.Errorf("the stream has %s", records)
		}
		if _, err := do(door, "DescribeStream", `{"StreamArn":"`+strings.Replace(arn, "/Tab/", "/evenkeel/", 1)+`"}`); exception.Of(err).Kind != exception.ResourceNotFound {
			t.Errorf("the catalogue's stream: %v", err)
		}
	}
	// An update creates another stream.
	must(t, a, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":false}}`)
	m := must(t, a, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
	if next := fmt.Sprint(m["TableDescription"].(map[string]any)["LatestStreamArn"]); next == arn || !strings.Contains(next, "/stream/") {
		t.Errorf("the next stream is %s, after %s", next, arn)
	}
	must(t, a, "PutItem", strings.ReplaceAll(itemOfTab, `"y"`, `"z"`))
	for range 2 { // another sharded table, with another key, and a plain one use the name
		must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
		for _, next := range []string{"", strings.ReplaceAll(shardedTable, `"h"`, `"other"`), plainTable + "}"} {
			if next != "" {
				must(t, a, "CreateTable", next)
			}
			for name, door := range map[string]*Router{"the door": a, "another": b, "one that comes later": doorOn(t, store, short)} {
				described, records := readShards(t, door, arn)
				if !strings.Contains(described, `"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]`) {
					t.Errorf("%s, then %s: the stream is described as %s", name, next, described)
				}
				if strings.Contains(records, "evenkeel.") || strings.Contains(records, "other") || !strings.Contains(records, `"Keys":{"h":{"S":"a"},"r":{"S":"1"}},"NewImage":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"y"}}`) {
					t.Errorf("%s, then %s: the stream has %s", name, next, records)
				}
			}
			if next != "" {
				must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
			}
		}
		must(t, a, "CreateTable", shardedTable) // without a stream, to be deleted again
	}
}

// TestStreamsOfPlainTables checks that a plain table's stream continues when other tables get the
// same name.
func TestStreamsOfPlainTables(t *testing.T) {
	store := start(t, 1).store
	for name, r := range map[string]*Router{"alone": func() *Router {
		r := New(Options{Backend: store})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}(), "shared": doorOn(t, store, short)} {
		t.Run(name, func(t *testing.T) {
			table := "Plain" + name
			must(t, r, "CreateTable", strings.Replace(plainTable, `"Tab"`, `"`+table+`"`, 1)+streamed+"}")
			must(t, r, "PutItem", strings.Replace(itemOfTab, `"Tab"`, `"`+table+`"`, 1))
			arn, _, before := readStream(t, r, table)
			must(t, r, "DeleteTable", `{"TableName":"`+table+`"}`)
			if _, _, after := readStream(t, r, table); after != before || !strings.Contains(after, `"eventName":"INSERT"`) {
				t.Errorf("stream %s: %s, and then %s", arn, before, after)
			}
		})
	}
}

// TestDeletedTablesAreForgotten checks that the entry with which a deleted table's stream is read
// is kept for a day and no longer, and is not a table.
func TestDeletedTablesAreForgotten(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", strings.Replace(shardedTable, `,"Tags"`, streamed+`,"Tags"`, 1))
	arn, _, _ := readStream(t, s.Router, "Tab")
	must(t, s, "DeleteTable", `{"TableName":"Tab"}`)
	at := time.Now()
	c := catalog.New(backend.Door{Store: s.store}, func() time.Time { return at })
	for _, age := range []time.Duration{24 * time.Hour, 26 * time.Hour} {
		at = time.Now().Add(age)
		if err := c.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e, err := c.Stream(t.Context(), api.StreamName(arn)); err != nil || (e != nil) != (age < 25*time.Hour) {
			t.Errorf("after %v: %v, %v", age, e, err)
		}
		if all, err := c.All(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("tables: %v, %v", all, err)
		}
	}
}

// TestWhatIsNoStream checks that the store reports an invalid stream or iterator, on sharded tables
// as on plain ones.
func TestWhatIsNoStream(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/"
	for _, name := range []string{"no iterator, nor an ARN of anything", arn + "Tab", arn + "Tab/stream/", arn + "Tab|1|x", arn + "Tab/stream/2026-01-01T00:00:00.000|1|x", arn + "/stream/x", arn + strings.Repeat("x", 2000)} {
		for operation, body := range map[string]string{"GetRecords": `{"ShardIterator":"` + name + `"}`, "DescribeStream": `{"StreamArn":"` + name + `"}`} {
			_, want := do(s.store, operation, body)
			if _, err := do(s, operation, body); want == nil || exception.Of(err).Kind != exception.Of(want).Kind {
				t.Errorf("%s of %.80s: %v, not %v", operation, name, err, want)
			}
		}
	}
}
