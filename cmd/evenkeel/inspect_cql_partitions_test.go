// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/live"
	"github.com/evenkeel/evenkeel/workbench/report"
)

func TestCQLPartitions(t *testing.T) {
	column := func(name string, kind value.Kind) *schema.Column {
		return &schema.Column{Name: name, Type: value.Native(kind)}
	}
	table := &schema.Table{
		Keyspace: "k", Name: "Mixed", Clustering: []*schema.Column{column("c", value.Timestamp), column("d", value.Text)},
		PartitionKey: []*schema.Column{column("z", value.Text), column("a", value.Int), column("b", value.Blob)},
	}
	from, least := int64(1)<<62, int64(-1)<<63
	one := live.Partition{Number: 1, Mode: "PAY_PER_REQUEST", MaxRead: 3000, MaxWrite: 1000, SplitAfter: -time.Second, Share: 0.5, Keys: []live.PartitionKey{{Values: []string{`x "y"`, "-7", "0x00ff"}, Units: 2, Throttled: 3}}, KeyCount: 9, More: true}
	two := live.Partition{
		Number: 2, From: &from, FromKey: []string{"x", "1", "0x", "4"}, FromClustering: []string{"2020-07-09T00:00:00.000Z"},
		Keys: []live.PartitionKey{{Values: []string{"x", "1", "0x", "4"}}, {Values: []string{"other", "2", "0x0a", "12"}}}, Write: live.PartitionUse{ThrottledTotal: 1501, ThrottledOwnTotal: 1},
	}
	r := cqlPartitions(table, []live.Partition{one, two, {Number: 3, From: &least}})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"TableName":"k.\"Mixed\"","BillingMode":"PAY_PER_REQUEST","Sharded":true,"PartitionReadUnits":3000,"PartitionWriteUnits":1000,"SplitAfterSeconds":-1`,
		`{"Key":{"z":{"S":"x \"y\""},"a":{"N":"-7"},"b":{"B":"AP8="}},"Units":2,"Throttled":3}`, `"KeyCount":9,"AtLeast":true`,
		`"From":{"Hash":"c0000000","Token":"4611686018427387904","Shard":4,"Key":{"z":{"S":"x"},"a":{"N":"1"},"b":{"B":""},"c":{"S":"2020-07-09T00:00:00.000Z"}}}`,
		`"From":{"Hash":"00000000","Token":"-9223372036854775808"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	var b bytes.Buffer
	report.PartitionsText(&b, r, true)
	for _, want := range []string{
		`partitions of k."Mixed": 3, on demand; each takes 1,000 write and 3,000 read units a second; never split for heat`,
		`     1  start                 50.0%                   0                   0  x "y" -7 AP8= (3), and at least 8 more`,
		`     2  4611686018427387904    part                   0                   0  x 1  shard 4, other 2 Cg== shard 12`,
		"        from x 1  2020-07-09T00:00:00.000Z shard 4 on",
		"1 partition has throttled and has several keys, which share its units until a split comes between them; warm throughput gives more partitions in advance\n" +
			"1,500 requests were throttled for a limit of the whole table or the account, which no split raises\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
	if r := cqlPartitions(table, []live.Partition{{Number: 1}, {Number: 2, From: &from, FromKey: two.FromKey}}); !r.Sharded {
		t.Errorf("a key in the midst of which a partition begins has a shard: %+v", r)
	}
	many := []live.Partition{{Number: 1, Share: 0.0002}, {Number: 2, Share: 0.0002, KeyCount: 1, Keys: one.Keys}, {Number: 3, Write: live.PartitionUse{UnitsTotal: 1}}}
	for i := range 1300 {
		many = append(many, live.Partition{Number: 4 + i})
	}
	b.Reset()
	report.PartitionsText(&b, cqlPartitions(table, many), true)
	if got := b.String(); strings.Count(got, "\n") != 5 || !strings.Contains(got, " 0.02% ") || !strings.HasSuffix(got, "\n  and 1,301 that have no keys and took nothing\n") {
		t.Errorf("of many partitions of which few are used:\n%s", got)
	}
	if got := cqlPartitions(table, nil); got != nil {
		t.Errorf("of no partitions: %+v", got)
	}
}

// The engine throttles a hot partition, and its shards less. inspect shows which shards share the
// units of a partition, also when it reads the table through the door.
func TestHotPartitionOnThisMachine(t *testing.T) {
	addr, web := loopback.FreeAddr(t), loopback.FreeAddr(t)
	s := &serveCmd{
		ListenCQL: addr, ListenHTTP: web, ListenDynamoDB: "off", Data: t.TempDir(), Drain: time.Second, LogLevel: "error",
		capacityFlags: capacityFlags{Capacity: []string{"keyspaces"}, clock: still},
	}
	serveInBackground(t, s, &stdio{io.Discard, io.Discard})
	awaitAddr(t, addr)
	session := connect(t, addr)
	exec := func(text string, values ...any) error { return session.Query(text, values...).Exec() }
	for _, text := range []string{
		"CREATE KEYSPACE tracker WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE tracker.plain (day date, title text, d text, PRIMARY KEY (day, title))",
		"CREATE TABLE tracker.blogs (day date, title text, d text, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': '5'}",
	} {
		if err := exec(text); err != nil {
			t.Fatal(err)
		}
	}
	write := func(table string, n int) (refused int) {
		for i := range n {
			err := exec("INSERT INTO tracker."+table+" (day, title, d) VALUES ('2020-07-09', ?, ?)", fmt.Sprint("title", i%200), strings.Repeat("x", 9000)) // 9 units
			var timeout *gocql.RequestErrWriteTimeout
			switch {
			case err == nil:
			case errors.As(err, &timeout):
				refused++
			default:
				t.Fatal(err)
			}
		}
		return refused
	}
	refused := write("plain", 2000)
	if refused == 0 {
		t.Error("a hot partition is never throttled")
	}
	counted(t, web, map[string]float64{
		`evenkeel_cql_consumed_units_total{operation="write",table="tracker.plain"}`:                                float64(9 * (2000 - refused)),
		`evenkeel_cql_throttled_total{operation="write",reason="KeyRangeThroughputExceeded",table="tracker.plain"}`: float64(refused),
		`evenkeel_cql_throttled_total{operation="read",reason="AccountLimitExceeded",table="tracker.plain"}`:        0,
	})
	write("blogs", 300)
	inspect := func(table string, flags ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(append([]string{"inspect", "cql://" + addr + "/tracker." + table, "--state", "none"}, flags...), &out, &errs); code != 0 {
			t.Fatalf("%d %s", code, &errs)
		}
		return out.String()
	}
	page := filepath.Join(t.TempDir(), "page.html")
	text := inspect("blogs", "--html", page, "--show-keys")
	for _, want := range []string{
		"partitions of tracker.blogs: 4, on demand; each takes 1,000 write and 3,000 read units a second; never split for heat",
		"4611686018427387904", "2020-07-09 shard 1", "2020-07-09 shard 2", "2020-07-09 shard 3", "2020-07-09 shard 4", "2020-07-09 shard 5",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "hottest partitions") {
		t.Errorf("it says that it does not know the hottest partitions:\n%s", text)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "2020-07-09, shard 5") {
		t.Errorf("%v; the page has no keys of partitions", err)
	}
	var r inspection.Report
	if err := json.Unmarshal([]byte(inspect("plain", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Maps) != 1 || len(r.Maps[0].Partitions) != 4 || r.Maps[0].Sharded {
		t.Fatalf("%+v", r.Maps)
	}
	hot := slices.IndexFunc(r.Maps[0].Partitions, func(p api.Partition) bool { return p.Write.ThrottledTotal > 0 })
	if hot < 0 || compacted(t, r.Maps[0].Partitions[hot].Keys[0].Key) != `{"day":{"S":"2020-07-09"}}` || r.Maps[0].Partitions[hot].Keys[0].Shard != 0 {
		t.Errorf("%+v", r.Maps[0].Partitions)
	}
	// Tables whose partitions nobody tells are reported on as ever.
	var out, errs bytes.Buffer
	if code := run([]string{"inspect", "cql://" + addr + "/system.local", "--state", "none", "--json"}, &out, &errs); code != 0 || strings.Contains(out.String(), "partition_maps") {
		t.Errorf("%d %s %s", code, &errs, &out)
	}
}

// awaitAddr waits until somebody listens.
func awaitAddr(t *testing.T, addr string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if nc, err := net.Dial("tcp", addr); err == nil {
			nc.Close()
			return
		}
	}
	t.Fatal("nobody listens on " + addr)
}

func compacted(t *testing.T, text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
