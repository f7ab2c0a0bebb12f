// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	router "github.com/evenkeel/evenkeel/dynamodoor/run"
	served "github.com/evenkeel/evenkeel/internal/testkit/endpoint"
	"github.com/evenkeel/evenkeel/reshard"
)

// The test gives the commands of a change as a user does. It checks the output of each command, and
// that the figures of a change are still there after its end.
func TestReshardDynamoDB(t *testing.T) {
	door, url := served.Start(t, router.Options{Caution: time.Nanosecond})
	do := func(operation, body string) {
		t.Helper()
		if _, err := door.Do(t.Context(), operation, []byte(body), nil); err != nil {
			t.Fatal(err)
		}
	}
	do("CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Tags":[{"Key":"write-sharding","Value":"shards=4"}]}`)
	const items = 200
	for i := range items {
		do("PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"`+strings.Repeat("x", i+1)+`"},"text":{"S":"`+strings.Repeat("y", 1500)+`"}}}`)
	}
	at := reshardTable{Table: "Tab", DynamoDB: url, JSON: true}
	var out bytes.Buffer
	tell := func(command interface{ Run(*stdio) error }) map[string]any {
		t.Helper()
		out.Reset()
		if err := command.Run(&stdio{out: &out}); err != nil {
			t.Fatal(err)
		}
		m := map[string]any{}
		if err := json.Unmarshal(out.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
		return m
	}
	if m := tell(&reshardStatusCmd{at}); m["phase"] != "none" || m["rows_total"] != 0.0 {
		t.Errorf("%v", m)
	}
	plan := &reshardPlanCmd{reshardTable: at, reshardTarget: reshardTarget{Shards: 8}, Spare: 100, Region: "us-east-1"}
	m := tell(plan)
	moves, _ := m["rows_moved"].(float64)
	units, _ := m["write_units"].(float64)
	cost, _ := m["cost"].(map[string]any)
	// An item of 1.5 to 2 KB: two writes of two units, twice, and a stub.
	if m["rows"] != float64(items) || moves < 70 || moves > 130 || units != 9*moves || m["bytes_moved"].(float64) < 1500*moves || cost == nil {
		t.Fatalf("%v", m)
	}
	if cost["seconds"] != units/100 || cost["amount"].(float64) <= units*0.625/1e6 || cost["currency"] != "USD" {
		t.Errorf("%v", cost)
	}
	if m := tell(&reshardStartCmd{reshardTable: at, reshardTarget: reshardTarget{Shards: 8}}); m["phase"] != "looking" || m["rows_to_move"] != moves || m["rows_total"] != float64(items) {
		t.Errorf("%v", m)
	}
	if m := tell(plan); len(m["refused"].([]any)) != 1 || m["cost"] != nil {
		t.Errorf("%v", m)
	}
	if m := tell(&reshardPauseCmd{at}); m["paused"] != true {
		t.Errorf("%v", m)
	}
	tell(&reshardResumeCmd{at})
	tell(&reshardFinishCmd{at})
	for more := true; more; {
		var err error
		if more, err = door.StepChange(t.Context(), "Tab"); err != nil {
			t.Fatal(err)
		}
		if s := tell(&reshardStatusCmd{at}); s["phase"] == "moving" { // what requests move counts
			for i := range items {
				do("UpdateItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+strings.Repeat("x", i+1)+`"}},"UpdateExpression":"SET z = :z","ExpressionAttributeValues":{":z":{"S":"z"}}}`)
			}
		}
	}
	m = tell(&reshardStatusCmd{at})
	if m["phase"] != "none" || m["to"] != 8.0 || m["rows_total"] != float64(items) || m["rows_moved"] != moves || m["rows_verified"] != float64(items) {
		t.Errorf("%v", m)
	}
	at.JSON = false
	out.Reset()
	if err := (&reshardStatusCmd{at}).Run(&stdio{out: &out}); err != nil || !strings.Contains(out.String(), "the last change read 200 rows") {
		t.Errorf("%v: %s", err, &out)
	}
	out.Reset()
	plan.JSON, plan.Shards = false, 16
	if err := plan.Run(&stdio{out: &out}); err != nil || !strings.Contains(out.String(), "USD on demand") || !strings.Contains(out.String(), "at 100 spare write units") {
		t.Errorf("%v: %s", err, &out)
	}
	// A layout of buckets of time is given by its options. These items tell no time.
	at.JSON = true
	buckets := reshardTarget{Shards: -1, Layout: "strategy=time bucket=1h shards=2"}
	if m := tell(&reshardPlanCmd{reshardTable: at, reshardTarget: buckets, Spare: 100, Region: "us-east-1"}); !strings.Contains(fmt.Sprint(m["refused"]), "tells no time") || m["to_layout"] != "buckets of 1h with 2 shards each" {
		t.Errorf("%v", m)
	}
	if err := (&reshardStartCmd{reshardTable: at, reshardTarget: buckets}).Run(&stdio{out: &out}); err == nil || !strings.Contains(err.Error(), "tells no time") {
		t.Errorf("%v", err)
	}
	for i := range items {
		do("DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"`+strings.Repeat("x", i+1)+`"}}}`)
	}
	if m := tell(&reshardStartCmd{reshardTable: at, reshardTarget: buckets}); m["phase"] != "looking" || m["to_layout"] != "buckets of 1h with 2 shards each" {
		t.Errorf("%v", m)
	}
	at.JSON = false
	out.Reset()
	if err := (&reshardStatusCmd{at}).Run(&stdio{out: &out}); err != nil || !strings.HasPrefix(out.String(), "Tab: 8 shards to buckets of 1h with 2 shards each, looking") {
		t.Errorf("%v: %s", err, &out)
	}
	// A table that is made anew under the name has no such figures.
	do("DeleteTable", `{"TableName":"Tab"}`)
	do("CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Tags":[{"Key":"write-sharding","Value":"shards=4"}]}`)
	at.JSON = true
	if m := tell(&reshardStatusCmd{at}); m["rows_total"] != 0.0 {
		t.Errorf("%v", m)
	}
}

// TestOptionsOfALayout writes a layout as the options of CQL.
func TestOptionsOfALayout(t *testing.T) {
	for text, to := range map[string]reshard.Target{
		"'shards': '8'": {Shards: 8}, "": {}, "'strategy': 'time', 'by': 'ts', 'bucket': '1h'": {Layout: "strategy=time  by=ts bucket=1h"}, "'column': 'o''s'": {Layout: "column=o's"},
	} {
		if got := strings.Join(optionsOf(to), ", "); got != text {
			t.Errorf("%+v is %s, not %s", to, got, text)
		}
	}
}
