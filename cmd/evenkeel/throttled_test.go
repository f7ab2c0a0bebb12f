// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// In front of an endpoint with DynamoDB's limits, the door says which of the three causes
// throttles, and for which key. The endpoint is another evenkeel.
func TestThrottlingCausesInFrontOfAnEndpoint(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	serve := func(s *serveCmd) *observed {
		s.ListenCQL, s.ListenHTTP, s.ListenDynamoDB, s.Data, s.Drain, s.LogLevel = "off", loopback.FreeAddr(t), loopback.FreeAddr(t), t.TempDir(), patience, "error"
		signals, ended := s.start(t)
		t.Cleanup(func() { signals <- os.Interrupt; signals <- os.Interrupt; <-ended })
		return &observed{t: t, serve: s}
	}
	end := &serveCmd{}
	end.Capacity = []string{likeDynamoDB}
	endpoint := serve(end)
	door := &serveCmd{ShowKeys: true}
	door.DynamoDB, door.DynamoDBRegion = "http://"+endpoint.serve.ListenDynamoDB, "us-east-1"
	o := serve(door)
	for _, c := range []struct{ table, more, cause string }{
		{"Hot", `"BillingMode":"PAY_PER_REQUEST"`, "partition"},
		{"Small", `"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`, "table"},
		{"Capped", `"BillingMode":"PAY_PER_REQUEST","OnDemandThroughput":{"MaxReadRequestUnits":1,"MaxWriteRequestUnits":1}`, "account"},
	} {
		o.throttle(c.table, c.more)
		all := o.scrape()
		for _, name := range []string{"evenkeel_dynamodb_store_throttled_total", "evenkeel_dynamodb_store_throttled_keys_total"} {
			labels := []string{"table=" + c.table, "index=", "operation=write", "cause=" + c.cause}
			if strings.Contains(name, "keys") {
				labels = append(labels, "key=121212")
			}
			if m := find(all, name, labels...); m.GetCounter().GetValue() != 1 {
				t.Errorf("%s%v is %v: %v", name, labels, m, all[name])
			}
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"top", o.serve.ListenHTTP, "--once", "--interval", "100ms"}, &out, &errs); code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// throttle creates a table and puts a long item until that is throttled, once.
func (o *observed) throttle(table, more string) {
	o.t.Helper()
	if status := o.dynamo("CreateTable", `{"TableName":"`+table+`","KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"}],`+more+`}`); status != http.StatusOK {
		o.t.Fatalf("CreateTable: %d", status)
	}
	body := fmt.Sprintf(`{"TableName":%q,"Item":{"k":{"S":"121212"},"s":{"S":"a"},"v":{"S":%q}}}`, table, strings.Repeat("x", 390_000))
	for range 50 { // a put takes 381 units, of which a partition has 1,000 a second
		if o.dynamo("PutItem", body) != http.StatusOK {
			return
		}
	}
	o.t.Fatalf("%s is not throttled", table)
}
