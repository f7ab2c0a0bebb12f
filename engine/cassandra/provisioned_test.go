// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

const mode = " WITH CUSTOM_PROPERTIES = {'capacity_mode': {'throughput_mode': 'PROVISIONED', 'read_capacity_units': %d, 'write_capacity_units': %d}}"

func (c *limitedEngine) near(what string, got, want float64) {
	c.t.Helper()
	if math.Abs(got-want) > 0.02*want+0.5 {
		c.t.Errorf("%s: %.1f a second, not %.0f", what, got, want)
	}
}

// A provisioned table takes its declared units, although each partition could take more.
func TestProvisionedTable(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	c.all(fmt.Sprintf("CREATE TABLE k.p (day text, title text, PRIMARY KEY (day, title))"+mode, 100, 50))
	insert, get := c.prepared("INSERT INTO k.p (day, title) VALUES (?, ?)"), c.prepared("SELECT title FROM k.p WHERE day = ? AND title = ?")
	days := func(i int) string { return fmt.Sprint(i % 100) }
	c.near("writes to 100 keys", c.rate(5, 500, func(i int) error { return insert(days(i), fmt.Sprint(i)) }), 50)
	c.rate(2, 500, func(i int) error { return get(days(i), fmt.Sprint(i)) }) // units saved in the meantime
	c.near("reads of 100 keys", c.rate(5, 500, func(i int) error { return get(days(i), fmt.Sprint(i)) }), 100)

	throttled := run(t, c, c.v, "SELECT share, writes_throttled_total, write_units"+mapOf+"'p'", 10)
	if strings.Count(throttled, "\n") != 2 || strings.Contains(throttled, "| 0 |") {
		t.Errorf("partitions of a table of 50 write units:\n%s", throttled)
	}
}

// Units that were not used in the last 300 seconds can be taken at once, up to the partition's
// limit.
func TestProvisionedBurst(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	c.all(fmt.Sprintf("CREATE TABLE k.p (day text PRIMARY KEY)"+mode, 10, 10))
	insert := c.prepared("INSERT INTO k.p (day) VALUES (?)")
	c.nanos.Add(int64(time.Hour))
	taken := 0
	for i := range 5000 {
		if insert(fmt.Sprint(i)) == nil {
			taken++
		}
		c.nanos.Add(int64(time.Second) / 500)
	}
	if taken < 3000 || taken > 3110 { // 300 s with 10 each, and 10 s that pass
		t.Errorf("%d writes after an hour, not 3,000 and those of 10 s", taken)
	}
}

// The limit of a partition does not depend on the table's throughput.
func TestProvisionedHotPartition(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	c.all(fmt.Sprintf("CREATE TABLE k.p (day text, title text, PRIMARY KEY (day, title))"+mode, 9000, 3000))
	insert, get := c.prepared("INSERT INTO k.p (day, title) VALUES (?, ?)"), c.prepared("SELECT title FROM k.p WHERE day = ? AND title = ?")
	c.near("writes to one key", c.rate(4, 2500, func(i int) error { return insert("2020-07-09", fmt.Sprint(i)) }), 1000)
	c.near("reads of one row", c.rate(3, 7000, func(int) error { return get("2020-07-09", "1") }), 3000)
	if got := run(t, c, c.v, "SELECT partition"+mapOf+"'p'", 10); rowsOf(got) != "1\n2\n3\n" {
		t.Errorf("a table of 3,000 write units has the partitions\n%s", got)
	}
}

