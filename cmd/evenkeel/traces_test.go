// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"strings"
	"syscall"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/evenkeel/evenkeel/internal/testkit/collector"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

const (
	clientsTrace = "0af7651916cd43dd8448eb211c80319c"
	clientsSpan  = "b7ad6b7169203331"
	traceparent  = "00-" + clientsTrace + "-" + clientsSpan + "-01"
)

// Each request of both doors is a span. If the client sends a span, that is the parent. The span
// has one child for each request to the store. The children of a read of several shards together
// name all of these shards.
func TestRequestsAreSpans(t *testing.T) {
	c := collector.Start(t)
	s := &serveCmd{ListenCQL: loopback.FreeAddr(t), ListenHTTP: loopback.FreeAddr(t), ListenDynamoDB: loopback.FreeAddr(t), Data: t.TempDir(), Drain: patience, LogLevel: "error"}
	s.OTLPEndpoint, s.OTLPSample = c.URL, 1
	signals, ended := s.start(t)
	cluster := gocql.NewCluster(s.ListenCQL)
	cluster.Timeout, cluster.ConnectTimeout, cluster.NumConns = patience, patience, 1
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{t, s, session}
	o.load()
	payload := map[string][]byte{"traceparent": []byte(traceparent)}
	for _, q := range []*gocql.Query{
		session.Query("SELECT n, v FROM ks.sharded WHERE day = 1"),
		session.Query("INSERT INTO ks.sharded (day, n, v) VALUES (?, ?, ?)", 1, 99, "x"),
		session.Query("SELECT v FROM ks.plain WHERE k = ?", 1),
	} {
		if err := q.CustomPayload(payload).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+s.ListenDynamoDB, strings.NewReader(`{"TableName":"shardeditems","KeyConditionExpression":"k = :k","ExpressionAttributeValues":{":k":{"S":"a"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.Query", "X-Amz-Date": "20260101T000000Z", "Traceparent": traceparent,
		"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()

	// The server sends what waits before it ends.
	session.Close()
	signals <- syscall.SIGTERM
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	clients := func(name string) *trace.Span {
		t.Helper()
		for _, s := range c.Named(name) {
			if hex.EncodeToString(s.TraceId) == clientsTrace && hex.EncodeToString(s.ParentSpanId) == clientsSpan {
				return s
			}
		}
		t.Fatalf("no span %q is the client's", name)
		return nil
	}
	within := func(s *trace.Span) (children []*trace.Span) {
		t.Helper()
		if s.EndTimeUnixNano < s.StartTimeUnixNano || s.Kind != trace.Span_SPAN_KIND_SERVER {
			t.Errorf("%v", s)
		}
		for _, child := range c.Children(s) {
			children = append(children, child)
			if child.StartTimeUnixNano < s.StartTimeUnixNano || child.EndTimeUnixNano > s.EndTimeUnixNano || child.Kind != trace.Span_SPAN_KIND_CLIENT {
				t.Errorf("%s: a request to the store is not within its own: %v", s.Name, child)
			}
		}
		return children
	}
	allShards := func(name string, n int) {
		t.Helper()
		seen := map[int64]bool{}
		children := within(clients(name))
		for _, child := range children {
			for _, v := range collector.Attribute(child, "evenkeel.shards").GetArrayValue().GetValues() {
				seen[v.GetIntValue()] = true
			}
		}
		if len(seen) != n {
			t.Errorf("%s: %d requests to the store of %d shards, not %d", name, len(children), len(seen), n)
		}
	}
	allShards("select ks.sharded", 20)
	allShards("Query shardeditems", 5)
	for _, name := range []string{"insert ks.sharded", "select ks.plain"} {
		if n := len(within(clients(name))); n != 1 {
			t.Errorf("%s: %d requests to the store", name, n)
		}
	}
	failed := c.Named("GetItem no.such.table")
	if len(failed) != 1 || collector.Attribute(failed[0], "error.type").GetStringValue() != "ResourceNotFoundException" {
		t.Errorf("%v", failed)
	}
	if got := collector.Attribute(clients("select ks.plain"), "db.system.name").GetStringValue(); got != "cassandra" {
		t.Error(got)
	}
}

// TestTraceFlags checks that serve refuses flags that make no sense, before it starts anything.
func TestTraceFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--otlp-endpoint localhost:4318", "no URL of a collector"},
		{"--otlp-endpoint http://127.0.0.1:4318 --otlp-sample 2", "cannot be sampled"},
		{"--otlp-endpoint http://127.0.0.1:4318 --otlp-sample 0", "samples nothing"},
		{"--otlp-sample 0.5", "no --otlp-endpoint"},
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"serve", "--data", t.TempDir()}, strings.Fields(c.args)...), &out, &errs); code == 0 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: exit code %d: %s", c.args, code, errs.String())
		}
	}
}
