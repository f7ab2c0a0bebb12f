// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// observed is a server with both doors, and a client of each.
type observed struct {
	t       *testing.T
	serve   *serveCmd
	session *gocql.Session
}

func newObserved(t *testing.T) *observed {
	t.Helper()
	s := &serveCmd{ListenCQL: loopback.FreeAddr(t), ListenHTTP: loopback.FreeAddr(t), ListenDynamoDB: loopback.FreeAddr(t), Data: t.TempDir(), Drain: patience, LogLevel: "error"}
	s.Capacity = []string{likeDynamoDB}
	signals, ended := s.start(t)
	cluster := gocql.NewCluster(s.ListenCQL)
	cluster.Timeout, cluster.ConnectTimeout = patience, patience
	cluster.NumConns = 1
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		signals <- syscall.SIGTERM
		signals <- syscall.SIGTERM
		<-ended
	})
	return &observed{t, s, session}
}

func (o *observed) cql(text string, values ...any) {
	o.t.Helper()
	if err := o.session.Query(text, values...).Exec(); err != nil {
		o.t.Fatalf("%s: %v", text, err)
	}
}

// dynamo carries out an operation and returns the HTTP status.
func (o *observed) dynamo(operation, body string) int {
	o.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+o.serve.ListenDynamoDB, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		o.t.Logf("%s: %s", operation, text)
	}
	return resp.StatusCode
}

// load makes some requests of each kind at both doors, errors among them.
func (o *observed) load() {
	o.t.Helper()
	o.cql("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	o.cql("CREATE TABLE ks.sharded (day int, n int, v text, PRIMARY KEY (day, n)) WITH write_sharding = {'shards': '20'}")
	o.cql("CREATE TABLE ks.plain (k int PRIMARY KEY, v text)")
	for i := range 30 {
		o.cql("INSERT INTO ks.sharded (day, n, v) VALUES (?, ?, ?)", 1, i, "text")
		o.cql("INSERT INTO ks.plain (k, v) VALUES (?, ?)", i, "text")
	}
	for it := o.session.Query("SELECT n FROM ks.sharded WHERE day = 1").Iter(); ; {
		if n := 0; !it.Scan(&n) {
			break
		}
	}
	if err := o.session.Query("SELECT * FROM ks.no_such_table").Exec(); err == nil {
		o.t.Fatal("a table that does not exist is read")
	}
	// A paging state of somebody else's.
	if err := o.session.Query("SELECT n FROM ks.sharded WHERE day = 1").PageState([]byte("nonsense")).Exec(); err == nil {
		o.t.Fatal("a paging state that is none is taken")
	}
	create := func(name, tags string) {
		if status := o.dynamo("CreateTable", `{"TableName":"`+name+`","KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],
			"AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"`+tags+`}`); status != http.StatusOK {
			o.t.Fatalf("CreateTable: %d", status)
		}
	}
	create("plainitems", "")
	create("shardeditems", `,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=5"}]`)
	for _, table := range []string{"plainitems", "shardeditems"} {
		for i := range 10 {
			o.dynamo("PutItem", fmt.Sprintf(`{"Item":{"k":{"S":"a"},"s":{"S":"%d"}},"TableName":"%s"}`, i, table))
		}
		o.dynamo("Query", `{"TableName":"`+table+`","KeyConditionExpression":"k = :k","ExpressionAttributeValues":{":k":{"S":"a"}}}`)
	}
	o.dynamo("GetItem", `{"TableName":"no.such.table","Key":{"k":{"S":"a"}}}`)
}

// scrape reads /metrics.
func (o *observed) scrape() map[string]*dto.MetricFamily {
	o.t.Helper()
	resp, err := http.Get("http://" + o.serve.ListenHTTP + "/metrics")
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return families
}

// find is the metric with some labels, written as name=value; nil where there is none.
func find(families map[string]*dto.MetricFamily, name string, labels ...string) *dto.Metric {
next:
	for _, m := range families[name].GetMetric() {
		for _, want := range labels {
			if !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == want }) {
				continue next
			}
		}
		return m
	}
	return nil
}