// A table gets another mode while it is in use. It keeps its partitions.
func TestModesChange(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	c.all("CREATE TABLE k.p (day text PRIMARY KEY)")
	insert := c.prepared("INSERT INTO k.p (day) VALUES (?)")
	offer := func(what string, want float64) {
		t.Helper()
		c.near(what, c.rate(4, 800, func(i int) error { return insert(fmt.Sprint(i)) }), want)
	}
	offer("on demand", 800)
	c.all(fmt.Sprintf("ALTER TABLE k.p"+mode, 20, 20))
	offer("provisioned", 20)
	c.all(fmt.Sprintf("ALTER TABLE k.p"+mode, 20, 200))
	offer("provisioned with more", 200)
	c.all("ALTER TABLE k.p WITH CUSTOM_PROPERTIES = {'point_in_time_recovery': {'status': 'enabled'}}")
	offer("with another property", 200)
	c.all("ALTER TABLE k.p WITH CUSTOM_PROPERTIES = {'capacity_mode': {'throughput_mode': 'PAY_PER_REQUEST'}}")
	offer("on demand again", 800)
	c.all("ALTER TABLE k.p WITH CUSTOM_PROPERTIES = {'warm_throughput': {'read_units_per_second': 12000, 'write_units_per_second': 8000}}")
	if got := run(t, c, c.v, "SELECT partition"+mapOf+"'p'", 10); strings.Count(got, "\n") != 9 {
		t.Errorf("a table that is warm for 8,000 write units has the partitions\n%s", got)
	}
}

