// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// explain returns the plan of a request.
func explain(t testing.TB, d doer, operation, body string) plan.Explained {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Operation": operation, "Request": json.RawMessage(body)})
	if err != nil {
		t.Fatal(err)
	}
	var out plan.Explained
	if err := json.Unmarshal([]byte(jsonOf(t, must(t, d, "Explain", string(text)))), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExplainedRequests compares the explanation of requests with what they then visit.
func TestExplainedRequests(t *testing.T) {
	for _, lease := range []time.Duration{0, short} {
		store := start(t, 4).store
		s := doorOn(t, store, lease)
		must(t, s, "CreateTable", timedTable("S", "bucket=1h shards=2"))
		for hour := range 20 {
			putAt(t, s, "a", at(hour)+"#x")
		}
		two := rangeOf("a", `,":a":{"S":"`+at(3)+`"},":b":{"S":"`+at(4)+`~"}`) + `,"KeyConditionExpression":"h = :h AND r BETWEEN :a AND :b","FilterExpression":"attribute_exists(x)","Limit":7}`
		for _, c := range []struct {
			operation, body, access  string
			buckets, shards, request int
		}{
			{"Query", two, "the buckets of its range", 2, 4, 4},
			{"Query", wholeKey, "the buckets of its range", 20, 40, 40},
			{"Query", strings.Replace(wholeKey, `{"S":"a"}`, `{"S":"none"}`, 1), "the buckets of its range", 1, 1, 1},
			{"Query", rangeOf("a", `,":r":{"S":"`+at(3)+`#x"}`) + `,"KeyConditionExpression":"h = :h AND r = :r"}`, "one shard", 1, 1, 1},
			{"GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"` + at(3) + `#x"}}}`, "one shard", 1, 1, 1},
			{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"` + at(99) + `#x"}}}`, "one shard", 1, 1, 1},
			{"Scan", `{"TableName":"Tab"}`, "scan", 0, 0, 1},
			{"BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"` + at(98) + `"}}}}]}}`, "each item in its shard", 0, 0, 1},
			{"GetItem", `{"TableName":"Plain","Key":{"h":{"S":"a"},"r":{"S":"b"}}}`, "plain table", 0, 0, 1},
		} {
			e := explain(t, s, c.operation, c.body)
			if !strings.Contains(e.Access, c.access) || len(e.Buckets) != c.buckets || len(e.Shards) != c.shards || len(e.Requests) != c.request {
				t.Errorf("%s %s: %+v", c.operation, c.body, e)
			}
			if c.access != "plain table" && (e.Table != "Tab" || e.Layout != "strategy=time bucket=1h shards=2") {
				t.Errorf("%s: table %s, %s", c.operation, e.Table, e.Layout)
			}
		}
		e := explain(t, s, "Query", two)
		if !slices.Equal(e.Buckets, []string{at(3), at(4)}) || e.Order != "r" || len(e.Then) != 2 || !strings.Contains(string(e.Requests[0].Request), `-`+fmt.Sprint(e.Shards[0])+`"`) {
			t.Errorf("%+v", e)
		}
		if n := len(sorts(must(t, s, "Scan", `{"TableName":"Tab"}`))); n != 20 {
			t.Errorf("what is explained is carried out: %d items", n)
		}
		fails(t, s, exception.Validation, "is not an operation on items", "Explain", `{"Operation":"CreateTable","Request":{}}`)
		fails(t, s, exception.Validation, "tells no time", "Explain", `{"Operation":"PutItem","Request":{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"x"}}}}`)
		must(t, s, "DeleteTable", deleteTab)

		must(t, s, "CreateTable", rolledTable("S", "rows=10"))
		for n := range 35 {
			putAt(t, s, "a", fmt.Sprintf("%02d", n))
		}
		if e := explain(t, s, "Query", wholeKey); len(e.Shards) < 3 || e.Layout != "strategy=rollover rows=10 max=10000" || !strings.Contains(e.Access, "one after the other") {
			t.Errorf("%+v", e)
		}
		if e := explain(t, s, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"34"}}}`); len(e.Shards) != 1 || e.Shards[0] < 3 {
			t.Errorf("%+v", e)
		}
		must(t, s, "DeleteTable", deleteTab)
		must(t, s, "CreateTable", shardedTable)
		if e := explain(t, s, "Query", wholeKey); len(e.Shards) != 5 || e.Layout != "strategy=calculated shards=5" || e.Access != "all shards, merged" {
			t.Errorf("%+v", e)
		}
	}
}

// TestExplainAndRights checks that a client is told only of requests that it may make.
func TestExplainAndRights(t *testing.T) {
	door := doorOn(t, onlyAlice(start(t, 1).store), short)
	alice, bob := as(door, "alice"), as(door, "bob")
	must(t, alice, "CreateTable", timedTable("S", "bucket=1h"))
	if e := explain(t, alice, "Query", wholeKey); e.Table != "Tab" {
		t.Errorf("%+v", e)
	}
	if m, err := do(bob, "Explain", `{"Operation":"Query","Request":`+wholeKey+`}`); exception.Of(err).Kind != exception.AccessDenied {
		t.Errorf("%v %v", m, err)
	}
}
