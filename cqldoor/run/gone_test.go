// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"runtime"
	"testing"
)

// TestTablesThatAreGone reads a new table before and after other tables were created, filled and
// dropped. What a read allocates does not grow with what there was.
func TestTablesThatAreGone(t *testing.T) {
	s := newScene(t, embedded(t))
	cost := func(name string) uint64 {
		table := s.keyspace + "." + name
		s.must(s.v5, "CREATE TABLE "+table+" (a int, b int, s int static, PRIMARY KEY (a, b)) WITH write_sharding = {'shards': 8}")
		for i := range 5 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (a, b, s) VALUES (%d, %d, %d)", table, i, i, i))
		}
		read := func() {
			if a := s.must(s.v5, "SELECT DISTINCT a, s FROM "+table); len(a.Rows) != 5 {
				t.Fatalf("%s has %d partitions", name, len(a.Rows))
			}
		}
		read() // makes the plan
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 50 {
			read()
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	fresh := cost("fresh")
	for i := range 40 {
		table := fmt.Sprintf("%s.t%d", s.keyspace, i)
		s.must(s.v5, fmt.Sprintf("CREATE TABLE %s (a int, b int, s int static, l list<int>, PRIMARY KEY (a, b)) WITH write_sharding = {'shards': %d}", table, 1+i%20))
		for k := range 10 {
			s.must(s.v5, fmt.Sprintf("INSERT INTO %s (a, b, s, l) VALUES (%d, %d, 1, [1, 2])", table, k%3, k))
		}
		s.must(s.v5, "DELETE FROM "+table+" WHERE a = 1")
		s.must(s.v5, "DELETE l FROM "+table+" WHERE a = 2 AND b = 2")
		s.must(s.v5, "DROP TABLE "+table)
	}
	if now := cost("later"); now > 2*fresh {
		t.Errorf("fifty reads allocate %d KiB, and %d KiB before the other tables", now>>10, fresh>>10)
	}
}
