// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	router "github.com/evenkeel/evenkeel/dynamodoor/run"
	served "github.com/evenkeel/evenkeel/internal/testkit/endpoint"
)

// The commands of a change, as a user gives them: what each prints, and that the figures
// of a change are still there after its end.
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
	plan := &reshardPlanCmd{reshardTable: at, Shards: 8, Spare: 100, Region: "us-east-1"}
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
	if m := tell(&reshardStartCmd{reshardTable: at, Shards: 8}); m["phase"] != "looking" || m["rows_to_move"] != moves || m["rows_total"] != float64(items) {
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
	if err := (&reshardStatusCmd{at}).Run(&stdio{out: &out}); err != nil || !strings.Contains(out.String(), "the last change looked at 200 rows") {
		t.Errorf("%v: %s", err, &out)
	}
	out.Reset()
	plan.JSON, plan.Shards = false, 16
	if err := plan.Run(&stdio{out: &out}); err != nil || !strings.Contains(out.String(), "USD on demand") || !strings.Contains(out.String(), "at 100 spare write units") {
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