// Custom properties are shown in the tables of Amazon Keyspaces. They survive closing and opening
// the engine, whether it then has limits or not.
func TestCustomPropertiesAreKept(t *testing.T) {
	fs := vfs.NewMem()
	now := time.Unix(1_767_225_600, 0)
	open := func(l *throughput.Limits, f func(c *limitedEngine)) {
		t.Helper()
		e, err := Open("data", Options{Storage: storage.Options{FS: fs, SweepInterval: -1}, Capacity: l, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		f(&limitedEngine{local: newLocal(t, e, wire.V5)})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	see := func(c *limitedEngine, table, want string) {
		t.Helper()
		got := run(t, c, c.v, "SELECT custom_properties, status, cdc, default_time_to_live FROM system_schema_mcs.tables WHERE keyspace_name = 'k' AND table_name = '"+table+"'", 10)
		if rowsOf(got) != want+"\n" {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
	const (
		provisioned = "{'capacity_mode': {'read_capacity_units': '10', 'throughput_mode': 'PROVISIONED', 'write_capacity_units': '20'}, " +
			"'encryption_specification': {'encryption_type': 'AWS_OWNED_KMS_KEY'}, 'point_in_time_recovery': {'status': 'enabled'}, " +
			"'warm_throughput': {'read_units_per_second': '10', 'status': 'AVAILABLE', 'write_units_per_second': '20'}} | ACTIVE | true | 60"
		onDemand = "{'capacity_mode': {'last_update_to_pay_per_request_timestamp': '1767225600000', 'throughput_mode': 'PAY_PER_REQUEST'}, " +
			"'encryption_specification': {'encryption_type': 'AWS_OWNED_KMS_KEY'}, 'point_in_time_recovery': {'status': 'disabled'}, " +
			"'warm_throughput': {'read_units_per_second': '12000', 'status': 'AVAILABLE', 'write_units_per_second': '4000'}} | ACTIVE | false | 0"
	)
	var described string
	open(&throughput.Limits{}, func(c *limitedEngine) {
		c.all("CREATE KEYSPACE k WITH replication = {'class': 'SingleRegionStrategy'}", "CREATE TABLE k.plain (a int PRIMARY KEY)",
			"CREATE TABLE k.p (a int PRIMARY KEY) WITH CUSTOM_PROPERTIES = {'point_in_time_recovery': {'status': 'enabled'}, "+
				"'capacity_mode': {'throughput_mode': 'PROVISIONED', 'read_capacity_units': 10, 'write_capacity_units': 20}} "+
				"AND TAGS = {'who': 'me'} AND cdc = true AND default_time_to_live = 60")
		see(c, "p", provisioned)
		see(c, "plain", onDemand)
		described = run(t, c, c.v, "DESCRIBE TABLE k.p", 10)
		got := run(t, c, c.v, "SELECT * FROM system_schema_mcs.keyspaces WHERE keyspace_name = 'k'", 10)
		if rowsOf(got) != "k | true | {'class': 'org.apache.cassandra.locator.SimpleStrategy', 'replication_factor': '3'}\n" {
			t.Error(got)
		}
	})
	open(nil, func(c *limitedEngine) { // as in Cassandra: the properties are there and have no effect
		if got := run(t, c, c.v, "DESCRIBE TABLE k.p", 10); got != described {
			t.Error(got)
		}
		c.all("ALTER TABLE k.p ADD b int")
		if err := c.query("ALTER TABLE k.p WITH CUSTOM_PROPERTIES = {'ttl': {'status': 'enabled'}}", wire.One); err == nil || !strings.Contains(err.Error(), "--capacity keyspaces") {
			t.Error(err)
		}
		if got := run(t, c, c.v, "SELECT * FROM system_schema_mcs.tables", 10); !strings.HasPrefix(got, "error 2200") {
			t.Error(got)
		}
		if got := run(t, c, c.v, "DESCRIBE KEYSPACES", 100); strings.Contains(got, "mcs") {
			t.Error(got)
		}
	})
	open(&throughput.Limits{}, func(c *limitedEngine) {
		see(c, "p", provisioned)
		insert := c.prepared("INSERT INTO k.p (a) VALUES (?)")
		taken := 0
		for i := range 100 {
			if insert(string([]byte{0, 0, 0, byte(i)})) == nil {
				taken++
			}
		}
		if taken != 20 {
			t.Errorf("%d writes in the first moment", taken)
		}
		for _, q := range []string{"DROP KEYSPACE system_schema_mcs", "CREATE TABLE system_schema_mcs.x (a int PRIMARY KEY)", "TRUNCATE system_schema_mcs.tables",
			"DELETE FROM system_schema_mcs.tables WHERE keyspace_name = 'k' AND table_name = 'p'"} {
			if got := run(t, c, c.v, q, 10); !strings.HasPrefix(got, "error") {
				t.Errorf("%s: %s", q, got)
			}
		}
	})
	if want := "    AND custom_properties = {'capacity_mode': {'read_capacity_units': 10, 'throughput_mode': 'PROVISIONED', 'write_capacity_units': 20}, " +
		`'point_in_time_recovery': {'status': 'enabled'}}\n    AND tags = {'who': 'me'};`; !strings.Contains(described, want) &&
		!strings.Contains(described, strings.ReplaceAll(want, `\n`, "\n")) {
		t.Errorf("%s\nhas no\n%s", described, want)
	}
}

// Drivers see tables with custom properties as they see other tables.
func TestDriversSeeNoCustomProperties(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	c.all(fmt.Sprintf("CREATE TABLE k.p (day text PRIMARY KEY)"+mode, 10, 10), "CREATE TABLE k.q (day text PRIMARY KEY)")
	of := func(table string) string {
		got := rowsOf(run(t, c, c.v, "SELECT * FROM system_schema.tables WHERE keyspace_name = 'k' AND table_name = '"+table+"'", 10))
		return regexp.MustCompile(`^k \| . |[0-9a-f-]{36}`).ReplaceAllString(got, "") // without names and ids
	}
	p, q := of("p"), of("q")
	if strings.Contains(p, "capacity_mode") || p != q {
		t.Errorf("%s\n%s", p, q)
	}
	if got := run(t, c, c.v, "SELECT keyspace_name FROM system_schema.keyspaces", 20); strings.Contains(got, "mcs") {
		t.Error(got)
	}
	if got := run(t, c, c.v, "SELECT table_name FROM system_virtual_schema.tables WHERE keyspace_name = 'system_schema_mcs'", 20); rowsOf(got) != "keyspaces\ntables\n" {
		t.Error(got)
	}
}
