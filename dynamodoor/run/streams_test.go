package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

const streamed = `,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`

// readStream reads what a door shows of a table's stream.
func readStream(t *testing.T, r *Router, table string) (arn, described, records string) {
	t.Helper()
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	all, _ := must(t, r, "ListStreams", `{"TableName":"`+table+`"}`)["Streams"].([]any)
	if len(all) != 1 {
		t.Fatalf("streams of %s: %v", table, all)
	}
	arn = all[0].(map[string]any)["StreamArn"].(string)
	d := must(t, r, "DescribeStream", `{"StreamArn":"`+arn+`"}`)["StreamDescription"].(map[string]any)
	shard := d["Shards"].([]any)[0].(map[string]any)["ShardId"].(string)
	at := must(t, r, "GetShardIterator", fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"TRIM_HORIZON"}`, arn, shard))["ShardIterator"].(string)
	return arn, text(d), text(must(t, r, "GetRecords", `{"ShardIterator":"`+at+`"}`)["Records"])
}

// A stream of a sharded table is shown as one of the logical table by the door that
// made it and by one that has not seen it; when the table is gone it is not shown at
// all, since nobody knows any more what its keys were.
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
	// Another stream, of a change that an update makes.
	must(t, a, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":false}}`)
	m := must(t, a, "UpdateTable", `{"TableName":"Tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
	if next := fmt.Sprint(m["TableDescription"].(map[string]any)["LatestStreamArn"]); next == arn || !strings.Contains(next, "/stream/") {
		t.Errorf("the next stream is %s, after %s", next, arn)
	}
	must(t, a, "DeleteTable", `{"TableName":"Tab"}`)
	if _, err := do(a, "DescribeStream", `{"StreamArn":"`+arn+`"}`); exception.Of(err).Kind != exception.ResourceNotFound {
		t.Errorf("the stream of a table that is gone: %v", err)
	}
}

// A plain table's stream goes on through a change of tables of the same name.
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
