// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/workbench/inspection"
)

func TestCapacityFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--capacity", "cassandra"}, "--capacity cassandra: evenkeel does not know the limits of such a store\nhint: dynamodb, keyspaces, or both: --capacity dynamodb,keyspaces"},
		{[]string{"--capacity", "dynamodb", "--dynamodb", "http://localhost:8000"}, "--capacity dynamodb and --index-lag are for the embedded engine, and this door is in front of http://localhost:8000\nhint: go without --dynamodb"},
		{[]string{"--capacity", "keyspaces", "--cassandra", "10.1.2.3"}, "--capacity keyspaces: only the embedded engine applies limits, and this door is in front of 10.1.2.3\nhint: go without --cassandra"},
		{[]string{"--capacity", "dynamodb", "--cassandra", "10.1.2.3"}, "--capacity dynamodb: there is no DynamoDB door\nhint: --listen-dynamodb 127.0.0.1:8000 opens one"},
		{[]string{"--capacity", "dynamodb", "--listen-dynamodb", "off"}, "--capacity dynamodb: there is no DynamoDB door"},
		{[]string{"--index-lag", "1s", "--listen-dynamodb", "off"}, "--index-lag: there is no DynamoDB door"},
		{[]string{"--index-lag", "2m"}, "--index-lag 2m0s: is not from 0 to a minute"},
		{[]string{"--capacity", "keyspaces", "--capacity-split-after=-1s"}, "--capacity-split-after -1s: is negative\nhint: 0 is never"},
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"serve", "--data", t.TempDir()}, c.args...), &out, &errs); code != 1 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: %d %s", c.args, code, &errs)
		}
	}
	file := filepath.Join(t.TempDir(), "evenkeel.yaml")
	if err := os.WriteFile(file, []byte("capacity: [dynamodb, keyspaces]\ncapacity-split-after: 30s\nlisten-dynamodb: \"off\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"serve", "--config", file, "--data", t.TempDir()}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "--capacity dynamodb: there is no DynamoDB door") {
		t.Errorf("%d %s", code, &errs)
	}
}

// still is a clock that stands still: what a second has of units is not more on a
// machine that takes long.
func still() time.Time { return time.Unix(1_767_225_600, 0) }

// startLimited runs serve with the limits of both stores.
func startLimited(t *testing.T) (addr, web string, said func() string) {
	t.Helper()
	addr, web = loopback.FreeAddr(t), loopback.FreeAddr(t)
	s := &serveCmd{
		ListenCQL: "127.0.0.1:0", ListenHTTP: web, ListenDynamoDB: addr, Data: t.TempDir(), Drain: time.Second, LogLevel: "error",
		capacityFlags: capacityFlags{Capacity: []string{"dynamodb", "keyspaces"}, CapacitySplitAfter: 10 * time.Minute, clock: still},
	}
	var mu sync.Mutex
	var text bytes.Buffer
	serveInBackground(t, s, &stdio{io.Discard, writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(p)
	})})
	awaitAddr(t, addr)
	return addr, web, func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

// metrics are a door's, by name.
func metrics(t *testing.T, web string) map[string]string {
	t.Helper()
	resp, err := http.Get("http://" + web + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			got[line[:at]] = strings.TrimSpace(line[at+1:])
		}
	}
	return got
}

