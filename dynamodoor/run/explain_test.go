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
		statement := func(text string) plan.Explained {
			return explain(t, s, "ExecuteStatement", fmt.Sprintf(`{"Statement":%q}`, text))
		}
		for _, c := range []struct {
			text, access              string
			becomes, buckets, request int
		}{
			{`SELECT * FROM Tab WHERE h = 'a' AND r BETWEEN '` + at(3) + `' AND '` + at(4) + `~'`, "the buckets of its range", 1, 2, 4},
			{`SELECT x FROM Tab WHERE h = 'a' AND r = '` + at(3) + `#x'`, "one shard", 1, 1, 1},
			{`SELECT * FROM Tab WHERE h IN ['a', 'none']`, "the buckets of its range", 2, 21, 41},
			{`SELECT * FROM Tab`, "scan", 1, 0, 1},
			{`INSERT INTO Tab VALUE {'h': 'a', 'r': '` + at(97) + `'}`, "one shard", 1, 1, 1},
			{`UPDATE Tab SET x = 1 WHERE h = 'a' AND r = '` + at(3) + `#x'`, "one shard", 1, 1, 1},
			{`DELETE FROM Tab WHERE h = 'a' AND r = '` + at(3) + `#x'`, "one shard", 1, 1, 1},
		} {
			e := statement(c.text)
			if !strings.Contains(e.Access, c.access) || len(e.Becomes) != c.becomes || len(e.Buckets) != c.buckets || len(e.Requests) != c.request || e.Table != "Tab" {
				t.Errorf("%s: %+v", c.text, e)
			}
		}
		if e := explain(t, s, "ExecuteStatement", `{"Statement":"SELECT * FROM Tab WHERE h = ? AND r = ?","Parameters":[{"S":"a"},{"S":"`+at(3)+`"}]}`); e.Access != "one shard" {
			t.Errorf("%+v", e)
		}
		fails(t, s, exception.Validation, "parameters", "Explain", `{"Operation":"ExecuteStatement","Request":{"Statement":"SELECT * FROM Tab WHERE h = ?"}}`)
		fails(t, s, exception.Validation, "EXISTS", "Explain", `{"Operation":"ExecuteStatement","Request":{"Statement":"EXISTS(SELECT * FROM Tab WHERE h = 'a' AND r = 'b')"}}`)
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
	for _, asked := range []string{`{"Operation":"Query","Request":` + wholeKey + `}`, `{"Operation":"ExecuteStatement","Request":{"Statement":"SELECT * FROM Tab WHERE h = 'a'"}}`} {
		if m, err := do(bob, "Explain", asked); exception.Of(err).Kind != exception.AccessDenied {
			t.Errorf("%s: %v %v", asked, m, err)
		}
	}
}

// TestExplainDuringAChange checks that requests are explained by the old layout until the change is settled,
// and by the new one from then on.
func TestExplainDuringAChange(t *testing.T) {
	for _, c := range []struct {
		create, before string
		shards         int
	}{
		{shardedTable, "strategy=calculated shards=5", 5},
		{plainTable + "}", "", 0}, // as it is
	} {
		r, _ := startHasty(t)
		must(t, r, "CreateTable", c.create)
		must(t, r, "PutItem", itemOfTab)
		must(t, r, "Reshard", `{"TableName":"Tab","Action":"start","Shards":8}`)
		for after := false; !after; {
			e := explain(t, r, "Query", wholeKey)
			step := stepOf(r)
			if step == "" {
				t.Fatal("the change has ended before it was seen settled")
			}
			if after = step == "settled"; after && (len(e.Shards) != 8 || e.Access != "all shards, merged" || e.Layout == c.before) || !after && (len(e.Shards) != c.shards || e.Layout != c.before) {
				t.Errorf("%s: %+v", step, e)
			}
			if _, err := r.StepChange(t.Context(), "Tab"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
