// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// all executes statements.
func (c *limitedEngine) all(texts ...string) {
	c.t.Helper()
	for _, text := range texts {
		if err := c.query(text, wire.LocalQuorum); err != nil {
			c.t.Fatalf("%s: %v", text, err)
		}
	}
}

// rowsOf returns the printed rows without the columns' names.
func rowsOf(printed string) string {
	_, r, _ := strings.Cut(printed, "\n")
	return r
}

const mapOf = " FROM system_views.evenkeel_partitions WHERE keyspace_name = 'k' AND table_name = "

// A virtual table shows the partitions of a table: the units that they take, and the keys that
// share one.
func TestPartitionMap(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	c.all("CREATE TABLE k.pairs (a text, b int, PRIMARY KEY ((a, b)))", "CREATE TABLE k.bytes (a blob PRIMARY KEY)")
	see := func(columns, table string) string {
		t.Helper()
		return run(t, c, c.v, "SELECT "+columns+mapOf+"'"+table+"'", 2)
	}
	if got := see("partition, share, from_token, from_key, key_count, keys, max_read_units, max_write_units, split_after_seconds", "blogs"); rowsOf(got) != `1 | 0.25 | null | null | 0 | [] | 3000.0 | 1000.0 | 600.0
2 | 0.25 | -4611686018427387904 | null | 0 | [] | 3000.0 | 1000.0 | 600.0
3 | 0.25 | 0 | null | 0 | [] | 3000.0 | 1000.0 | 600.0
4 | 0.25 | 4611686018427387904 | null | 0 | [] | 3000.0 | 1000.0 | 600.0
` {
		t.Errorf("a new table:\n%s", got)
	}
	insert := c.prepared("INSERT INTO k.blogs (day, title) VALUES (?, ?)")
	request := func(i int) error { return insert([]string{"2020-07-09", "2020-07-10"}[i%2], fmt.Sprint(i%50)) }
	c.rate(2, 3000, request)
	c.nanos.Add(int64(time.Second))
	c.all(
		"INSERT INTO k.blogs (day, title) VALUES ('gone', 'x')", "DELETE FROM k.blogs WHERE day = 'gone'",
		"UPDATE k.blogs SET s = 'alone' WHERE day = 'static'",
		"INSERT INTO k.pairs (a, b) VALUES ('x''y', -7)", "INSERT INTO k.bytes (a) VALUES (0xff00)")
	hot := see("partition, keys, key_count, write_units, write_units_total, writes_throttled_total, bytes", "blogs")
	t.Log(hot)
	for _, want := range []string{"(['2020-07-09'], ", "(['2020-07-10'], ", "(['static'], 1.0, 0)", "(['gone'], 2.0, 0)"} {
		if !strings.Contains(hot, want) {
			t.Errorf("%s is not in\n%s", want, hot)
		}
	}
	c.nanos.Add(int64(time.Minute)) // nothing is hot any more; keys with rows are listed
	cold := see("keys, key_count, more_keys", "blogs")
	if strings.Contains(cold, "gone") || !strings.Contains(cold, "(['static'], 0.0, 0)") || !strings.Contains(cold, "(['2020-07-09'], 0.0, 0)") {
		t.Errorf("a minute later:\n%s", cold)
	}
	if got := see("keys", "pairs"); !strings.Contains(got, `[(['x''y', '-7'], 0.0, 0)]`) {
		t.Errorf("a key of two:\n%s", got)
	}
	if got := see("keys", "bytes"); !strings.Contains(got, `(['0xff00'], `) {
		t.Errorf("a blob:\n%s", got)
	}
	all := run(t, c, c.v, "SELECT DISTINCT keyspace_name, table_name FROM system_views.evenkeel_partitions", 2)
	if rowsOf(all) != "k | blogs\nk | bytes\nk | pairs\nk | counts\n" {
		t.Errorf("all tables:\n%s", all)
	}
	if got := see("*", "none"); strings.Count(got, "\n") != 1 {
		t.Errorf("no such table:\n%s", got)
	}
}

