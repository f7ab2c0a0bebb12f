// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestEstimates reads the engine's estimates of the size of tables.
func TestEstimates(t *testing.T) {
	e := openOn(t, vfs.NewMem())
	defer e.Close()
	c := newLocal(t, e, wire.V4)
	must(t, c,
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.empty (p int PRIMARY KEY)",
		"CREATE TABLE k.t (p int, c int, PRIMARY KEY (p, c))",
		"CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE other.t (p int PRIMARY KEY)",
	)
	for p := range 50 {
		for r := range 4 {
			must(t, c, fmt.Sprintf("INSERT INTO k.t (p, c) VALUES (%d, %d)", p, r))
		}
	}
	const all = "-9223372036854775808 | -9223372036854775808 | "
	for _, q := range []struct{ text, want string }{
		{"SELECT table_name, range_start, range_end, partitions_count FROM system.size_estimates WHERE keyspace_name = 'k'",
			"empty | " + all + "0\nt | " + all + "50\n"},
		{"SELECT partitions_count FROM system.size_estimates WHERE keyspace_name = 'k' AND table_name = 't'", "50\n"},
		{"SELECT keyspace_name, table_name, range_type, partitions_count FROM system.table_estimates WHERE keyspace_name = 'k'",
			"k | empty | local_primary | 0\nk | empty | primary | 0\nk | t | local_primary | 50\nk | t | primary | 50\n"},
		{"SELECT DISTINCT keyspace_name FROM system.size_estimates", "other\nk\n"},
		{"SELECT table_name FROM system.size_estimates WHERE keyspace_name = 'k' AND mean_partition_size > 40 ALLOW FILTERING", "t\n"},
		{"SELECT table_name FROM system.size_estimates WHERE keyspace_name = 'none'", ""},
	} {
		if _, got, _ := strings.Cut(run(t, c, wire.V4, q.text, 0), "\n"); got != q.want {
			t.Errorf("%s\n%s\nwant\n%s", q.text, got, q.want)
		}
	}
}