// counted compares metrics with what they should be.
func counted(t *testing.T, web string, want map[string]float64) {
	t.Helper()
	got := metrics(t, web)
	for name, value := range want {
		if n, err := strconv.ParseFloat(got[name], 64); err != nil || n != value {
			t.Errorf("%s is %q, want %v", name, got[name], value)
		}
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestHotKeyOnThisMachine checks that the engine throttles a hot key with the reasons that the SDK
// reads, and its shards less. inspect must show which shards share a partition.
func TestHotKeyOnThisMachine(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	addr, web, said := startLimited(t)
	c := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://" + addr), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), Retryer: aws.NopRetryer{},
	})
	create := func(name, tag string) {
		in := &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("InvoiceNumber"), AttributeType: "S"}, {AttributeName: aws.String("Client"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("InvoiceNumber"), KeyType: "HASH"}, {AttributeName: aws.String("Client"), KeyType: "RANGE"}},
		}
		if tag != "" {
			in.Tags = []types.Tag{{Key: aws.String("write-sharding"), Value: &tag}}
		}
		if _, err := c.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	// put writes 2,500 items of one invoice, of 1 KB each, and returns how many were taken.
	put := func(name string) (taken int, reasons []types.ThrottlingReason) {
		for from := 0; from < 2500; from += 25 {
			var all []types.WriteRequest
			for i := from; i < from+25; i++ {
				all = append(all, types.WriteRequest{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
					"InvoiceNumber": &types.AttributeValueMemberS{Value: "121212"}, "Client": &types.AttributeValueMemberS{Value: fmt.Sprintf("Client%04d", i)},
					"text": &types.AttributeValueMemberS{Value: strings.Repeat("x", 900)},
				}}})
			}
			out, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{name: all}})
			var throttled *types.ThrottlingException
			switch {
			case errors.As(err, &throttled):
				reasons = throttled.ThrottlingReasons
			case err != nil:
				t.Fatal(err)
			default:
				taken += 25 - len(out.UnprocessedItems[name])
			}
		}
		return taken, reasons
	}
	create("Plain", "")
	create("Sharded", "strategy=calculated shards=5")
	taken, reasons := put("Plain")
	if taken != 1000 {
		t.Errorf("%d of 2,500 were taken in a second", taken)
	}
	if len(reasons) != 1 || aws.ToString(reasons[0].Reason) != "TableWriteKeyRangeThroughputExceeded" || !strings.HasSuffix(aws.ToString(reasons[0].Resource), ":table/Plain") {
		t.Errorf("%+v", reasons)
	}
	if more, _ := put("Sharded"); more < 1900 {
		t.Errorf("%d of 2,500 were taken with five shards", more)
	}
	if s := said(); !strings.Contains(s, "with the limits of DynamoDB: 1000 write and 3000 read units a second and partition, split after 10m0s of heat") || !strings.Contains(s, "with the limits of Amazon Keyspaces") {
		t.Errorf("serve says %q", s)
	}

	counted(t, web, map[string]float64{
		`evenkeel_dynamodb_consumed_units_total{index="",operation="write",table="Plain"}`:                                float64(taken),
		`evenkeel_dynamodb_throttled_total{index="",operation="write",reason="KeyRangeThroughputExceeded",table="Plain"}`: float64(2500 - taken),
		`evenkeel_dynamodb_throttled_total{index="",operation="read",reason="KeyRangeThroughputExceeded",table="Plain"}`:  0,
		`evenkeel_dynamodb_throttled_total{index="",operation="write",reason="AccountLimitExceeded",table="Sharded"}`:     0,
	})

	var out, errs bytes.Buffer
	state := filepath.Join(t.TempDir(), "state")
	if code := run([]string{"inspect", "dynamodb://" + addr + "/Sharded", "--state", state, "--json"}, &out, &errs); code != 0 {
		t.Fatalf("%d %s", code, &errs)
	}
	var r inspection.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Maps) != 1 || len(r.Maps[0].Partitions) != 4 || len(r.Hidden) != 0 {
		t.Fatalf("%+v %+v", r.Maps, r.Hidden)
	}
	out.Reset()
	if code := run([]string{"inspect", "dynamodb://" + addr + "/Sharded", "--state", state}, &out, &errs); code != 0 {
		t.Fatalf("%d %s", code, &errs)
	}
	for _, want := range []string{
		"partitions of Sharded: 4, on demand; each takes 1,000 write and 3,000 read units a second; split for heat after 600 s", "start", "c0000000",
		"121212-1", "121212-2", "121212-3", "121212-4", "121212-5",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "evenkeel.pk") || strings.Contains(out.String(), "unknown from here") {
		t.Errorf("%s", &out)
	}
}