// A partition that begins within a partition key shows the place.
func TestPartitionMapWithinKey(t *testing.T) {
	c := openLimited(t, throughput.Limits{SplitAfter: 2 * time.Second})
	insert := c.prepared("INSERT INTO k.blogs (day, title) VALUES (?, ?)")
	c.rate(4, 3000, func(i int) error { return insert("2020-07-09", fmt.Sprintf("%08x", uint32(i)*2654435761)) })
	got := run(t, c, c.v, "SELECT share, from_token, from_key, from_clustering, key_count, keys"+mapOf+"'blogs'", 100)
	t.Log(got)
	token := strings.TrimSpace(strings.Split(run(t, c, c.v, "SELECT token(day) FROM k.blogs LIMIT 1", 1), "\n")[1])
	var split string
	for line := range strings.Lines(got) {
		if strings.Contains(line, "['2020-07-09'] | ['") {
			split = line
		}
	}
	if !strings.HasPrefix(split, "0.") || !strings.Contains(split, " | "+token+" | ") || !strings.Contains(split, " | 1 | [(['2020-07-09'], ") {
		t.Errorf("token %s, %q", token, split)
	}
	counts := 0
	for line := range strings.Lines(got) {
		if strings.Contains(line, " | 1 | ") {
			counts++
		}
	}
	if counts != 2 {
		t.Errorf("the key has rows in %d partitions\n%s", counts, got)
	}
}

// An engine with limits has the table, as it has Cassandra's own virtual ones. An engine without
// limits does not.
func TestPartitionMapIsVirtual(t *testing.T) {
	limited, plain := openLimited(t, throughput.Limits{}), newLocal(t, openMemory(t), wire.V5)
	const all, columns, own = "SELECT * FROM system_views.evenkeel_partitions", "SELECT table_name FROM system_virtual_schema.tables WHERE keyspace_name = 'system_views'", "evenkeel_partitions"
	if got := run(t, plain, wire.V5, all, 100); !strings.HasPrefix(got, "error 2200: table evenkeel_partitions does not exist") {
		t.Errorf("without limits: %s", got)
	}
	with, without := run(t, limited, wire.V5, columns, 100), run(t, plain, wire.V5, columns, 100)
	if strings.Replace(with, own+"\n", "", 1) != without || !strings.Contains(with, own) {
		t.Errorf("with limits: %s\nwithout: %s", with, without)
	}
	if got := run(t, limited, wire.V5, "DESCRIBE KEYSPACES", 100); strings.Count(got, "| system_views\n") != 1 || strings.Contains(got, "evenkeel") {
		t.Error(got)
	}
	if got := run(t, limited, wire.V5, "SELECT * FROM system_schema.tables WHERE keyspace_name = 'system_views'", 100); strings.Count(got, "\n") != 1 {
		t.Error(got)
	}
	if got := run(t, limited, wire.V5, "DESCRIBE TABLE system_views."+own, 100); !strings.Contains(got, "keys frozen<list<frozen<tuple<frozen<list<text>>, double, bigint>>>>") {
		t.Errorf("%s", got)
	}
	for _, q := range []string{"TRUNCATE system_views." + own, "DELETE FROM system_views." + own + " WHERE keyspace_name = 'k' AND table_name = 'blogs'"} {
		if got := run(t, limited, wire.V5, q, 100); !strings.HasPrefix(got, "error") {
			t.Errorf("%s: %s", q, got)
		}
	}
}

// Consumption lists used tables, each one, and does not list dropped ones.
func TestConsumption(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	insert := c.prepared("INSERT INTO k.blogs (day, title) VALUES (?, ?)")
	taken := c.rate(3, 3000, func(i int) error { return insert("2020-07-09", fmt.Sprint(i)) })
	c.all("SELECT * FROM k.counts WHERE day = 'x'")
	all := map[string]throughput.Totals{}
	for _, one := range c.e.Consumption() {
		all[one.Table] = one.Totals
	}
	b, n := all["k.blogs"], all["k.counts"]
	if len(all) != 2 || b.Write.Units < 2*taken || len(b.Write.Throttled) != 2 || b.Write.Throttled[0].Requests+int64(b.Write.Units) != 9000 || n.Read.Units != 1 || n.Read.Throttled[0].Requests != 0 {
		t.Errorf("%+v", all)
	}
	c.all("DROP TABLE k.blogs")
	if left := c.e.Consumption(); len(left) != 1 || left[0].Table != "k.counts" {
		t.Errorf("%+v", left)
	}
	if got := openMemory(t).Consumption(); got != nil {
		t.Errorf("without limits: %+v", got)
	}
}