// /metrics shows requests by logical table and operation.
func TestRequestsAreMeasured(t *testing.T) {
	o := newObserved(t)
	o.load()
	all := o.scrape()
	count := func(want int, name string, labels ...string) {
		t.Helper()
		m := find(all, name, labels...)
		got := int(m.GetHistogram().GetSampleCount()) + int(m.GetCounter().GetValue()) + int(m.GetGauge().GetValue())
		if m == nil || got != want {
			t.Errorf("%s%v is %d, not %d", name, labels, got, want)
		}
	}
	const cql, dynamo = "evenkeel_cql_", "evenkeel_dynamodb_"
	count(30, cql+"request_duration_seconds", "table=ks.sharded", "operation=insert")
	count(30, cql+"request_duration_seconds", "table=ks.plain", "operation=insert")
	count(2, cql+"request_duration_seconds", "table=ks.sharded", "operation=select") // one fails
	count(3, cql+"request_duration_seconds", "table=", "operation=schema")
	count(1, cql+"errors_total", "table=other", "code=invalid")
	count(1, cql+"cursor_errors_total")
	count(1, cql+"sharded_tables")
	count(1, cql+"fan_out_requests", "table=ks.sharded")
	count(1, cql+"read_rounds", "table=ks.sharded")
	count(0, cql+"tables_changing", "change=creating")
	first := find(all, cql+"layout_generation", "table=ks.sharded")
	if first == nil {
		t.Fatal("the generation of a layout is not told")
	}
	if all[cql+"layout_change"] != nil {
		t.Errorf("no layout is being changed: %v", all[cql+"layout_change"])
	}
	if got := find(all, cql+"read_rows_returned", "table=ks.sharded").GetHistogram().GetSampleSum(); got != 30 {
		t.Errorf("%v rows were returned", got)
	}
	if find(all, cql+"request_duration_seconds", "table=ks.no_such_table") != nil {
		t.Error("a table that does not exist is measured by name")
	}
	count(10, dynamo+"request_duration_seconds", "table=shardeditems", "operation=PutItem")
	count(10, dynamo+"request_duration_seconds", "table=plainitems", "operation=PutItem")
	count(1, dynamo+"request_duration_seconds", "table=other", "operation=GetItem")
	count(1, dynamo+"errors_total", "table=other", "code=ResourceNotFoundException")
	count(1, dynamo+"fan_out_requests", "table=shardeditems")
	if got := find(all, dynamo+"read_rows_returned", "table=shardeditems").GetHistogram().GetSampleSum(); got != 10 {
		t.Errorf("%v items were returned", got)
	}
	if find(all, dynamo+"fan_out_requests", "table=plainitems") != nil {
		t.Error("a plain table's requests fan out")
	}

	// A change of layout shows how far it has come. It ends with another generation, and no
	// step. It is short: changes are made until one was seen under way.
	seen := false
	for begun, shards := time.Now(), 30; !seen; shards += 10 {
		o.cql(fmt.Sprintf("ALTER TABLE ks.sharded WITH write_sharding = {'shards': '%d'}", shards))
		for generation := first.GetGauge().GetValue(); ; time.Sleep(5 * time.Millisecond) {
			all = o.scrape()
			rows := func(of string) float64 {
				return find(all, cql+"layout_change_rows", "table=ks.sharded", "rows="+of).GetGauge().GetValue()
			}
			seen = seen || rows("moved") > 0 && rows("moved") == rows("total")
			if find(all, cql+"layout_change", "table=ks.sharded") == nil &&
				find(all, cql+"layout_generation", "table=ks.sharded").GetGauge().GetValue() > generation {
				break
			}
			if time.Since(begun) > patience {
				t.Fatal("no change was seen that has moved rows and ends")
			}
		}
		first = find(all, cql+"layout_generation", "table=ks.sharded")
	}

	// So does one of the DynamoDB door, which keeps what it left behind for some minutes.
	if code := o.dynamo("TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/shardeditems","Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=8"}]}`); code != http.StatusOK {
		t.Fatalf("TagResource: %d", code)
	}
	for begun := time.Now(); find(all, dynamo+"layout_change", "table=shardeditems", "step=settled") == nil; time.Sleep(5 * time.Millisecond) {
		if all = o.scrape(); time.Since(begun) > patience {
			t.Fatalf("no settled change: %v", all[dynamo+"layout_change"])
		}
	}
	if n := find(all, dynamo+"layout_change_rows", "table=shardeditems", "rows=verified").GetGauge().GetValue(); n != 10 {
		t.Errorf("%v items verified, not 10", n)
	}

	// The server's page has its figures from the same metrics.
	if resp, err := http.Get("http://" + o.serve.ListenHTTP + "/server/figures"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the figures of /server: %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}

	// Tables that are dropped leave.
	o.cql("DROP TABLE ks.sharded")
	o.dynamo("DeleteTable", `{"TableName":"shardeditems"}`)
	all = o.scrape()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if m := cmpTables(all[name], "ks.sharded", "shardeditems"); m != nil {
			t.Errorf("%s has %v after its table was dropped", name, m)
		}
	}
}

func cmpTables(f *dto.MetricFamily, names ...string) *dto.Metric {
	for _, m := range f.GetMetric() {
		for _, l := range m.Label {
			if l.GetName() == "table" && slices.Contains(names, l.GetValue()) {
				return m
			}
		}
	}
	return nil
}
