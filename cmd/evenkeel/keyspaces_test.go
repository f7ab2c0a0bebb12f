// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/loopback"
)

// Amazon Keyspaces' own DDL works through the door, also for sharded tables. The shards of a table
// share its units.
func TestProvisionedOnThisMachine(t *testing.T) {
	addr, web := loopback.FreeAddr(t), loopback.FreeAddr(t)
	s := &serveCmd{
		ListenCQL: addr, ListenHTTP: web, ListenDynamoDB: "off", Data: t.TempDir(), Drain: time.Second, LogLevel: "error",
		capacityFlags: capacityFlags{Capacity: []string{"keyspaces"}, clock: still},
	}
	serveInBackground(t, s, &stdio{io.Discard, io.Discard})
	awaitAddr(t, addr)
	session := connect(t, addr)
	exec := func(text string) {
		t.Helper()
		if err := session.Query(text).Exec(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	mode := func(read, write int) string {
		return fmt.Sprintf("{'capacity_mode': {'read_capacity_units': %d, 'throughput_mode': 'PROVISIONED', 'write_capacity_units': %d}}", read, write)
	}
	see := func() map[string]string {
		t.Helper()
		var custom map[string]map[string]string
		var status string
		if err := session.Query("SELECT custom_properties, status FROM system_schema_mcs.tables WHERE keyspace_name = 'tracker' AND table_name = 'blogs'").Scan(&custom, &status); err != nil || status != "ACTIVE" {
			t.Fatal(status, err)
		}
		return custom["capacity_mode"]
	}
	exec("CREATE KEYSPACE tracker WITH replication = {'class': 'SingleRegionStrategy'}")
	exec("CREATE TABLE tracker.blogs (day text, title text, PRIMARY KEY (day, title)) WITH write_sharding = {'shards': 5} AND CUSTOM_PROPERTIES = " + mode(40, 20) +
		" AND TAGS = {'who': 'me'}")
	if got, want := see(), map[string]string{"throughput_mode": "PROVISIONED", "read_capacity_units": "40", "write_capacity_units": "20"}; !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	describe := func() string {
		t.Helper()
		var statement string
		row := map[string]any{"create_statement": &statement}
		if !session.Query("DESCRIBE TABLE tracker.blogs").Iter().MapScan(row) {
			t.Fatal("it is not described")
		}
		return statement
	}
	described := describe()
	for _, want := range []string{"PRIMARY KEY (day, title)", "\n    AND custom_properties = " + mode(40, 20) + "\n", "\n    AND tags = {'who': 'me'}\n", "\n    AND write_sharding = {"} {
		if !strings.Contains(described, want) {
			t.Errorf("%q is not in\n%s", want, described)
		}
	}
	exec("DROP TABLE tracker.blogs")
	exec(described) // and makes the same table again
	if again := describe(); again != described {
		t.Errorf("%s\nwas\n%s", again, described)
	}

	taken := 0
	for i := range 200 {
		err := session.Query("INSERT INTO tracker.blogs (day, title) VALUES ('2020-07-09', ?)", fmt.Sprint(i)).Exec()
		var timeout *gocql.RequestErrWriteTimeout
		if err != nil && !errors.As(err, &timeout) {
			t.Fatal(err)
		}
		if err == nil {
			taken++
		}
	}
	if taken != 20 {
		t.Errorf("%d of 200 writes are taken in a second, of a table of 20 units", taken)
	}
	counted(t, web, map[string]float64{
		`evenkeel_cql_consumed_units_total{operation="write",table="tracker.blogs"}`:                                   float64(taken),
		`evenkeel_cql_throttled_total{operation="write",reason="ProvisionedThroughputExceeded",table="tracker.blogs"}`: float64(200 - taken),
		`evenkeel_cql_throttled_total{operation="write",reason="KeyRangeThroughputExceeded",table="tracker.blogs"}`:    0,
	})
	var out, errs bytes.Buffer
	if code := run([]string{"inspect", "cql://" + addr + "/tracker.blogs", "--state", "none"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "partitions of tracker.blogs: 1, provisioned; each takes 1,000 write") {
		t.Errorf("%d %s\n%s", code, &errs, &out)
	}

	exec("ALTER TABLE tracker.blogs WITH CUSTOM_PROPERTIES = {'capacity_mode': {'throughput_mode': 'PAY_PER_REQUEST'}}")
	if got := see(); got["throughput_mode"] != "PAY_PER_REQUEST" || got["last_update_to_pay_per_request_timestamp"] == "" || len(got) != 2 {
		t.Errorf("%v", got)
	}
	for i := range 200 {
		exec(fmt.Sprintf("INSERT INTO tracker.blogs (day, title) VALUES ('2020-07-09', '%d')", i))
	}
	err := session.Query("ALTER TABLE tracker.blogs WITH CUSTOM_PROPERTIES = {'capacity_mode': {'throughput_mode': 'PROVISIONED'}}").Exec()
	if err == nil || err.Error() != "'PROVISIONED' throughput mode requires 'read_capacity_units' and 'write_capacity_units' to be set using 'capacity_mode' option" {
		t.Error(err)
	}
}
