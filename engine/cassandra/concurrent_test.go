// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestConcurrent reads and writes from several clients while others change the
// schema under them. Nothing but the table's absence may be an error, and
// increments and insertions IF NOT EXISTS are neither lost nor doubled.
func TestConcurrent(t *testing.T) {
	e := openMemory(t)
	setup := newLocal(t, e, wire.V4)
	must(t, setup, simpleKeyspace, "CREATE TABLE k.t (p int, c int, v text, s int static, l list<int>, PRIMARY KEY (p, c))",
		"CREATE TABLE k.n (p int PRIMARY KEY, n counter)", "CREATE TABLE k.gone (p int PRIMARY KEY)")
	var wg sync.WaitGroup
	var mu sync.Mutex
	applied := map[int]int{}
	const clients, rounds = 6, 80
	for id := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(id)))
			c := newLocal(t, e, wire.Version(4+id%2))
			for i := range rounds {
				n := r.IntN(20)
				var stmt string
				switch r.IntN(9) {
				case 0:
					stmt = fmt.Sprintf("INSERT INTO k.t (p, c, v, s) VALUES (%d, %d, 'x', %d)", n%3, n, i)
				case 1:
					stmt = fmt.Sprintf("SELECT * FROM k.t WHERE p = %d", n%3)
				case 2:
					stmt = "SELECT p, count(*) FROM k.t GROUP BY p"
				case 3:
					stmt = fmt.Sprintf("UPDATE k.t SET l = l + [%d], v = 'y' WHERE p = 1 AND c = %d", i, n)
				case 4:
					stmt = fmt.Sprintf("DELETE FROM k.t WHERE p = %d AND c > %d", n%3, n)
				case 5:
					stmt = fmt.Sprintf("INSERT INTO k.t (p, c) VALUES (100, %d) IF NOT EXISTS", i)
				case 6:
					stmt = fmt.Sprintf("SELECT * FROM k.gone WHERE p = %d", n)
				case 7:
					stmt = fmt.Sprintf("INSERT INTO k.gone (p) VALUES (%d)", n)
				case 8:
					stmt = fmt.Sprintf("UPDATE k.t SET l = l - [%d] WHERE p = 1 AND c = %d", i, n)
				}
				got := run(t, c, c.v, stmt, int32(r.IntN(4)))
				if strings.HasPrefix(got, "error") && !(strings.Contains(stmt, "k.gone") && strings.Contains(got, "2200")) {
					t.Errorf("%s: %s", stmt, got)
				}
				if strings.Contains(stmt, "IF NOT EXISTS") && strings.Contains(got, "\ntrue") {
					mu.Lock()
					applied[i]++
					mu.Unlock()
				}
				must(t, c, "UPDATE k.n SET n = n + 1 WHERE p = 1")
			}
		})
	}
	wg.Go(func() {
		c := newLocal(t, e, wire.V4)
		for i := range 15 {
			must(t, c, fmt.Sprintf("ALTER TABLE k.t ADD x%d int", i), "DROP TABLE k.gone", "CREATE TABLE k.gone (p int PRIMARY KEY)",
				fmt.Sprintf("ALTER TABLE k.t DROP x%d", i), "TRUNCATE k.gone", "DESCRIBE KEYSPACE k")
		}
	})
	wg.Wait()
	for c, n := range applied {
		if n != 1 {
			t.Errorf("row %d was inserted IF NOT EXISTS %d times", c, n)
		}
	}
	if got := run(t, setup, wire.V4, "SELECT n FROM k.n", 0); !strings.HasSuffix(got, fmt.Sprintf("\n%d\n", clients*rounds)) {
		t.Errorf("the counter: %s, want %d", got, clients*rounds)
	}
	rows := strings.Count(run(t, setup, wire.V4, "SELECT c FROM k.t WHERE p = 100", 0), "\n") - 1
	if rows != len(applied) {
		t.Errorf("%d rows, %d were applied", rows, len(applied))
	}
}
